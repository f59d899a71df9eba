/** The fixtures' definitions in the simulated world: whatever goes wrong around them, every run comes to its end. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { compilePlan, validateDefinition } from '../../engine/src/workflow/definition/index.js';
import type { Plan } from '../../engine/src/workflow/machine/index.js';
import { definitionFixtures } from '../support/definition-fixtures.js';
import { runSeed } from './scenario/run-seed.js';

const cel = createCelCompiler();

/** The plan of a fixture as a version of the simulated family. Clients there send inputs of their own. */
function planOf(json: unknown, index: number): Plan {
  const { definition } = validateDefinition(json, cel);
  if (definition === undefined) throw new TypeError('a fixture that is refused');
  // The simulated workers serve this family, and the default queue.
  const steps = definition.steps.map(({ queue: _queue, ...step }) => step);
  const plan = compilePlan({ ...definition, family_slug: 'test', steps }, index + 1, cel);
  return { ...plan, checkInput: () => [] };
}

const plans = (await definitionFixtures()).map(({ json }, index) => planOf(json, index));

describe('the fixtures in the simulator', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i', async (seed) => {
    const { violations, runs } = await runSeed(seed, { plans });
    expect(violations).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  });
});
