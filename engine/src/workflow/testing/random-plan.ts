/** Random plans for properties: any DAG of up to nine steps, all step and edge types, now and then code that fails. */
import fc from 'fast-check';
import { DuctorError } from '../../kernel/index.js';
import type { ExpressionScope, Join, Plan, PlanEdge, RetryPlan, Template } from '../machine/index.js';
import { edge, ITEM, joinOf, outputOf, planOf, RUN_INPUT, template, VARS } from './plan-builder.js';
import type { BodySpec, StepSpec } from './plan-builder.js';

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

/** Now and then the value, seldom one that fails. */
function rarely(value: Template): fc.Arbitrary<Template | undefined> {
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 5, arbitrary: fc.constant(value) },
    { weight: 1, arbitrary: fc.constant(template(fail)) },
  );
}

/** Where steps are drawn for: the top level, or a body within it. */
interface Where {
  /** Refs begin with it, so that they are unique in a plan. */
  readonly prefix: string;
  /** Values that only steps of a body have. */
  readonly own: readonly Template[];
  /** Bodies around. */
  readonly depth: number;
  /** Pools that steps select from and route to; none: no step does. */
  readonly pools: readonly string[];
}

const TOP: Where = { prefix: 's', own: [], depth: 0, pools: [] };

const refOf = (index: number, prefix = 's'): string => `${prefix}${index}`;

function callbacks(index: number, { prefix, own }: Where = TOP): fc.Arbitrary<StepSpec> {
  const earlier = fc
    .nat({ max: Math.max(0, index - 1) })
    .map((at) => (index === 0 ? RUN_INPUT : outputOf(refOf(at, prefix))));
  const input = fc.oneof(
    { weight: 20, arbitrary: earlier },
    { weight: own.length === 0 ? 0 : 40, arbitrary: fc.constantFrom(...own, RUN_INPUT) },
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
    ...{ fairnessKey: rarely(template(() => 'customer')), idempotencyKey: rarely(template(() => 'order')) },
  });
}

const dataflows: fc.Arbitrary<StepSpec> = fc
  .oneof({ weight: 12, arbitrary: fc.constant(() => ({ done: true })) }, { weight: 1, arbitrary: fc.constant(fail) })
  .map((transform) => ({ type: 'DATAFLOW', transform }));

const waits: fc.Arbitrary<StepSpec> = fc
  .oneof(
    { weight: 24, arbitrary: fc.constantFrom(-7, 0, 1, 20, 40_031, 5e6).map((us) => (now: number) => now + us) },
    // The next slot of a schedule.
    { weight: 4, arbitrary: fc.constantFrom(1e6, 6e7).map((us) => (now: number) => (Math.floor(now / us) + 1) * us) },
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

const children: fc.Arbitrary<StepSpec> = fc.record({
  type: fc.constant('SUB_WORKFLOW' as const),
  familySlug: fc.constant('leaf'),
  version: fc.constantFrom(0, 1, 7),
  isDetached: fc.constantFrom(false, false, true),
  closePolicy: fc.constantFrom('cancel' as const, 'cancel' as const, 'terminate' as const, 'abandon' as const),
});

/** When a wait for a signal ends; always, so that every run ends. */
const deadlines = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(0, 20, 40_031, 5e6).map((us) => (now: number) => now + us) },
  { weight: 1, arbitrary: fc.constant(fail) },
);

const signals: fc.Arbitrary<StepSpec> = fc
  .tuple(fc.constantFrom('ping', 'pong'), deadlines)
  .map(([signal, until]) => ({ type: 'SIGNAL', signal, deadlineUs: (_scope, nowUs) => until(nowUs) }));

const approvals: fc.Arbitrary<StepSpec> = fc
  .record({
    until: deadlines,
    assignees: fc.constantFrom(null, ['ada'], ['ada', 'bob']),
    escalateUs: fc.constantFrom(null, 0, 1_000, 1e6),
    fails: fc.constantFrom(false, false, false, true),
  })
  .map(({ until, assignees, escalateUs, fails }) => ({
    type: 'APPROVAL',
    signal: 'review',
    deadlineUs: (_scope, nowUs) => until(nowUs),
    open: (_scope, nowUs) => {
      if (fails) fail();
      const escalation = escalateUs === null ? null : { atUs: nowUs + escalateUs, assignees: ['eve'] };
      return { assignees, options: ['yes', 'no'], escalation };
    },
  }));

const ends: fc.Arbitrary<StepSpec> = fc.constantFrom<StepSpec>(
  { type: 'FAIL', code: 'no_credit', message: () => 'refused' },
  { type: 'FAIL', code: 'no_credit', message: fail },
  { type: 'COMPLETE', output: template(() => ({ early: true })) },
  { type: 'COMPLETE', output: RUN_INPUT },
  { type: 'COMPLETE', output: template(fail) },
);

/** Turns of a chain: a simulated one has to come to its end. */
const MAX_TURNS = 3;

/** What the next turn of a chain begins with; beyond the last one it fails. */
function nextTurn({ input }: ExpressionScope): unknown {
  const given = input();
  const turn = typeof given === 'object' && given !== null && 'turn' in given ? Number(given.turn) : 1;
  return turn < MAX_TURNS ? { turn: turn + 1 } : fail();
}

const continuations: fc.Arbitrary<StepSpec> = fc
  .boolean()
  .map((isCurrent) => ({ type: 'CONTINUE_AS_NEW', input: template(nextTurn), isCurrent }));

/** Whether nothing can lead on from a step of the type. */
function endsRun(type: StepSpec['type'] | undefined): boolean {
  return type === 'FAIL' || type === 'COMPLETE' || type === 'CONTINUE_AS_NEW';
}

/** A step of any type; those that end the run are rare and never the first. */
function stepSpecs(index: number, where: Where = TOP): fc.Arbitrary<StepSpec> {
  const withJoin = (specs: fc.Arbitrary<StepSpec>): fc.Arbitrary<StepSpec> =>
    fc.tuple(specs, joins).map(([spec, join]) => (join === undefined ? spec : { ...spec, join }));
  return fc.oneof(
    { weight: 12, arbitrary: callbacks(index, where) },
    { weight: 3, arbitrary: withJoin(dataflows) },
    { weight: 6, arbitrary: withJoin(waits) },
    { weight: 3, arbitrary: withJoin(switches) },
    { weight: 3, arbitrary: withJoin(children) },
    { weight: 5, arbitrary: withJoin(signals) },
    { weight: 3, arbitrary: withJoin(approvals) },
    { weight: index === 0 ? 0 : 1, arbitrary: withJoin(ends) },
    { weight: index === 0 || where.depth > 0 ? 0 : 4, arbitrary: withJoin(continuations) },
    { weight: where.depth > 1 ? 0 : 2, arbitrary: withJoin(fc.oneof(scatters(index, where), loops(index, where))) },
    ...(where.pools.length === 0
      ? []
      : [
          { weight: 3, arbitrary: withJoin(selects(index, where)) },
          { weight: 1, arbitrary: withJoin(routes(where)) },
        ]),
  );
}

const conditions = fc.oneof(
  { weight: 20, arbitrary: fc.constant(null) },
  { weight: 10, arbitrary: fc.boolean().map((holds) => () => holds) },
  { weight: 1, arbitrary: fc.constantFrom(fail, () => 'not a bool') },
);

function edges(steps: number, prefix = 's'): fc.Arbitrary<readonly PlanEdge[]> {
  const one = fc
    .tuple(
      ...[fc.nat(), fc.nat()],
      fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'ALWAYS', 'TIMEOUT'),
      conditions,
      fc.constantFrom(null, 'x', 'y'),
    )
    .map(([a, b, type, condition, chosen]) => {
      const target = 1 + (a % Math.max(1, steps - 1));
      return edge(refOf(b % target, prefix), refOf(target, prefix), type, condition, chosen);
    });
  return steps < 2 ? fc.constant([]) : fc.array(one, { maxLength: steps * 2 });
}

/** Cases stay on edges from switches alone; nothing leads on from a step that ends the run. */
function fitting(edgesDrawn: readonly PlanEdge[], steps: readonly StepSpec[], prefix = 's'): readonly PlanEdge[] {
  return edgesDrawn.flatMap((drawn) => {
    const type = steps[Number(drawn.sourceRef.slice(prefix.length))]?.type;
    if (endsRun(type)) return [];
    return [type === 'SWITCH' && drawn.type === 'SUCCESS' ? drawn : { ...drawn, case: null }];
  });
}

/** The steps by name, each scatter with a step that collects its outputs. */
function named(steps: readonly StepSpec[], prefix: string): Omit<BodySpec, 'output'> & { readonly edges: PlanEdge[] } {
  const collecting: PlanEdge[] = [];
  const entries = steps.flatMap((step, index): [string, StepSpec][] => {
    const ref = refOf(index, prefix);
    if (step.type !== 'SCATTER' || step.keeps === false) return [[ref, step]];
    collecting.push(edge(ref, `${ref}all`, 'ALWAYS'));
    const failed = (['null', 'skip', 'error'] as const)[index % 3] ?? 'null';
    return [
      [ref, step],
      [`${ref}all`, { type: 'GATHER', of: ref, failed }],
    ];
  });
  return { steps: Object.fromEntries(entries), edges: collecting };
}

/** A body of one to three steps. */
function bodies(where: Where): fc.Arbitrary<BodySpec> {
  const { prefix } = where;
  return fc.integer({ min: 1, max: 3 }).chain((count) =>
    fc
      .record({
        steps: fc.tuple(...Array.from({ length: count }, (_, index) => stepSpecs(index, where))),
        drawn: edges(count, prefix),
        output: fc.constantFrom(undefined, outputOf(refOf(0, prefix)), RUN_INPUT, ...where.own, template(fail)),
      })
      .map(({ steps, drawn, output }) => {
        const { steps: byName, edges: collecting } = named(steps, prefix);
        const all = [...fitting(drawn, steps, prefix), ...collecting];
        return { steps: byName, edges: all, ...(output === undefined ? {} : { output }) };
      }),
  );
}

function scatters(index: number, { prefix, own, depth, pools }: Where): fc.Arbitrary<StepSpec> {
  const within = { prefix: `${refOf(index, prefix)}s`, own: [...own, ITEM], depth: depth + 1, pools };
  const items = fc.constantFrom<readonly unknown[]>([], ['a'], ['a', { b: ['],'] }, ' c '], [1, 2, 3, 4, 5, 6, 7]);
  return fc.record({
    type: fc.constant('SCATTER' as const),
    items: fc.oneof(
      { weight: 9, arbitrary: items.map((list) => template(() => list)) },
      { weight: 1, arbitrary: fc.constantFrom(RUN_INPUT, template(fail)) },
    ),
    maxParallel: fc.constantFrom(1, 2, 100),
    tolerated: fc.constantFrom(0, 0, 1, 3),
    keeps: fc.boolean(),
    body: bodies(within),
  });
}

function selects(index: number, { prefix, own, depth, pools }: Where): fc.Arbitrary<StepSpec> {
  const within = { prefix: `${refOf(index, prefix)}p`, own: [...own, ITEM], depth: depth + 1, pools };
  const body = depth > 1 ? fc.constant(undefined) : fc.option(bodies(within), { nil: undefined, freq: 3 });
  return fc
    .record({
      pool: fc.constantFrom(...pools),
      slateSize: fc.constantFrom(1, 1, 2, 3),
      atLeast: fc.constantFrom(1, 1, 2),
      mode: fc.constantFrom('each' as const, 'ranked' as const, 'slate' as const),
      maxParallel: fc.constantFrom(1, 100),
      tolerated: fc.constantFrom(0, 1),
      routable: fc.constantFrom(...Array.from({ length: 9 }, () => template(() => ({ type: 'lead' }))), template(fail)),
      body,
    })
    .map(({ body: drawn, ...spec }) => ({ type: 'SELECT', ...spec, ...(drawn === undefined ? {} : { body: drawn }) }));
}

function routes({ pools }: Where): fc.Arbitrary<StepSpec> {
  return fc.constantFrom(...pools).map((pool) => ({ type: 'ROUTE', pool, endsWithRun: pool === pools[0] }));
}

function loops(index: number, { prefix, own, depth, pools }: Where): fc.Arbitrary<StepSpec> {
  const within = { prefix: `${refOf(index, prefix)}l`, own: [...own, VARS], depth: depth + 1, pools };
  const until = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.nat({ max: 3 }).map(
        (last) =>
          ({ index: at }: ExpressionScope) =>
            (at?.() ?? 0) >= last,
      ),
    },
    { weight: 1, arbitrary: fc.constant(fail) },
  );
  return fc.record({
    type: fc.constant('LOOP' as const),
    vars: fc.constantFrom(
      RUN_INPUT,
      template(() => 'first'),
    ),
    until,
    maxIterations: fc.integer({ min: 1, max: 4 }),
    body: bodies(within),
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
      if (pair === null || endsRun(type)) return [];
      const compensates = { sourceRef: refOf(index), condition: pair[1] };
      return pair[0].type === 'CALLBACK' ? [[`u${index}`, { ...pair[0], join: undefined, compensates }]] : [];
    });
    return Object.fromEntries(made);
  });
}

/**
 * Plans. Refs are s0, s1, ... and u0, u1, ... for their compensations; edges lead from lower to higher ones.
 *
 * @param pools that steps select from and route to
 */
export function plansOver(pools: readonly string[]): fc.Arbitrary<Plan> {
  return fc.integer({ min: 1, max: 9 }).chain((count) =>
    fc
      .record({
        steps: fc
          .tuple(...Array.from({ length: count }, (_, index) => stepSpecs(index, { ...TOP, pools })))
          .chain((drawn) => fc.tuple(fc.constant(drawn), compensations(drawn))),
        edges: edges(count),
        hasOutput: fc.constantFrom('default', 'source', 'value', 'fails'),
        onFailure: fc.constantFrom('drain' as const, 'cancel' as const),
        onExhausted: fc.constantFrom('fail' as const, 'fail' as const, 'park' as const),
        timeoutMs: maybe(200, 9000),
      })
      .map(({ steps: [steps, undoing], edges: drawn, hasOutput, onFailure, onExhausted, timeoutMs }) =>
        planOf({
          steps: { ...named(steps, 's').steps, ...undoing },
          edges: [...fitting(drawn, steps), ...named(steps, 's').edges],
          ...{ onFailure, onExhausted },
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(hasOutput === 'source' ? { output: outputOf('s0') } : {}),
          ...(hasOutput === 'value' ? { output: template((scope) => [scope.stepOutput('s0') ?? null]) } : {}),
          ...(hasOutput === 'fails' ? { output: template((scope) => scope.stepOutput('s0') ?? fail()) } : {}),
        }),
      ),
  );
}

/** Plans that need no pools. */
export const plans: fc.Arbitrary<Plan> = plansOver([]);
