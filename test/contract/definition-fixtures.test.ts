/**
 * The fixtures speak of all that the language has, by its own tables; each in JSON and in code is one definition: both
 * compile to the same plan.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONTRACT } from '../../engine/src/api/testing/three-doors.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import {
  compilePlan,
  definitionDigest,
  validateDefinition,
  type Definition,
  type StepDefinition,
} from '../../engine/src/workflow/definition/index.js';
import type { Fields, FieldSpec } from '../../engine/src/workflow/definition/computing/field-spec.js';
import { OPERATIONS } from '../../engine/src/workflow/definition/step-types/dataflow/dataflow.js';
import { STEP_TYPES } from '../../engine/src/workflow/definition/step-types/index.js';
import type { Plan } from '../../engine/src/workflow/machine/index.js';
import { ROOT } from '../support/child.js';
import { definitionFixtures } from '../support/definition-fixtures.js';

const cel = createCelCompiler();
const fixtures = await definitionFixtures();

/** Digest and plan of a definition, which must have no problems. */
function compiled(json: unknown): { readonly definition: Definition; readonly digest: string; readonly plan: Plan } {
  const { definition, problems } = validateDefinition(json, cel);
  expect(problems).toEqual([]);
  if (definition === undefined) throw new TypeError('refused');
  return { definition, digest: String(definitionDigest(definition)), plan: compilePlan(definition, 1, cel) };
}

/** A plan without its functions, which no two compilations share. */
const shapeOf = (plan: Plan): string => {
  return JSON.stringify(plan, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
};

/** Steps of a definition and of the bodies in it. */
function stepsOf({ steps }: { readonly steps: readonly StepDefinition[] }): readonly StepDefinition[] {
  return steps.flatMap((step) => [step, ...(step.body === undefined ? [] : stepsOf(step.body))]);
}

const definitions = fixtures.map(({ json }) => compiled(json).definition);
const steps = definitions.flatMap(stepsOf);

/** Fields of args that are spoken of, and of the objects in them: "escalation.after". */
function pathsOf(fields: Fields, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, spec]) => [
    `${prefix}${name}`,
    ...pathsBelow(spec, `${prefix}${name}.`),
  ]);
}

function pathsBelow(spec: FieldSpec, prefix: string): readonly string[] {
  if (spec.kind === 'object') return pathsOf(spec.fields, prefix);
  if (spec.kind === 'list') return pathsBelow(spec.item, prefix);
  return spec.kind === 'record' ? pathsBelow(spec.value, prefix) : [];
}

/** The same of what stands in args. */
function pathsIn(fields: Fields, args: unknown, prefix = ''): readonly string[] {
  if (typeof args !== 'object' || args === null) return [];
  return Object.entries(args).flatMap(([name, value]) => {
    const spec = fields[name];
    return spec === undefined ? [] : [`${prefix}${name}`, ...pathsInside(spec, value, `${prefix}${name}.`)];
  });
}

function pathsInside(spec: FieldSpec, value: unknown, prefix: string): readonly string[] {
  if (spec.kind === 'object') return pathsIn(spec.fields, value, prefix);
  if (spec.kind === 'list' && Array.isArray(value))
    return value.flatMap((item) => pathsInside(spec.item, item, prefix));
  if (spec.kind !== 'record' || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((item) => pathsInside(spec.value, item, prefix));
}

/** Whether this version refuses a field of a definition or of a step as one of a later version. */
function isLater(message: string, field: string): boolean {
  const isStep = message === 'StepDefinition';
  const step = { ref: 'a', type: 'STEP_TYPE_CALLBACK', ...(isStep && { [field]: {} }) };
  const { problems } = validateDefinition({ family_slug: 'a', steps: [step], ...(!isStep && { [field]: {} }) }, cel);
  return problems.some(({ problem }) => problem === 'is not supported by this version');
}

/** Everything that stands in definitions, by the message of the contract that it is. */
const used: Readonly<Record<string, readonly object[]>> = {
  WorkflowDefinition: definitions,
  StepDefinition: steps,
  RetryPolicy: steps.flatMap(({ retry = [] }) => retry),
  Join: steps.flatMap(({ join = [] }) => join),
  BodyDefinition: steps.flatMap(({ body = [] }) => body),
  EdgeDefinition: [...definitions, ...steps.flatMap(({ body = [] }) => body)].flatMap(({ edges = [] }) => edges),
};

describe('a fixture', () => {
  it.each([...STEP_TYPES.values()])('is there for $name, each of its args and options', (type) => {
    const own = steps.filter((step) => step.type === type.name);
    const found = own.flatMap(({ args = {} }) => pathsIn(type.fieldsOf(args) ?? {}, args));
    const wanted = own.flatMap(({ args = {} }) => pathsOf(type.fieldsOf(args) ?? {}));
    expect(own.length).toBeGreaterThan(0);
    expect([...new Set(wanted)].filter((path) => !found.includes(path))).toEqual([]);
    expect([...type.options].filter((option) => own.every((step) => step[option] === undefined))).toEqual([]);
  });

  it('is there for each operation of a DATAFLOW step', () => {
    const found = steps.flatMap(({ args }) => args?.['operation'] ?? []);
    expect([...OPERATIONS.keys()].filter((name) => !found.includes(name))).toEqual([]);
  });

  it.each(Object.entries(used))('is there for each field of %s in the contract', (message, values) => {
    const { fields = [] } = CONTRACT.registry.getMessage(`ductor.v1.${message}`) ?? {};
    expect(fields.length).toBeGreaterThan(0);
    const missing = fields.filter(({ name }) => values.every((value) => !Object.hasOwn(value, name)));
    expect(missing.filter(({ name }) => !isLater(message, name)).map(({ name }) => name)).toEqual([]);
  });

  it('is there for each type of edge, and each way to join', () => {
    const types = CONTRACT.registry.getEnum('ductor.v1.EdgeType')?.values.slice(1) ?? [];
    const edges = used['EdgeDefinition'] ?? [];
    expect(types.filter(({ name }) => edges.every((edge) => !('type' in edge) || edge.type !== name))).toEqual([]);
    expect(new Set(steps.map(({ join }) => join?.mode ?? 'all'))).toEqual(new Set(['all', 'any', 'n_of']));
  });

  it.each(fixtures.filter(({ isJsonOnly = false }) => !isJsonOnly))(
    '$name compiles to the same plan from JSON and from code',
    ({ json, workflow }) => {
      const [text, code] = [compiled(json), compiled(workflow.definition)];
      expect(code.digest).toBe(text.digest);
      expect(shapeOf(code.plan)).toBe(shapeOf(text.plan));
      expect(text.plan.steps.length).toBeGreaterThan(0);
    },
  );

  it('stands in docs/workflows.md as the example of its operations in code', () => {
    const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    const shown = /^```ts dataflow\n([\s\S]*?)^```$/m.exec(read('docs/workflows.md'))?.[1];
    expect(shown).toMatch(/^const workflow = defineWorkflow/);
    expect(read('test/fixtures/definitions/dataflow.ts')).toContain(shown);
  });
});
