/** The fixtures' definitions in the simulated world: whatever goes wrong around them, every run comes to its end. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { compilePlan, validateDefinition } from '../../engine/src/workflow/definition/index.js';
import type { Plan } from '../../engine/src/workflow/machine/index.js';
import { definitionFixtures } from '../support/definition-fixtures.js';
import { runSeed } from './scenario/run-seed.js';

const cel = createCelCompiler();

/**
 * A plan as the simulator runs it. Clients there send inputs of their own.
 *
 * @param familySlug of its versions clients start the simulated one, steps those of children
 */
function planOf(json: unknown, familySlug: string | undefined, version: number): Plan {
  const { definition } = validateDefinition(json, cel);
  if (definition === undefined) throw new TypeError('a fixture that is refused');
  const plan = compilePlan({ ...definition, family_slug: familySlug ?? definition.family_slug }, version, cel);
  // The simulated workers serve the default queue, also for what the engine does itself.
  for (const step of plan.stepByRef.values()) if (step.type === 'CALLBACK') Object.assign(step, { queue: 'default' });
  return { ...plan, checkInput: () => [] };
}

const fixtures = await definitionFixtures();
const children = fixtures.flatMap(({ children: own = [] }) => own);
const plans = [
  ...fixtures.map(({ json }, index) => planOf(json, 'test', index + 1)),
  ...children.map(({ definition }) => planOf(definition, undefined, 1)),
];

/** The input of a fixture, so that its steps find what they read. */
const inputs = new Map(
  plans.flatMap((plan, index): [Plan, object][] => {
    const input = fixtures[index]?.input;
    return typeof input === 'object' && input !== null ? [[plan, input]] : [];
  }),
);
const sampleOf = (plan: Plan): object => inputs.get(plan) ?? {};

describe('the fixtures in the simulator', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i', async (seed) => {
    const { violations, runs } = await runSeed(seed, { plans, sampleOf });
    expect(violations).toEqual([]);
    expect(runs).toBeGreaterThan(0);
  });
});
