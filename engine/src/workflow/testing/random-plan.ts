/** Random plans for properties: any DAG of up to nine steps, all step and edge types, now and then code that fails. */
import fc from 'fast-check';
import { DuctorError } from '../../kernel/index.js';
import type { Join, Plan, PlanEdge, RetryPlan } from '../machine/index.js';
import { edge, joinOf, outputOf, planOf, RUN_INPUT, template, type StepSpec } from './plan-builder.js';

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
  totalTimeoutMs: fc.constantFrom(null, null, 3000),
});

/** All (absent), or one or more of the edges, with losers stopped or not. */
const joins: fc.Arbitrary<Join | undefined> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 2, arbitrary: fc.boolean().map((cancelLosers) => joinOf(1, cancelLosers)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(2, 3), fc.boolean()).map(([n, losers]) => joinOf(n, losers)) },
);

/** Now and then one of the values. */
function maybe(...values: readonly number[]): fc.Arbitrary<number | undefined> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );
}

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
    join: joins,
    ...{ scheduleToStartTimeoutMs: maybe(40, 4000), heartbeatTimeoutMs: maybe(500) },
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

const switches: fc.Arbitrary<StepSpec> = fc
  .oneof(
    { weight: 12, arbitrary: fc.constantFrom('x', 'y', null).map((name) => () => name) },
    { weight: 1, arbitrary: fc.constant(fail) },
  )
  .map((choose) => ({ type: 'SWITCH', choose }));

const ends: fc.Arbitrary<StepSpec> = fc.constantFrom<StepSpec>(
  { type: 'FAIL', code: 'no_credit', message: () => 'refused' },
  { type: 'FAIL', code: 'no_credit', message: fail },
  { type: 'COMPLETE', output: template(() => ({ early: true })) },
  { type: 'COMPLETE', output: RUN_INPUT },
  { type: 'COMPLETE', output: template(fail) },
);

/** A step of any type; those that end the run are rare and never the first. */
function stepSpecs(index: number): fc.Arbitrary<StepSpec> {
  const withJoin = (specs: fc.Arbitrary<StepSpec>): fc.Arbitrary<StepSpec> =>
    fc.tuple(specs, joins).map(([spec, join]) => (join === undefined ? spec : { ...spec, join }));
  return fc.oneof(
    { weight: 12, arbitrary: callbacks(index) },
    { weight: 3, arbitrary: withJoin(dataflows) },
    { weight: 6, arbitrary: withJoin(waits) },
    { weight: 3, arbitrary: withJoin(switches) },
    { weight: index === 0 ? 0 : 1, arbitrary: withJoin(ends) },
  );
}

const conditions = fc.oneof(
  { weight: 20, arbitrary: fc.constant(null) },
  { weight: 10, arbitrary: fc.boolean().map((holds) => () => holds) },
  { weight: 1, arbitrary: fc.constantFrom(fail, () => 'not a bool') },
);

function edges(steps: number): fc.Arbitrary<readonly PlanEdge[]> {
  const one = fc
    .tuple(
      ...[fc.nat(), fc.nat()],
      fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'ALWAYS', 'TIMEOUT'),
      conditions,
      fc.constantFrom(null, 'x', 'y'),
    )
    .map(([a, b, type, condition, chosen]) => {
      const target = 1 + (a % Math.max(1, steps - 1));
      return edge(refOf(b % target), refOf(target), type, condition, chosen);
    });
  return steps < 2 ? fc.constant([]) : fc.array(one, { maxLength: steps * 2 });
}

/** Cases stay on edges from switches alone; nothing leads on from a step that ends the run. */
function fitting(edgesDrawn: readonly PlanEdge[], steps: readonly StepSpec[]): readonly PlanEdge[] {
  return edgesDrawn.flatMap((drawn) => {
    const type = steps[Number(drawn.sourceRef.slice(1))]?.type;
    if (type === 'FAIL' || type === 'COMPLETE') return [];
    return [type === 'SWITCH' && drawn.type === 'SUCCESS' ? drawn : { ...drawn, case: null }];
  });
}

/** Compensations of some of the steps: u0 undoes s0. */
function compensations(steps: readonly StepSpec[]): fc.Arbitrary<Readonly<Record<string, StepSpec>>> {
  const condition = fc.constantFrom(
    null,
    null,
    null,
    template(() => false),
    template(fail),
  );
  const one = fc.option(fc.tuple(callbacks(0), condition), { freq: 3 });
  return fc.tuple(...steps.map(() => one)).map((drawn) => {
    const made = drawn.flatMap((pair, index): readonly [string, StepSpec][] => {
      const type = steps[index]?.type;
      if (pair === null || type === 'FAIL' || type === 'COMPLETE') return [];
      const compensates = { sourceRef: refOf(index), condition: pair[1] };
      return pair[0].type === 'CALLBACK' ? [[`u${index}`, { ...pair[0], join: undefined, compensates }]] : [];
    });
    return Object.fromEntries(made);
  });
}

/** Plans. Refs are s0, s1, ... and u0, u1, ... for their compensations; edges lead from lower to higher ones. */
export const plans: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 9 }).chain((count) =>
  fc
    .record({
      steps: fc
        .tuple(...Array.from({ length: count }, (_, index) => stepSpecs(index)))
        .chain((drawn) => fc.tuple(fc.constant(drawn), compensations(drawn))),
      edges: edges(count),
      hasOutput: fc.constantFrom('default', 'source', 'value', 'fails'),
      onFailure: fc.constantFrom('drain' as const, 'cancel' as const),
      onExhausted: fc.constantFrom('fail' as const, 'fail' as const, 'park' as const),
      timeoutMs: maybe(200, 9000),
    })
    .map(({ steps: [steps, undoing], edges: drawn, hasOutput, onFailure, onExhausted, timeoutMs }) =>
      planOf({
        steps: { ...Object.fromEntries(steps.map((step, index) => [refOf(index), step])), ...undoing },
        edges: fitting(drawn, steps),
        ...{ onFailure, onExhausted },
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(hasOutput === 'source' ? { output: outputOf('s0') } : {}),
        ...(hasOutput === 'value' ? { output: template((scope) => [scope.stepOutput('s0') ?? null]) } : {}),
        ...(hasOutput === 'fails' ? { output: template((scope) => scope.stepOutput('s0') ?? fail()) } : {}),
      }),
    ),
);
