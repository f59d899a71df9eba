/** What updates promise, over random inputs and times, on plans whose bodies and signal steps take them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edge, planOf, template } from '../testing/plan-builder.js';
import { giveAll, play } from '../testing/play.js';
import { acts } from '../testing/random-inputs.js';
import { CASES } from '../testing/random-plan.js';
import { isClosed, type Entry, type Plan } from './index.js';

const never = (): null => null;
const refusal = { reads: [], evaluate: ({ update }: { update?: () => unknown }) => (update?.() === 7 ? 'no 7' : null) };

const PLANS: readonly Plan[] = [
  planOf({
    steps: {
      first: { type: 'CALLBACK', takes: 'ping', retry: { maxAttempts: 2 } },
      second: { type: 'SIGNAL', signal: 'pong', deadlineUs: never },
    },
    edges: [edge('first', 'second', 'ALWAYS')],
    updates: { ping: { refusal }, pong: { output: template((scope) => [scope.update?.()]) } },
  }),
  planOf({
    steps: {
      turns: {
        ...{ type: 'LOOP', until: ({ index }) => (index?.() ?? 0) >= 2, maxIterations: 5 },
        body: { steps: { each: { type: 'CALLBACK', takes: 'ping' } } },
      },
      beside: { type: 'CALLBACK' },
    },
    updates: { ping: { output: template((scope) => ({ is: scope.stepOutput('each') })) } },
  }),
  planOf({
    steps: { one: { type: 'CALLBACK', takes: 'ping' }, more: { type: 'CONTINUE_AS_NEW' } },
    edges: [edge('one', 'more')],
  }),
];

type Answered = Extract<Entry, { readonly kind: 'update_answered' }>;

const keyOf = ({ name, id }: { readonly name: string; readonly id: string }): string => `${name}/${id}`;

function check(property: (facts: readonly Entry[], run: ReturnType<typeof play>) => void): void {
  const cases = fc.property(fc.constantFrom(...PLANS), acts, (plan, sequence) => {
    const run = play(plan, sequence, giveAll);
    property(run.facts, run);
  });
  fc.assert(cases, { ...CASES, numRuns: 600 });
}

describe('updates', () => {
  it('are answered at most once, after they were received, unless they were refused', () => {
    const seen = { outputs: 0, failures: 0, refusals: 0 };
    check((facts) => {
      const received = new Set<string>();
      const answered = new Map<string, Answered>();
      for (const fact of facts) {
        if (fact.kind === 'signal_received') received.add(keyOf(fact));
        if (fact.kind !== 'update_answered') continue;
        const key = keyOf(fact);
        expect(answered.has(key)).toBe(false);
        answered.set(key, fact);
        expect((fact.output === null) !== (fact.error === null)).toBe(true);
        const isRefused = fact.error?.code === 'update_refused';
        expect(received.has(key)).toBe(!isRefused);
        if (isRefused) seen.refusals += 1;
        else if (fact.output === null) seen.failures += 1;
        else seen.outputs += 1;
      }
    });
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
  });

  it('have their answer as soon as the step that took them has ended', () => {
    let looks = 0;
    check((facts, { state, plan }) => {
      const answered = new Set(facts.flatMap((fact) => (fact.kind === 'update_answered' ? [keyOf(fact)] : [])));
      const taken = facts.flatMap((fact) =>
        fact.kind === 'update_taken' || (fact.kind === 'signal_taken' && plan.updates.has(fact.name)) ? [fact] : [],
      );
      const open = new Set([...state.steps.values()].flatMap((step) => (step.taken ? [keyOf(step.taken)] : [])));
      const isTerminated = state.status === 'TERMINATED';
      for (const one of taken) {
        looks += 1;
        if (!isTerminated) expect(answered.has(keyOf(one))).toBe(!open.has(keyOf(one)));
      }
      if (isClosed(state)) expect(open.size).toBe(0);
    });
    expect(looks).toBeGreaterThan(100);
  });

  it('wait for their step, which is never left waiting for one that is there', () => {
    let kept = 0;
    check((_facts, { state }) => {
      const waiting = new Set((state.signals?.waiting ?? []).map(({ name }) => name));
      kept += waiting.size;
      const goesOn = state.parked === null && state.paused === null && state.error === null && state.cancel === null;
      if (isClosed(state) || !goesOn || state.ending !== null) return;
      for (const { awaits } of state.steps.values()) if (awaits) expect(waiting).not.toContain(awaits.name);
    });
    expect(kept).toBeGreaterThan(10);
  });
});
