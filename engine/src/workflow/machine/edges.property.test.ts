/** Edges, joins and ends against a naive evaluator, on random DAGs with outcomes known beforehand. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { completed, drive, failed, result, start, statuses, type DrivenRun } from '../testing/drive.js';
import { edge, joinOf, NULL_TEMPLATE, planOf, type StepSpec } from '../testing/plan-builder.js';
import { CASES } from '../testing/random-plan.js';
import type { Join, Plan, PlanEdge, PlanStep, RunInput } from './index.js';

/** How a step ends, should it be started. */
type End = 'COMPLETED' | 'FAILED' | 'TIMEOUT';

/** A graph with a verdict per step. */
interface Graph {
  readonly plan: Plan;
  readonly ends: ReadonlyMap<string, End>;
  /** The case each switch chooses. */
  readonly chosen: ReadonlyMap<string, string | null>;
  /** Truth of each edge's condition, by the edge. */
  readonly truth: ReadonlyMap<PlanEdge, boolean>;
  readonly order: number;
  /** Whether the run is parked before each answer, and is resumed after it. */
  readonly parks: readonly boolean[];
}

const edgeDraws = fc.record({
  from: fc.nat(),
  to: fc.nat(),
  type: fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'ALWAYS', 'ALWAYS', 'TIMEOUT'),
  truth: fc.constantFrom(true, true, true, false),
  isConditional: fc.boolean(),
  chosen: fc.constantFrom('x', 'y', null),
});

const joins = fc.constantFrom<Join | undefined>(
  ...[undefined, undefined, undefined],
  ...[joinOf(1), joinOf(1, true), joinOf(1, true), joinOf(2), joinOf(2, true), joinOf(3)],
);

const stepDraws = fc.record({
  end: fc.constantFrom<End>('COMPLETED', 'COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED', 'TIMEOUT'),
  type: fc.constantFrom(
    ...(['CALLBACK', 'CALLBACK', 'CALLBACK', 'CALLBACK', 'CALLBACK', 'CALLBACK'] as const),
    ...(['DATAFLOW', 'DATAFLOW', 'SWITCH', 'SWITCH', 'FAIL', 'COMPLETE', 'CONTINUE_AS_NEW'] as const),
  ),
  chosen: fc.constantFrom('x', 'y', null),
  join: joins,
});

type StepDraw = typeof stepDraws extends fc.Arbitrary<infer T> ? T : never;

function fails(): never {
  throw new DuctorError('expression_failed', 'drawn to fail');
}

function specOf({ type, end, chosen, join }: StepDraw): StepSpec {
  switch (type) {
    case 'DATAFLOW':
      return { type, transform: () => (end === 'COMPLETED' ? null : fails()), join };
    case 'SWITCH':
      return { type, choose: () => (end === 'COMPLETED' ? chosen : fails()), join };
    case 'FAIL':
      return { type, code: 'drawn', message: () => 'drawn', join };
    case 'COMPLETE':
      return { type, output: NULL_TEMPLATE, join };
    case 'CONTINUE_AS_NEW':
      return { type, join };
    case 'CALLBACK':
      return { type: 'CALLBACK', retry: { maxAttempts: 1 }, join };
  }
}

/** How a drawn step ends: only an attempt can time out, FAIL always fails, the others that end the run never do. */
function endOf({ type, end }: StepDraw): End {
  if (type === 'FAIL') return 'FAILED';
  if (type === 'COMPLETE' || type === 'CONTINUE_AS_NEW') return 'COMPLETED';
  return type === 'CALLBACK' || end === 'COMPLETED' ? end : 'FAILED';
}

const graphs: fc.Arbitrary<Graph> = fc
  .record({
    steps: fc.array(stepDraws, { minLength: 1, maxLength: 10, size: 'max' }),
    draws: fc.array(edgeDraws, { maxLength: 20, size: 'max' }),
    order: fc.nat(),
    parks: fc.array(fc.constantFrom(false, false, true), { minLength: 1, maxLength: 4 }),
    onFailure: fc.constantFrom('drain' as const, 'drain' as const, 'cancel' as const),
  })
  .map(({ steps, draws, order, parks, onFailure }) => {
    const count = steps.length;
    const truth = new Map<PlanEdge, boolean>();
    for (const { from, to, type, truth: holds, isConditional, chosen } of count > 1 ? draws : []) {
      const target = 1 + (to % (count - 1));
      const source = from % target;
      const kind = steps[source]?.type;
      if (kind === 'FAIL' || kind === 'COMPLETE' || kind === 'CONTINUE_AS_NEW') continue;
      const isTrue = holds || !isConditional;
      const isCase = kind === 'SWITCH' && type === 'SUCCESS';
      const condition = isConditional ? (): boolean => isTrue : null;
      truth.set(edge(`s${source}`, `s${target}`, type, condition, isCase ? chosen : null), isTrue);
    }
    const named = steps.map((step, index) => [`s${index}`, step] as const);
    const specs = Object.fromEntries(named.map(([ref, step]) => [ref, specOf(step)]));
    return {
      plan: planOf({ steps: specs, edges: [...truth.keys()], onFailure }),
      ends: new Map(named.map(([ref, step]) => [ref, endOf(step)])),
      chosen: new Map(named.map(([ref, step]) => [ref, step.chosen])),
      ...{ truth, order, parks },
    };
  });

interface Verdict {
  readonly status: ReadonlyMap<string, string>;
  /** Failed steps that no edge takes care of. */
  readonly unhandled: readonly string[];
  /** COMPLETE steps that start. */
  readonly completing: readonly string[];
  /** CONTINUE_AS_NEW steps that start. */
  readonly continuing: readonly string[];
}

/**
 * The rules of the design, word by word, with no thought of when anything happens.
 *
 * @param losers steps that a join stopped, with what became of them: that depends on when
 */
function evaluate({ plan, ends, chosen, truth }: Graph, losers: ReadonlyMap<string, string>): Verdict {
  const status = new Map<string, string>();
  const timedOut = (ref: string): boolean => ends.get(ref) === 'TIMEOUT';
  const fits = (one: PlanEdge): boolean => {
    const { sourceRef: source } = one;
    if (status.get(source) === 'COMPLETED') {
      const isCase = one.case === null || one.case === chosen.get(source);
      return isCase && (one.type === 'SUCCESS' || one.type === 'ALWAYS');
    }
    if (status.get(source) !== 'FAILED') return false;
    const hasTimeout = plan.stepByRef.get(source)?.outgoing.some(({ type }) => type === 'TIMEOUT') ?? false;
    if (one.type === 'TIMEOUT') return timedOut(source);
    if (one.type === 'FAILURE') return !(timedOut(source) && hasTimeout);
    return one.type === 'ALWAYS';
  };
  const fires = (one: PlanEdge): boolean => fits(one) && truth.get(one) === true;
  const blocks = (one: PlanEdge): boolean => one.type === 'SUCCESS' && status.get(one.sourceRef) === 'FAILED';
  for (const { ref, incoming, join } of plan.steps) {
    const fired = incoming.filter(fires).length;
    const isJoined = join.mode === 'all' ? fired > 0 && !incoming.some(blocks) : fired >= join.count;
    const end = ends.get(ref) === 'COMPLETED' ? 'COMPLETED' : 'FAILED';
    status.set(ref, losers.get(ref) ?? (incoming.length === 0 || isJoined ? end : 'SKIPPED'));
  }
  const unhandled = plan.steps.filter(({ ref, outgoing }) => status.get(ref) === 'FAILED' && !outgoing.some(fires));
  const done = (kind: PlanStep['type']): readonly string[] =>
    plan.steps.flatMap(({ ref, type }) => (type === kind && status.get(ref) === 'COMPLETED' ? ref : []));
  const [completing, continuing] = [done('COMPLETE'), done('CONTINUE_AS_NEW')];
  return { status, unhandled: unhandled.map(({ ref }) => ref), completing, continuing };
}

const OVER = ['step_completed', 'step_failed', 'step_skipped', 'step_cancelled'];

/** Steps that had not ended when a join with cancel_losers began, and lead to it alone. */
function losersOf(run: DrivenRun): ReadonlyMap<string, string> {
  const losers = new Map<string, string>();
  const final = statuses(run.state);
  for (const { ref: join, join: rule } of run.plan.steps) {
    if (rule.mode === 'all' || !rule.cancelLosers) continue;
    const began = run.facts.findIndex((fact) => 'path' in fact && fact.path === join);
    if (began === -1 || run.facts[began]?.kind === 'step_skipped') continue;
    const before = run.facts.slice(0, began);
    const ended = new Set(before.flatMap((fact) => ('path' in fact && OVER.includes(fact.kind) ? fact.path : [])));
    const leads = (step: PlanStep): boolean =>
      step.outgoing.length > 0 &&
      !ended.has(step.ref) &&
      step.outgoing.every(({ targetRef }) => {
        const target = run.plan.stepByRef.get(targetRef);
        return targetRef === join || (target !== undefined && leads(target));
      });
    for (const step of run.plan.steps) {
      if (step.ref !== join && leads(step)) losers.set(step.ref, final[step.ref] ?? 'PENDING');
    }
  }
  return losers;
}

const PARK: RunInput = { kind: 'park', code: 'poison_commit', message: 'drawn' };

function answer({ ends }: Graph, path: string, isTold: boolean, pick: number): RunInput {
  if (isTold && pick % 2 === 0) return result(path, 1, { kind: 'cancelled' });
  const end = ends.get(path);
  if (end === 'COMPLETED') return completed(path);
  return failed(path, 1, end === 'TIMEOUT' ? { code: 'timeout' } : {});
}

/** Runs it, answering the open attempts in an order drawn; parked now and then, which must make no difference. */
function execute(graph: Graph): DrivenRun {
  const { plan, order, parks } = graph;
  const run = drive(plan);
  run.give(start(), ...(parks[0] === true ? [PARK] : []));
  for (
    let pick = order, round = 1;
    run.state.closedAtUs === null && round < 200;
    pick = Math.floor(pick / 3), round += 1
  ) {
    if (run.state.steps.active === 0) {
      run.give({ kind: 'resume' });
      continue;
    }
    const turn = parks[round % parks.length] === true ? PARK : { kind: 'resume' as const };
    run.give(turn);
    const open = [...run.state.steps.values()].filter(({ status }) => ['SCHEDULED', 'CANCELLING'].includes(status));
    const { path = '', status } = open[pick % open.length] ?? {};
    run.give(answer(graph, path, status === 'CANCELLING', pick));
  }
  return run;
}

describe('edges, joins and ends on random graphs', () => {
  it('complete, skip and fail the very steps a naive evaluator names', () => {
    const seen = { exact: 0, failing: 0, completing: 0, continuing: 0, losing: 0 };
    const property = fc.property(graphs, (graph) => {
      const run = execute(graph);
      const { state } = run;
      const losers = losersOf(run);
      const verdict = evaluate(graph, losers);
      if (losers.size > 0) seen.losing += 1;
      // Once a step has ended the run, how a loser ends is its own affair.
      const fails = graph.plan.steps.some(({ type, ref }) => type === 'FAIL' && verdict.unhandled.includes(ref));
      const isEnded = fails || verdict.completing.length + verdict.continuing.length > 0;
      const outcomes = ['CANCELLED', 'SKIPPED', 'COMPLETED', 'PENDING', ...(isEnded ? ['FAILED'] : [])];
      for (const status of losers.values()) expect(outcomes).toContain(status);
      if (verdict.unhandled.length + verdict.completing.length + verdict.continuing.length === 0) {
        seen.exact += 1;
        expect(state.status).toBe('COMPLETED');
        expect(statuses(state)).toEqual(Object.fromEntries(verdict.status));
        return;
      }
      const ended = Object.entries(statuses(state)).filter(([, status]) => status !== 'CANCELLED');
      if (state.status === 'FAILED') {
        seen.failing += 1;
        expect(verdict.unhandled).toContain(state.error?.step);
      } else if (state.status === 'CONTINUED') {
        seen.continuing += 1;
        expect(verdict.continuing.some((ref) => state.steps.get(ref)?.status === 'COMPLETED')).toBe(true);
      } else {
        seen.completing += 1;
        expect(state.status).toBe('COMPLETED');
        expect(verdict.completing.some((ref) => state.steps.get(ref)?.status === 'COMPLETED')).toBe(true);
      }
      for (const [path, status] of ended) expect(status).toBe(verdict.status.get(path));
    });
    fc.assert(property, { ...CASES, numRuns: 8800 });
    expect(seen.exact).toBeGreaterThan(2000);
    expect(seen.failing).toBeGreaterThan(1000);
    expect(seen.completing).toBeGreaterThan(200);
    expect(seen.continuing).toBeGreaterThan(200);
    expect(seen.losing).toBeGreaterThan(200);
    // 8,800 whole runs: more than the usual 30 s where two cores have other work, too.
  }, 180_000);
});
