import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import type { ExpressionScope, Plan, PlanStep } from '../machine/plan.js';
import { jsonValue } from '../machine/value.js';
import {
  canonicalDefinition,
  compilePlan,
  definitionDigest,
  printDefinition,
  validateDefinition,
  type Definition,
} from './index.js';

const cel = createCelCompiler();

/** The definition, once validation has accepted it. */
function accepted(json: unknown): Definition {
  const { definition, problems } = validateDefinition(json, cel);
  expect(problems).toEqual([]);
  return definition ?? { family_slug: '', steps: [] };
}

function compiled(json: unknown, version = 1): Plan {
  return compilePlan(accepted(json), version, cel);
}

function scope(values: { input?: unknown; outputs?: object; errors?: object } = {}): ExpressionScope {
  const outputs = new Map(Object.entries(values.outputs ?? {}));
  const errors = new Map(Object.entries(values.errors ?? {}));
  return {
    input: () => values.input ?? null,
    stepOutput: (ref) => outputs.get(ref),
    stepError: (ref) => errors.get(ref),
    run: { id: 'r1', family_slug: 'flow', version: 3, started_at: '2026-03-01T00:00:00Z', attributes: { team: 'x' } },
  };
}

function summary(step: PlanStep): unknown {
  const edges = step.incoming.map(
    ({ sourceRef, type, condition }) => `${sourceRef} ${type}${condition === null ? '' : ' if'}`,
  );
  const base = { ref: step.ref, title: step.title, type: step.type, incoming: edges, outgoing: step.outgoing.length };
  if (step.type !== 'CALLBACK') return base;
  const { handler, queue, retry, timeoutMs, cancelTimeoutMs, input } = step;
  return { ...base, handler, queue, retry, timeoutMs, cancelTimeoutMs, source: input.source, reads: input.reads };
}

const TURNS = {
  family_slug: 'turns',
  priority: 4,
  fairness_key: 'input.customer',
  steps: [
    {
      ...{ ref: 'a', type: 'STEP_TYPE_CALLBACK', priority: 1, cost: 7 },
      ...{ fairness_key: 'string(run.version)', idempotency_key: 'input.customer' },
    },
    { ref: 'b', type: 'STEP_TYPE_CALLBACK' },
  ],
};

const LEADS = {
  family_slug: 'lead-intake',
  steps: [
    {
      ref: 'notify',
      type: 'STEP_TYPE_CALLBACK',
      input: { to: 'input.mail', score: 'steps.score.output.score' },
      queue: 'mail',
    },
    { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: '2s' } },
    {
      ref: 'score',
      type: 'STEP_TYPE_CALLBACK',
      title: 'Score',
      args: { handler: 'models/score' },
      retry: { max_attempts: 5, initial_interval: '2m', jitter: 0, non_retryable: ['BadLead'] },
      timeout: '30s',
      cancel_timeout: '0s',
    },
    { ref: 'archive', type: 'STEP_TYPE_CALLBACK', input: 'steps.score.output' },
  ],
  edges: [
    {
      source_ref: 'score',
      target_ref: 'pause',
      type: 'EDGE_TYPE_SUCCESS',
      condition: 'steps.score.output.score > 0.5',
    },
    { source_ref: 'pause', target_ref: 'notify', type: 'EDGE_TYPE_ALWAYS' },
    { source_ref: 'score', target_ref: 'archive', type: 'EDGE_TYPE_SUCCESS' },
  ],
};

const DEFAULT_RETRY = {
  maxAttempts: 3,
  initialIntervalMs: 1000,
  backoff: 2,
  maxIntervalMs: 60_000,
  jitter: 0.2,
  nonRetryable: [],
  totalTimeoutMs: null,
};

describe('compilePlan', () => {
  it('keeps whose turn a step is, with the defaults of the definition', () => {
    const plan = compiled(TURNS, 1);
    const scope = { input: () => ({ customer: 'acme' }), stepOutput: () => undefined, stepError: () => undefined };
    const run = { version: 3 };
    const keys = plan.steps.map((step) => {
      if (step.type !== 'CALLBACK') return [];
      const key = (step.fairnessKey ?? plan.fairnessKey)?.evaluate({ ...scope, run });
      return [step.priority ?? plan.priority, step.cost, key, step.idempotencyKey?.evaluate({ ...scope, run })];
    });
    expect(keys).toEqual([
      [1, 7, '3', 'acme'],
      [4, 1, 'acme', undefined],
    ]);
    const nothing = { ...scope, input: () => ({ customer: '' }), run };
    expect(() => plan.fairnessKey?.evaluate(nothing)).toThrow('fairness_key is a text of 0 characters');
  });

  it('fills in defaults, orders the steps and finds where inputs already stand', () => {
    const plan = compiled(LEADS, 7);
    expect([plan.familySlug, plan.version, plan.digest, plan.output]).toEqual([
      'lead-intake',
      7,
      definitionDigest(accepted(LEADS)),
      null,
    ]);
    expect(plan.steps.map(summary)).toEqual([
      {
        ref: 'score',
        title: 'Score',
        type: 'CALLBACK',
        incoming: [],
        outgoing: 2,
        handler: 'models/score',
        queue: 'default',
        retry: {
          ...DEFAULT_RETRY,
          maxAttempts: 5,
          initialIntervalMs: 120_000,
          maxIntervalMs: 120_000,
          jitter: 0,
          nonRetryable: ['BadLead'],
          totalTimeoutMs: null,
        },
        timeoutMs: 30_000,
        cancelTimeoutMs: 0,
        source: { kind: 'runInput' },
        reads: [],
      },
      {
        ref: 'archive',
        title: '',
        type: 'CALLBACK',
        incoming: ['score SUCCESS'],
        outgoing: 0,
        handler: 'archive',
        queue: 'default',
        retry: DEFAULT_RETRY,
        timeoutMs: 300_000,
        cancelTimeoutMs: 30_000,
        source: { kind: 'stepOutput', path: 'score' },
        reads: ['score'],
      },
      { ref: 'pause', title: '', type: 'WAIT', incoming: ['score SUCCESS if'], outgoing: 1 },
      {
        ref: 'notify',
        title: '',
        type: 'CALLBACK',
        incoming: ['pause ALWAYS'],
        outgoing: 0,
        handler: 'notify',
        queue: 'mail',
        retry: DEFAULT_RETRY,
        timeoutMs: 300_000,
        cancelTimeoutMs: 30_000,
        source: null,
        reads: ['score'],
      },
    ]);
    expect([...plan.stepByRef.keys()]).toEqual(['score', 'archive', 'pause', 'notify']);
    expect(plan.stepByRef.get('pause')).toBe(plan.steps[2]);
  });

  const withOutput = (output: unknown): Plan =>
    compiled({
      family_slug: 'flow',
      steps: [
        { ref: 'a', type: 'STEP_TYPE_CALLBACK' },
        { ref: 'b-1', type: 'STEP_TYPE_CALLBACK' },
      ],
      output,
    });

  it.each([
    ['input', { kind: 'runInput' }, []],
    [' steps.a.output ', { kind: 'stepOutput', path: 'a' }, ['a']],
    ['steps["b-1"].output', { kind: 'stepOutput', path: 'b-1' }, ['b-1']],
    ["steps['a'].output", { kind: 'stepOutput', path: 'a' }, ['a']],
    ['steps.a.output.x', null, ['a']],
    ['steps.a.error', null, ['a']],
    [['input'], null, []],
    ['has(steps.a.output) ? steps.a.output : steps["b-1"].output', null, ['a', 'b-1']],
  ])('knows the source of %j', (output, source, reads) => {
    const template = withOutput(output).output;
    expect([template?.source, template?.reads]).toEqual([source, reads]);
  });

  it('evaluates templates: texts compute, everything else stands for itself', () => {
    const output = {
      n: 1,
      flag: true,
      none: null,
      list: ['input.x + 1.0', '"text"'],
      run: 'run.id + run.attributes.team',
      int: '1 + 1',
      when: 'duration("90s")',
    };
    expect(withOutput(output).output?.evaluate(scope({ input: { x: 2 } }))).toEqual({
      n: 1,
      flag: true,
      none: null,
      list: [3, 'text'],
      run: 'r1x',
      int: 2,
      when: '90s',
    });
  });

  it('tells completed, failed and skipped steps apart', () => {
    const template = withOutput(
      'has(steps.a.output) ? "done" : has(steps.a.error) ? steps.a.error.code : "skipped"',
    ).output;
    expect(template?.evaluate(scope({ outputs: { a: null } }))).toBe('done');
    expect(
      template?.evaluate(
        scope({ errors: { a: { code: 'boom', message: 'm', step: 'a', attempt: 2, retryable: true } } }),
      ),
    ).toBe('boom');
    expect(template?.evaluate(scope())).toBe('skipped');
    expect(() => withOutput({ x: 'steps.a.output.x' }).output?.evaluate(scope())).toThrow(
      expect.objectContaining({ code: 'expression_failed', message: expect.stringMatching(/^output\.x: /) }),
    );
  });

  it('looks up only what a template refers to', () => {
    const asked: string[] = [];
    const watching: ExpressionScope = {
      ...scope(),
      input: () => asked.push('input'),
      stepOutput: (ref) => {
        asked.push(ref);
        return { x: 1 };
      },
      stepError: (ref) => asked.push(`error of ${ref}`),
    };
    expect(withOutput({ x: 'steps.a.output.x' }).output?.evaluate(watching)).toEqual({ x: 1 });
    expect(asked).toEqual(['a']);
  });

  it('demands that a condition is true or false', () => {
    const steps = [
      { ref: 'a', type: 'STEP_TYPE_CALLBACK' },
      { ref: 'b', type: 'STEP_TYPE_CALLBACK' },
    ];
    const edges = [{ source_ref: 'a', target_ref: 'b', type: 'EDGE_TYPE_SUCCESS', condition: 'steps.a.output.ok' }];
    const condition = compiled({ family_slug: 'flow', steps, edges }).steps[1]?.incoming[0]?.condition;
    expect(condition?.evaluate(scope({ outputs: { a: { ok: true } } }))).toBe(true);
    expect(() => condition?.evaluate(scope({ outputs: { a: { ok: 'yes' } } }))).toThrow(
      expect.objectContaining({ code: 'expression_failed', message: expect.stringMatching(/^edges\[0\]\.condition/) }),
    );
  });

  it('checks inputs', () => {
    const schema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
    const plan = compiled({
      family_slug: 'flow',
      steps: [{ ref: 'a', type: 'STEP_TYPE_CALLBACK' }],
      input_schema: schema,
    });
    expect(plan.checkInput(jsonValue({ id: 'x' }))).toEqual([]);
    expect(plan.checkInput(jsonValue({ id: 5 }))).toEqual(['input.id: is a number, not a string']);
    expect(plan.checkInput({ data: Buffer.from('{'), encoding: 'json' })).toEqual(['input: is not JSON']);
    expect(plan.checkInput({ data: Buffer.from([0xff]), encoding: 'json' })).toEqual(['input: is not JSON']);
    expect(plan.checkInput({ data: Buffer.from('x'), encoding: 'msgpack' })[0]).toContain('"msgpack"');
    expect(compiled(LEADS).checkInput({ data: Buffer.from('x'), encoding: 'msgpack' })).toEqual([]);
  });

  it('refuses a cycle, should one ever reach it', () => {
    const edges = [
      { source_ref: 'a', target_ref: 'b', type: 'EDGE_TYPE_SUCCESS' },
      { source_ref: 'b', target_ref: 'a', type: 'EDGE_TYPE_SUCCESS' },
    ];
    const steps = [
      { ref: 'a', type: 'STEP_TYPE_CALLBACK' },
      { ref: 'b', type: 'STEP_TYPE_CALLBACK' },
    ];
    expect(() => compilePlan({ family_slug: 'flow', steps, edges }, 1, cel)).toThrow(
      expect.objectContaining({ code: 'invalid_definition' }),
    );
  });
});

describe('digest', () => {
  it('does not depend on the order of fields, nor on fields that say nothing', () => {
    const { steps, ...rest } = LEADS;
    const same = {
      steps: steps.map((step) => ({ title: '', args: {}, ...step })),
      output: undefined,
      title: '',
      ...rest,
    };
    expect(definitionDigest(JSON.parse(JSON.stringify(same)))).toBe(definitionDigest(accepted(LEADS)));
  });

  it('depends on everything that says something', () => {
    const digests = new Set(
      [
        LEADS,
        { ...LEADS, title: 'x' },
        { ...LEADS, output: null },
        { ...LEADS, output: {} },
        { ...LEADS, steps: LEADS.steps.slice(1) },
        { ...LEADS, edges: LEADS.edges.slice(1) },
        { ...LEADS, steps: LEADS.steps.map((step) => ({ ...step, retry: { max_attempts: 3 } })) },
      ].map((json) => definitionDigest(JSON.parse(JSON.stringify(json)))),
    );
    expect(digests.size).toBe(7);
  });
});

/** Definitions of callback steps whose edges lead forward in a hidden order, declared in another. */
const dags: fc.Arbitrary<Definition> = fc.integer({ min: 1, max: 25 }).chain((size) => {
  const refs = Array.from({ length: size }, (_, index) => `s${index}`);
  const place = fc.integer({ min: 0, max: size - 1 });
  const pairs = fc.uniqueArray(fc.tuple(place, place), {
    selector: ([a, b]) => `${Math.min(a, b)} ${Math.max(a, b)}`,
    maxLength: 40,
  });
  return fc
    .record({
      hidden: fc.shuffledSubarray(refs, { minLength: size }),
      declared: fc.shuffledSubarray(refs, { minLength: size }),
      pairs,
    })
    .map(({ hidden, declared, pairs: places }) => {
      const edges = places
        .filter(([a, b]) => a !== b)
        .map(([a, b]) => ({
          source_ref: hidden[Math.min(a, b)] ?? '',
          target_ref: hidden[Math.max(a, b)] ?? '',
          type: 'EDGE_TYPE_ALWAYS',
        }));
      const inputOf = (ref: string): string => {
        const source = edges.find(({ target_ref }) => target_ref === ref)?.source_ref;
        return source === undefined ? 'input' : `[steps.${source}.output]`;
      };
      const steps = declared.map((ref) => ({ ref, type: 'STEP_TYPE_CALLBACK', input: inputOf(ref) }));
      return { family_slug: 'dag', steps, edges };
    });
});

describe('random acyclic definitions', () => {
  it('are valid and compile into an order where every step comes after those before it', () => {
    fc.assert(
      fc.property(dags, (definition) => {
        const plan = compiled(definition);
        const position = new Map(plan.steps.map((step, index) => [step.ref, index]));
        expect([...position.keys()].sort()).toEqual(definition.steps.map(({ ref }) => ref).sort());
        for (const step of plan.steps) {
          for (const { sourceRef } of step.incoming)
            expect(position.get(sourceRef)).toBeLessThan(position.get(step.ref) ?? -1);
        }
        expect(plan.steps.reduce((sum, step) => sum + step.incoming.length, 0)).toBe(definition.edges?.length);
        expect(plan.steps.reduce((sum, step) => sum + step.outgoing.length, 0)).toBe(definition.edges?.length);
      }),
      { numRuns: 200 },
    );
  });

  it('print to what reads back as the same definition, and compile to the same plan', () => {
    fc.assert(
      fc.property(dags, (definition) => {
        const again = accepted(JSON.parse(printDefinition(definition)));
        expect(canonicalDefinition(again)).toBe(canonicalDefinition(definition));
        expect(printDefinition(again)).toBe(printDefinition(definition));
        const [a, b] = [compilePlan(definition, 1, cel), compilePlan(again, 1, cel)];
        expect(a.steps.map(summary)).toEqual(b.steps.map(summary));
        expect(a.digest).toBe(b.digest);
      }),
      { numRuns: 100 },
    );
  });
});
