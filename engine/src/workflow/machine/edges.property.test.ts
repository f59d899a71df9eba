/** Edge resolution against a naive evaluator on random DAGs with outcomes known beforehand. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { completed, drive, failed, start, statuses } from '../testing/drive.js';
import { edge, planOf, type StepSpec } from '../testing/plan-builder.js';
import { CASES } from '../testing/random-plan.js';
import type { Plan, PlanEdge, RunInput, RunState } from './index.js';

/** A graph with a verdict per step: how it ends, should it be started. */
interface Graph {
  readonly plan: Plan;
  readonly ends: readonly ('COMPLETED' | 'FAILED')[];
  /** Truth of each edge's condition, by the edge. */
  readonly truth: ReadonlyMap<PlanEdge, boolean>;
  readonly order: number;
  /** In which rounds it is parked. */
  readonly parks: readonly boolean[];
}

const edgeDraws = fc.record({
  from: fc.nat(),
  to: fc.nat(),
  type: fc.constantFrom('SUCCESS', 'SUCCESS', 'FAILURE', 'ALWAYS', 'ALWAYS'),
  truth: fc.constantFrom(true, true, true, false),
  isConditional: fc.boolean(),
});

const graphs: fc.Arbitrary<Graph> = fc
  .record({
    ends: fc.array(fc.constantFrom('COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED'), { minLength: 1, maxLength: 10 }),
    inline: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
    draws: fc.array(edgeDraws, { maxLength: 20, size: 'max' }),
    order: fc.nat(),
    parks: fc.array(fc.constantFrom(false, false, true), { minLength: 1, maxLength: 8 }),
  })
  .map(({ ends, inline, draws, order, parks }) => {
    const count = ends.length;
    const truth = new Map<PlanEdge, boolean>();
    for (const { from, to, type, truth: holds, isConditional } of count > 1 ? draws : []) {
      const target = 1 + (to % (count - 1));
      const isTrue = holds || !isConditional;
      const drawn = edge(`s${from % target}`, `s${target}`, type, isConditional ? () => isTrue : null);
      truth.set(drawn, isTrue);
    }
    const steps = ends.map((end, index): [string, StepSpec] => [
      `s${index}`,
      inline[index] === true ? dataflow(end) : { type: 'CALLBACK', retry: { maxAttempts: 1 } },
    ]);
    return { plan: planOf({ steps: Object.fromEntries(steps), edges: [...truth.keys()] }), ends, truth, order, parks };
  });

function dataflow(end: 'COMPLETED' | 'FAILED'): StepSpec {
  return {
    type: 'DATAFLOW',
    transform: () => {
      if (end === 'FAILED') throw new DuctorError('expression_failed', 'drawn to fail');
      return null;
    },
  };
}

interface Verdict {
  readonly status: ReadonlyMap<string, string>;
  /** Failed steps that no edge takes care of. */
  readonly unhandled: readonly string[];
}

/** The rules of the design, word by word, with no thought of when anything happens. */
function evaluate({ plan, ends, truth }: Graph): Verdict {
  const status = new Map<string, string>();
  const fires = (one: PlanEdge): boolean => {
    const source = status.get(one.sourceRef);
    const fits = (source === 'COMPLETED' && one.type !== 'FAILURE') || (source === 'FAILED' && one.type !== 'SUCCESS');
    return fits && truth.get(one) === true;
  };
  const blocks = (one: PlanEdge): boolean => one.type === 'SUCCESS' && status.get(one.sourceRef) === 'FAILED';
  plan.steps.forEach(({ ref, incoming }, index) => {
    const starts = incoming.length === 0 || (incoming.some(fires) && !incoming.some(blocks));
    status.set(ref, starts ? (ends[index] ?? 'COMPLETED') : 'SKIPPED');
  });
  const unhandled = plan.steps.filter(({ ref, outgoing }) => status.get(ref) === 'FAILED' && !outgoing.some(fires));
  return { status, unhandled: unhandled.map(({ ref }) => ref) };
}

const PARK: RunInput = { kind: 'park', code: 'poison_commit', message: 'drawn' };

/** Runs it, answering the open attempts in an order drawn; parked now and then, which must make no difference. */
function execute({ plan, ends, order, parks }: Graph): RunState {
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
    const open = [...run.state.steps.values()].filter(({ status }) => status === 'SCHEDULED');
    const path = open[pick % open.length]?.path ?? '';
    run.give(ends[Number(path.slice(1))] === 'FAILED' ? failed(path) : completed(path));
  }
  return run.state;
}

describe('edges on random graphs', () => {
  it('complete, skip and fail the very steps a naive evaluator names', () => {
    let exact = 0;
    let failing = 0;
    const property = fc.property(graphs, (graph) => {
      const verdict = evaluate(graph);
      const state = execute(graph);
      if (verdict.unhandled.length === 0) {
        exact += 1;
        expect(state.status).toBe('COMPLETED');
        expect(statuses(state)).toEqual(Object.fromEntries(verdict.status));
        return;
      }
      failing += 1;
      expect(state.status).toBe('FAILED');
      expect(verdict.unhandled).toContain(state.error?.step);
      for (const [path, status] of Object.entries(statuses(state))) expect(status).toBe(verdict.status.get(path));
    });
    fc.assert(property, { ...CASES, numRuns: 4000 });
    expect(exact).toBeGreaterThan(2000);
    expect(failing).toBeGreaterThan(1000);
  });
});
