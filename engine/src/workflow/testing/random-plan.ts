/** Random plans for properties: any DAG of up to nine steps, all step and edge types, now and then code that fails. */
import fc from 'fast-check';
import { DuctorError } from '../../kernel/index.js';
import type { Plan, PlanEdge, RetryPlan } from '../machine/index.js';
import { edge, outputOf, planOf, RUN_INPUT, template, type StepSpec } from './plan-builder.js';

/** How many cases each property runs, and from which seed: DUCTOR_PROPERTY_SEED=N repeats or varies a run. */
export const CASES = { numRuns: 500, seed: Number(process.env['DUCTOR_PROPERTY_SEED'] ?? 20_260_301) } as const;

function fail(): never {
  throw new DuctorError('expression_failed', 'drawn to fail');
}

const retries: fc.Arbitrary<RetryPlan> = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 5 }),
  initialIntervalMs: fc.constantFrom(0, 10, 1000),
  backoff: fc.constantFrom(1, 2, 10),
  maxIntervalMs: fc.constantFrom(500, 5000),
  jitter: fc.constantFrom(0, 0.2, 1),
  nonRetryable: fc.constantFrom([], ['fatal'], ['timeout', 'worker_lost']),
});

const refOf = (index: number): string => `s${index}`;

function callbacks(index: number): fc.Arbitrary<StepSpec> {
  const earlier = fc.nat({ max: Math.max(0, index - 1) }).map((at) => (index === 0 ? RUN_INPUT : outputOf(refOf(at))));
  const input = fc.oneof(
    { weight: 20, arbitrary: earlier },
    {
      weight: 10,
      arbitrary: fc.constant(template((scope) => ({ id: scope.run['id'], all: [scope.stepOutput('s0')] }))),
    },
    { weight: 1, arbitrary: fc.constant(template(fail)) },
  );
  return fc.record({
    type: fc.constant('CALLBACK' as const),
    input,
    retry: retries,
    timeoutMs: fc.constantFrom(0, 50, 2000),
    cancelTimeoutMs: fc.constantFrom(0, 1000),
  });
}

const dataflows: fc.Arbitrary<StepSpec> = fc
  .oneof({ weight: 12, arbitrary: fc.constant(() => ({ done: true })) }, { weight: 1, arbitrary: fc.constant(fail) })
  .map((transform) => ({ type: 'DATAFLOW', transform }));

const waits: fc.Arbitrary<StepSpec> = fc
  .oneof(
    { weight: 24, arbitrary: fc.constantFrom(-7, 0, 1, 20, 40_031, 5e6).map((us) => (now: number) => now + us) },
    { weight: 1, arbitrary: fc.constant(() => Number.NaN) },
    { weight: 1, arbitrary: fc.constant(fail) },
  )
  .map((until) => ({ type: 'WAIT', wakeAtUs: (_scope, nowUs) => until(nowUs) }));

function stepSpecs(index: number): fc.Arbitrary<StepSpec> {
  return fc.oneof(
    { weight: 4, arbitrary: callbacks(index) },
    { weight: 1, arbitrary: dataflows },
    { weight: 2, arbitrary: waits },
  );
}

const conditions = fc.oneof(
  { weight: 20, arbitrary: fc.constant(null) },
  { weight: 10, arbitrary: fc.boolean().map((holds) => () => holds) },
  { weight: 1, arbitrary: fc.constantFrom(fail, () => 'not a bool') },
);

function edges(steps: number): fc.Arbitrary<readonly PlanEdge[]> {
  const one = fc
    .tuple(fc.nat(), fc.nat(), fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'ALWAYS'), conditions)
    .map(([a, b, type, condition]) => {
      const target = 1 + (a % Math.max(1, steps - 1));
      return edge(refOf(b % target), refOf(target), type, condition);
    });
  return steps < 2 ? fc.constant([]) : fc.array(one, { maxLength: steps * 2 });
}

/** Plans. Refs are s0, s1, ...; edges lead from lower to higher ones. */
export const plans: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 9 }).chain((count) =>
  fc
    .record({
      steps: fc.tuple(...Array.from({ length: count }, (_, index) => stepSpecs(index))),
      edges: edges(count),
      hasOutput: fc.constantFrom('default', 'source', 'value', 'fails'),
    })
    .map(({ steps, edges: drawn, hasOutput }) =>
      planOf({
        steps: Object.fromEntries(steps.map((step, index) => [refOf(index), step])),
        edges: drawn,
        ...(hasOutput === 'source' ? { output: outputOf('s0') } : {}),
        ...(hasOutput === 'value' ? { output: template((scope) => [scope.stepOutput('s0') ?? null]) } : {}),
        ...(hasOutput === 'fails' ? { output: template((scope) => scope.stepOutput('s0') ?? fail()) } : {}),
      }),
    ),
);
