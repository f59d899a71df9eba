/** Each fixture in JSON and in code is one definition: both compile to the same plan. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { compilePlan, definitionDigest, validateDefinition } from '../../engine/src/workflow/definition/index.js';
import type { Plan } from '../../engine/src/workflow/machine/index.js';
import { definitionFixtures } from '../support/definition-fixtures.js';

const cel = createCelCompiler();
const fixtures = await definitionFixtures();

/** Digest and plan of a definition, which must have no problems. */
function compiled(json: unknown): { readonly digest: string; readonly plan: Plan } {
  const { definition, problems } = validateDefinition(json, cel);
  expect(problems).toEqual([]);
  if (definition === undefined) throw new TypeError('refused');
  return { digest: String(definitionDigest(definition)), plan: compilePlan(definition, 1, cel) };
}

/** A plan without its functions, which no two compilations share. */
const shapeOf = (plan: Plan): string => {
  return JSON.stringify(plan, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
};

describe('a fixture', () => {
  it('is there for each kind of step and edge', () => {
    const used = JSON.stringify(fixtures.map(({ json }) => json));
    for (const type of [
      'CALLBACK',
      'DATAFLOW',
      'WAIT',
      'SWITCH',
      'FAIL',
      'COMPLETE',
      'SIGNAL',
      'APPROVAL',
      'CONTINUE_AS_NEW',
    ])
      expect(used).toContain(`"STEP_TYPE_${type}"`);
    for (const type of ['SUCCESS', 'FAILURE', 'ALWAYS', 'TIMEOUT', 'COMPENSATE'])
      expect(used).toContain(`"EDGE_TYPE_${type}"`);
  });

  it.each(fixtures)('$name compiles to the same plan from JSON and from code', ({ json, workflow }) => {
    const [text, code] = [compiled(json), compiled(workflow.definition)];
    expect(code.digest).toBe(text.digest);
    expect(shapeOf(code.plan)).toBe(shapeOf(text.plan));
    expect(text.plan.steps.length).toBeGreaterThan(0);
  });
});
