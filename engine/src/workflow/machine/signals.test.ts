import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { drive, jsonOf, PAUSE, RESUME, start, statuses, T0_US, TERMINATE, WAKE, words } from '../testing/drive.js';
import { edge, planOf, type StepSpec } from '../testing/plan-builder.js';
import { admitSignal, explainRun, jsonValue, type OpenApproval, type RunInput, type Signal } from './index.js';

const HOUR_US = 3_600_000_000;

function waitsFor(signal: string, deadlineUs: number | null = null): StepSpec {
  return { type: 'SIGNAL', signal, deadlineUs: (_, nowUs) => (deadlineUs === null ? null : nowUs + deadlineUs) };
}

function sent(name: string, id: string, payload: unknown = null, by = 'ada'): RunInput & Signal {
  return { kind: 'signal', name, id, payload: jsonValue(payload), by };
}

const REVIEW: OpenApproval = { assignees: ['ada'], options: ['yes', 'no'], escalation: null };

function approval(open: Partial<OpenApproval> = {}, deadlineUs: number | null = HOUR_US): StepSpec {
  return {
    type: 'APPROVAL',
    signal: 'review',
    deadlineUs: (_, nowUs) => (deadlineUs === null ? null : nowUs + deadlineUs),
    open: () => ({ ...REVIEW, ...open }),
  };
}

const decided = (option: string, by: string, id = option): RunInput & Signal => sent('review', id, { option }, by);

/** Code with which a signal is refused; what is said otherwise. */
function refusal(run: ReturnType<typeof drive>, signal: Signal): string {
  try {
    return admitSignal(run.plan, run.state, signal);
  } catch (error) {
    return DuctorError.from(error).code;
  }
}

describe('a step that waits for a signal', () => {
  it('completes with its payload', () => {
    const run = drive(planOf({ steps: { paid: waitsFor('payment') } }));
    run.give(start());
    expect(run.state.status).toBe('WAITING');
    expect(explainRun(run.state)).toMatchObject({ kind: 'signal', step: 'paid', untilUs: null });
    expect(explainRun(run.state)?.message).toBe('step paid waits for signal payment');
    const { entries } = run.give(sent('payment', '1', { amount: 5 }));
    expect(words(entries)).toEqual(['signal_received', 'signal_taken paid', 'run_closed']);
    expect(jsonOf(run.state.steps.get('paid')?.output ?? null)).toEqual({ amount: 5 });
  });

  it('takes what came early, first come first served, each signal once', () => {
    const steps = { first: waitsFor('go'), second: waitsFor('go'), third: waitsFor('go') };
    const run = drive(planOf({ steps, edges: [edge('first', 'second'), edge('second', 'third')] }));
    run.give(start(), sent('go', 'a', 1), sent('go', 'b', 2));
    expect(statuses(run.state)).toEqual({ first: 'COMPLETED', second: 'COMPLETED', third: 'WAITING' });
    expect(jsonOf(run.state.steps.get('second')?.output ?? null)).toBe(2);
    expect(run.give(sent('go', 'b', 3)).dispositions).toEqual(['ignored']);
    run.give(sent('go', 'c', 3));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('keeps a signal that nobody waits for, and says so in the journal', () => {
    const run = drive(planOf({ steps: { paid: waitsFor('payment') } }));
    run.give(start(), sent('other', '1', 'x'));
    expect(run.state.signals?.waiting).toMatchObject([{ name: 'other', id: '1' }]);
    run.give(sent('payment', '1'));
    expect(run.facts.filter(({ kind }) => kind === 'signal_received').length).toBe(2);
  });

  it('fails by a timeout when none comes in time', () => {
    const run = drive(
      planOf({
        steps: { paid: waitsFor('payment', HOUR_US), late: waitsFor('x') },
        edges: [edge('paid', 'late', 'TIMEOUT')],
      }),
    );
    run.give(start());
    run.nowUs += HOUR_US - 1;
    expect(run.give(WAKE).dispositions).toEqual(['ignored']);
    run.nowUs += 1;
    run.give(WAKE);
    expect(run.state.steps.get('paid')?.error).toMatchObject({
      code: 'timeout',
      message: 'signal payment did not come by 2026-01-01T01:00:00Z',
    });
    expect(statuses(run.state)).toEqual({ paid: 'FAILED', late: 'WAITING' });
  });

  it('takes what came while the run was held, also past its time', () => {
    const run = drive(planOf({ steps: { paid: waitsFor('payment', HOUR_US) } }));
    run.give(start());
    run.give(PAUSE);
    run.give(sent('payment', '1', 7));
    expect(run.state.status).toBe('PAUSED');
    run.nowUs += 2 * HOUR_US;
    run.give(RESUME);
    expect(run.state.status).toBe('COMPLETED');
    expect(jsonOf(run.state.steps.get('paid')?.output ?? null)).toBe(7);
  });

  it('hears a signal that came with the end of its run', () => {
    const run = drive(planOf({ steps: { paid: waitsFor('payment') } }));
    run.give(start());
    const { entries, dispositions } = run.give(TERMINATE, sent('payment', '1'));
    expect(dispositions).toEqual(['applied', 'applied']);
    expect(words(entries).slice(0, 1)).toEqual(['signal_received']);
    expect(run.state.status).toBe('TERMINATED');
  });

  it('remembers ids for a day', () => {
    const run = drive(planOf({ steps: { paid: waitsFor('payment') } }));
    run.give(start(), sent('ping', '1'));
    run.nowUs += 24 * HOUR_US - 1;
    expect(run.give(sent('ping', '1')).dispositions).toEqual(['ignored']);
    run.nowUs += 1;
    expect(run.give(sent('ping', '1')).dispositions).toEqual(['applied']);
    expect(run.state.signals?.waiting.length).toBe(2);
  });

  it('remembers the last thousand ids of a name', () => {
    const run = drive(planOf({ steps: { paid: waitsFor('payment') } }));
    run.give(start());
    run.give(...Array.from({ length: 1_200 }, (_, n) => sent('ping', String(n))));
    for (let n = 200; n < 1_200; n += 1) expect(run.give(sent('ping', String(n))).dispositions).toEqual(['ignored']);
  });
});

describe('an approval', () => {
  it('completes with the decision of an assignee, and names who is asked', () => {
    const run = drive(planOf({ steps: { review: approval() } }));
    run.give(start());
    expect(explainRun(run.state)).toMatchObject({ kind: 'approval', untilUs: T0_US + HOUR_US });
    expect(explainRun(run.state)?.message).toContain('a decision by ada: yes or no, at most until');
    run.give(decided('yes', 'bob', '1'), decided('maybe', 'ada', '2'));
    expect(run.state.status).toBe('WAITING');
    run.give(decided('no', 'ada'));
    expect(jsonOf(run.state.steps.get('review')?.output ?? null)).toEqual({
      ...{ option: 'no', by: 'ada', comment: '', form: null, at: '2026-01-01T00:00:00Z' },
    });
  });

  it('is escalated to others, who decide then, beside the first', () => {
    const escalation = { atUs: T0_US + 1_000, assignees: ['eve'] };
    const run = drive(planOf({ steps: { review: approval({ escalation }) } }));
    run.give(start());
    expect(refusal(run, decided('yes', 'eve'))).toBe('not_assignee');
    run.nowUs += 1_000;
    expect(words(run.give(WAKE).entries)).toEqual(['approval_escalated review']);
    expect(run.state.steps.get('review')?.awaits?.approval?.assignees).toEqual(['ada', 'eve']);
    expect(refusal(run, decided('yes', 'eve'))).toBe('new');
    run.give(decided('yes', 'eve'));
    expect(run.state.status).toBe('COMPLETED');
  });

  it('fails by a timeout when nobody decides', () => {
    const run = drive(planOf({ steps: { review: approval({ assignees: null }) } }));
    run.give(start());
    run.nowUs += HOUR_US;
    run.give(WAKE);
    expect(run.state.error).toMatchObject({ code: 'timeout', message: 'nobody decided by 2026-01-01T01:00:00Z' });
  });
});

describe('the door', () => {
  const plan = planOf({ steps: { paid: waitsFor('payment'), review: approval() } });

  it('refuses what the version does not wait for, and what was decided wrongly', () => {
    const run = drive(plan);
    run.give(start());
    expect(refusal(run, sent('paymnt', '1'))).toBe('signal_unknown');
    expect(refusal(run, sent('payment', '1'))).toBe('new');
    expect(refusal(run, decided('yes', 'bob'))).toBe('not_assignee');
    expect(refusal(run, decided('perhaps', 'ada'))).toBe('invalid_argument');
    run.give(decided('yes', 'ada'));
    expect(refusal(run, decided('no', 'ada'))).toBe('approval_not_open');
  });

  it('knows what was heard, also once the run has ended', () => {
    const run = drive(plan);
    run.give(start(), sent('payment', '1'), decided('yes', 'ada'));
    expect(run.state.status).toBe('COMPLETED');
    expect(refusal(run, sent('payment', '1'))).toBe('repeated');
    expect(refusal(run, sent('payment', '2'))).toBe('run_closed');
  });

  it('refuses more than a run keeps', () => {
    const run = drive(plan);
    run.give(start(), ...Array.from({ length: 999 }, (_, n) => sent('x', String(n))));
    expect(refusal(run, sent('payment', '1'))).toBe('new');
    run.give(sent('x', 'last'));
    expect(refusal(run, sent('payment', '1'))).toBe('mailbox_full');
  });
});
