import { describe, expect, it } from 'vitest';
import { CANCEL, drive, jsonOf, PAUSE, RESUME, start, statuses, TERMINATE, WAKE, words } from '../testing/drive.js';
import { edge, planOf, type StepSpec } from '../testing/plan-builder.js';
import type { Gate } from './inputs.js';
import { explainRun, jsonValue, type RunInput } from './index.js';
import type { RouteAnswer, Withdrawal } from './routing-work.js';
import { CLOSED_GATE } from './tick.js';

const HOUR_US = 3_600_000_000;
const QUEUED: RouteAnswer = { kind: 'queued', itemId: 'item', decisionId: 'item', queueId: 'west', poolId: 'pond' };
const OUTPUT = { item_id: 'item', assignment_id: 'a' };

function told(what: 'claimed' | 'completed' | 'expired' | 'withdrawn', itemId = 'item'): RunInput {
  const output = what === 'claimed' || what === 'completed' ? jsonValue(OUTPUT) : null;
  return { kind: 'claim_told', path: 'sale', itemId, what, output };
}

const claims = (until: 'claimed' | 'completed' = 'claimed', waitUs: number | null = HOUR_US): StepSpec => ({
  ...{ type: 'CLAIM', until },
  deadlineUs: (_, nowUs) => (waitUs === null ? null : nowUs + waitUs),
});

/** A gate that queues, and says this of items that are to be taken out. */
function gateOf(came: Withdrawal, answer: RouteAnswer = QUEUED): Gate & { readonly asked: string[] } {
  const asked: string[] = [];
  const withdraw = (itemId: string): Withdrawal => {
    asked.push(itemId);
    return came;
  };
  return { ...CLOSED_GATE, asked, route: () => answer, withdraw };
}

/** A run whose step waits. */
function waiting(step: StepSpec = claims(), gate = gateOf('withdrawn')) {
  const run = drive(planOf({ steps: { sale: step } }));
  run.gate = gate;
  const { entries } = run.give(start());
  expect(words(entries)).toEqual(['run_started', 'step_selecting sale', 'claim_queued sale']);
  return { run, asked: gate.asked };
}

describe('a step that waits for a claim', () => {
  it('says which queue and since when, and completes by the claim of its item', () => {
    const { run, asked } = waiting();
    const message =
      'step sale waits for item item of claim queue west to be claimed, at most until 2026-01-01T01:00:00Z';
    expect(explainRun(run.state)).toMatchObject({ kind: 'claim', step: 'sale', sinceUs: run.nowUs, message });
    expect(run.give(told('claimed', 'other')).dispositions).toEqual(['ignored']);
    expect(words(run.give(told('claimed')).entries)).toEqual(['step_completed sale 0', 'run_closed']);
    expect(jsonOf(run.state.steps.get('sale')?.output ?? null)).toEqual(OUTPUT);
    expect([run.give(told('claimed')).dispositions, asked]).toEqual([['ignored'], []]);
  });

  it.each([
    ['expired', 'claim_expired'],
    ['withdrawn', 'claim_withdrawn'],
  ] as const)('fails when its item is %s', (what, code) => {
    const { run, asked } = waiting();
    run.give(told(what));
    expect([run.state.status, run.state.error?.code, asked]).toEqual(['FAILED', code, []]);
  });

  it.each([
    ['cancelled', CANCEL],
    ['terminated', TERMINATE],
  ])('takes its item out when its run is %s', (_, input) => {
    const { run, asked } = waiting();
    run.give(input);
    expect([statuses(run.state), asked]).toEqual([{ sale: 'CANCELLED' }, ['item']]);
    expect(run.give(told('claimed')).dispositions).toEqual(['ignored']);
  });

  it('takes it out when its time is over, once', () => {
    const { run, asked } = waiting();
    run.nowUs += HOUR_US;
    run.give(WAKE);
    expect([run.state.error?.code, asked]).toEqual(['timeout', ['item']]);
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
  });

  it('waits on for the news when somebody claimed it before its time was over', () => {
    const { run } = waiting(claims(), gateOf('claimed'));
    run.nowUs += HOUR_US;
    expect(words(run.give(WAKE).entries)).toEqual(['claim_settling sale']);
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.give(told('claimed'));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('does not wait for the end of work that is late', () => {
    const { run } = waiting(claims('completed'), gateOf('claimed'));
    run.nowUs += HOUR_US;
    run.give(WAKE);
    expect([run.state.error?.code, run.state.error?.message]).toEqual([
      'timeout',
      'item item was not completed by 2026-01-01T01:00:00Z',
    ]);
  });

  it('hears of a claim while its run is paused, and goes on once that is resumed', () => {
    const run = drive(planOf({ steps: { sale: claims(), next: claims() }, edges: [edge('sale', 'next')] }));
    run.gate = gateOf('withdrawn');
    run.give(start());
    run.give(PAUSE);
    run.give(told('claimed'));
    expect(statuses(run.state)).toEqual({ sale: 'COMPLETED' });
    run.give(RESUME);
    expect(statuses(run.state)).toEqual({ sale: 'COMPLETED', next: 'WAITING' });
  });

  it('fails with the outcome where nothing waits', () => {
    const run = drive(planOf({ steps: { sale: claims() } }));
    run.gate = gateOf('ended', {
      kind: 'failed',
      code: 'no_eligible_recipient',
      message: 'nobody',
      isRetryable: false,
    });
    run.give(start());
    expect([run.state.status, run.state.error?.code]).toEqual(['FAILED', 'no_eligible_recipient']);
  });
});
