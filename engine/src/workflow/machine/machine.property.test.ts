/** M1 to M8 of the workflow design, each over random plans, inputs and times. */
import { describe, expect, it } from 'vitest';
import { decodeEntries, decodeSnapshot, encodeEntries, encodeSnapshot, loadRun } from '../journal/index.js';
import { drive, RUN_ID, start } from '../testing/drive.js';
import { plainState } from '../testing/plain-state.js';
import { check, giveAll, open, play } from '../testing/play.js';
import { CASES } from '../testing/random-plan.js';
import { advance, explainRun, explainStep, isClosed, stepAt, wakeAtUs } from './index.js';
import type { RunInput, RunState, StepState } from './index.js';

describe('M1 applying an input twice equals applying it once', () => {
  it('at once: the second time nothing changes and nothing is written', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        const context = { nowUs: run.nowUs, seed: run.seed, newId: () => RUN_ID };
        const once = run.give(input);
        const twice = advance(plan, once.state, [input], context);
        expect(twice.state).toBe(once.state);
        expect(twice.entries).toEqual([]);
        expect(twice.dispositions).toEqual(['ignored']);
      });
    });
  });

  it('in one tick: the same entries as alone', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        const context = { nowUs: run.nowUs, seed: run.seed, newId: () => RUN_ID };
        const doubled = advance(plan, run.state, [input, input], context);
        const once = run.give(input);
        expect(doubled.entries).toEqual(once.entries);
        expect(plainState(doubled.state)).toEqual(plainState(once.state));
      });
    });
  });

  it('any time later: starts, results, losses and cancels that were applied are ignored', () => {
    check((plan, sequence) => {
      const applied: RunInput[] = [];
      play(plan, sequence, (run, input) => {
        const kinds = ['start', 'result', 'sub_step', 'lost', 'cancel', 'signal'];
        if (run.give(input).dispositions[0] === 'applied' && kinds.includes(input.kind)) applied.push(input);
        const again = run.give(...applied);
        expect(again.dispositions.every((disposition) => disposition === 'ignored')).toBe(true);
      });
    });
  });
});

describe('M2 the fold of the entries equals the state advance returned', () => {
  it('through the bytes of the row, on every tick', () => {
    // The driver of these tests checks it on each tick and throws; here also over the whole journal.
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const loaded = loadRun({ tenantId: 'tenant', runId: RUN_ID, snapshot: null, rows: run.rows });
      expect(loaded === null ? null : plainState(loaded)).toEqual(plainState(run.state));
    });
  });
});

/** The transitions as the header of state.ts tells them, written down a second time. */
const MOVES = new Set([
  'PENDING>SCHEDULED',
  'SCHEDULED>RUNNING',
  ...['SCHEDULED', 'RUNNING'].flatMap((from) => [`${from}>COMPLETED`, `${from}>FAILED`, `${from}>BACKOFF`]),
  'BACKOFF>SCHEDULED',
  // Of a step with a child, which may fail and be told to end.
  ...['WAITING>FAILED', 'WAITING>WAITING'],
  ...['PENDING>WAITING', 'WAITING>COMPLETED', 'PENDING>COMPLETED', 'PENDING>FAILED', 'PENDING>SKIPPED'],
  ...['SCHEDULED>CANCELLING', 'RUNNING>CANCELLING'],
  ...['CANCELLING>COMPLETED', 'CANCELLING>FAILED', 'CANCELLING>CANCELLED'],
  ...['BACKOFF>CANCELLED', 'WAITING>CANCELLED'],
  ...['PENDING>OPEN', 'OPEN>OPEN', 'OPEN>CLOSING'],
  ...['OPEN', 'CLOSING'].flatMap((from) => [`${from}>FAILED`, `${from}>CANCELLED`]),
  'OPEN>COMPLETED',
  // By a termination alone.
  ...['SCHEDULED>CANCELLED', 'RUNNING>CANCELLED'],
]);
const STATUS_AFTER: Readonly<Record<string, string>> = {
  step_scheduled: 'SCHEDULED',
  step_running: 'RUNNING',
  step_completed: 'COMPLETED',
  attempt_failed: 'BACKOFF',
  step_failed: 'FAILED',
  step_waiting: 'WAITING',
  child_started: 'WAITING',
  child_told: 'WAITING',
  step_awaiting: 'WAITING',
  signal_taken: 'COMPLETED',
  approval_escalated: 'WAITING',
  step_skipped: 'SKIPPED',
  step_cancelling: 'CANCELLING',
  step_cancelled: 'CANCELLED',
  step_opened: 'OPEN',
  step_continuing: 'OPEN',
  step_closing: 'CLOSING',
  step_collected: 'COMPLETED',
};
const RUN_MOVES = new Set([
  ...['PENDING>RUNNING', 'PENDING>WAITING'],
  ...['RUNNING', 'WAITING'].flatMap((from) => [`${from}>RUNNING`, `${from}>WAITING`, `${from}>CANCELLING`]),
  ...['RUNNING', 'WAITING', 'CANCELLING'].flatMap((open_) => [`${open_}>PARKED`, `PARKED>${open_}`]),
  ...['RUNNING', 'WAITING', 'PENDING'].flatMap((from) => [
    ...[`${from}>COMPLETED`, `${from}>FAILED`, `${from}>CONTINUED`],
  ]),
  ...['RUNNING', 'WAITING'].flatMap((from) => [`${from}>PAUSED`, `${from}>TIMED_OUT`, `PAUSED>${from}`]),
  ...['PAUSED>PAUSED', 'PAUSED>PARKED', 'PAUSED>CANCELLING'],
  ...['RUNNING', 'WAITING', 'CANCELLING', 'PAUSED', 'PARKED'].map((from) => `${from}>TERMINATED`),
  ...['CANCELLING>CANCELLING', 'CANCELLING>CANCELLED', 'PARKED>PARKED'],
]);

describe('M3 no transition outside the table', () => {
  it('of a step', () => {
    check((plan, sequence) => {
      const at = new Map<string, string>();
      for (const fact of play(plan, sequence, giveAll).facts) {
        if (!('path' in fact) || 'index' in fact) continue;
        if (fact.kind === 'sub_step_completed') {
          expect(['SCHEDULED', 'RUNNING', 'CANCELLING', 'BACKOFF']).toContain(at.get(fact.path));
          continue;
        }
        const after = STATUS_AFTER[fact.kind] ?? '';
        expect(MOVES).toContain(`${at.get(fact.path) ?? 'PENDING'}>${after}`);
        at.set(fact.path, after);
      }
    });
  });

  it('of a run', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        const before = run.state;
        if (run.give(input).entries.length === 0) return;
        const after = run.state.status;
        // A resume, retry or cancel may let a run that was held go on to its end within the tick.
        const isReleased = input.kind === 'resume' || input.kind === 'retry';
        const isHeld = before.status === 'PARKED' || before.status === 'PAUSED';
        const goesOn = before.cancel ? 'CANCELLING' : 'RUNNING';
        const from = isHeld && isReleased ? goesOn : before.status;
        // So does a cancel of a run with nothing on workers.
        const last = input.kind === 'cancel' && (isHeld || after === 'CANCELLED') ? 'CANCELLING' : from;
        expect(RUN_MOVES).toContain(`${last}>${after}`);
      });
    });
  });
});

describe('a run that continues', () => {
  it('has one successor, which began in its last row, in its shard, and begins its steps with the next wake', () => {
    let continued = 0;
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        const { state, successor } = run.give(input);
        if (successor === null) return;
        continued += 1;
        const { chain, input: given, steps, atUs } = successor.state;
        expect(state).toMatchObject({ status: 'CONTINUED', continuedAs: successor.state.runId, output: null });
        expect(chain).toEqual({ chainId: state.runId, previousId: state.runId, no: 2 });
        expect([steps.size, atUs, successor.state.seq, wakeAtUs(successor.state)]).toEqual([
          0,
          state.atUs,
          1,
          state.atUs,
        ]);
        const step = [...state.steps.values()].findLast(({ path }) => stepAt(plan, path)?.type === 'CONTINUE_AS_NEW');
        expect(given).toEqual(step?.output);
        expect(explainRun(successor.state)?.message).toContain('begins in a moment');
        const context = { nowUs: atUs, seed: run.seed, newId: () => RUN_ID };
        const begun = advance(plan, successor.state, [{ kind: 'wake' }], context);
        expect(begun.dispositions).toEqual(['applied']);
        expect(isClosed(begun.state) || begun.state.steps.size > 0).toBe(true);
        expect(advance(plan, begun.state, [{ kind: 'wake' }], context).state).toBe(begun.state);
      });
    });
    expect(continued).toBeGreaterThan(5);
  });
});

describe('M4 a closed run accepts nothing', () => {
  it('whatever comes', () => {
    let closed = 0;
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        const before = run.state;
        const { state, entries, commands, dispositions } = run.give(input);
        if (!isClosed(before)) return;
        closed += 1;
        expect(state).toBe(before);
        expect([entries, commands, dispositions]).toEqual([[], [], ['ignored']]);
      });
    });
    expect(closed).toBeGreaterThan(CASES.numRuns);
  });
});

const OUTCOMES = ['step_completed', 'attempt_failed', 'step_failed', 'step_cancelled'];

describe('M5 each attempt of a step has exactly one outcome', () => {
  it('at most one while the run is open, one when it is closed', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const begun: string[] = [];
      const ended: string[] = [];
      for (const fact of run.facts) {
        if (!('attempt' in fact) || fact.attempt === 0) continue;
        if (fact.kind === 'step_scheduled') begun.push(`${fact.path} ${fact.attempt}`);
        if (OUTCOMES.includes(fact.kind)) ended.push(`${fact.path} ${fact.attempt}`);
      }
      expect(new Set(begun).size).toBe(begun.length);
      expect(new Set(ended).size).toBe(ended.length);
      expect(begun).toEqual(expect.arrayContaining(ended));
      if (isClosed(run.state)) expect(ended.toSorted()).toEqual(begun.toSorted());
    });
  });
});

const TIMEOUTS = ['timeout', 'total_timeout', 'schedule_to_start_timeout'];

describe('M6 no timer fires early', () => {
  it('waits, retries, timeouts and give-ups come at or after their time', () => {
    let fired = 0;
    check((plan, sequence) => {
      const due = new Map<string, number>();
      const run = play(plan, sequence, giveAll);
      const asksForRetry = sequence.some(({ input }) => input(run.state, run.nowUs).kind === 'retry');
      run.give({ kind: 'resume' });
      for (let round = 0; round < 5; round += 1) {
        run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
        run.give({ kind: 'wake' });
      }
      const isTerminated = run.state.status === 'TERMINATED';
      const [first] = run.facts;
      const runDueUs = first?.kind === 'run_started' ? first.deadlineUs : null;
      for (const fact of run.facts) {
        if (fact.kind === 'run_ending' && fact.status === 'TIMED_OUT') {
          expect(fact.atUs).toBeGreaterThanOrEqual(runDueUs ?? Number.POSITIVE_INFINITY);
        }
        // A sub-step changes no times.
        if (!('path' in fact) || fact.kind === 'sub_step_completed') continue;
        const dueUs = due.get(fact.path);
        const isTimer =
          (fact.kind === 'step_scheduled' && fact.attempt > 1) ||
          (fact.kind === 'step_completed' && stepAt(plan, fact.path)?.type === 'WAIT') ||
          (fact.kind === 'step_cancelled' && fact.abandoned && fact.attempt > 0 && !isTerminated) ||
          // A step that runs a body fails with the error of its item, one that waits for a signal without an attempt.
          ((fact.kind === 'attempt_failed' || (fact.kind === 'step_failed' && due.has(fact.path))) &&
            TIMEOUTS.includes(fact.error.code));
        if (isTimer) {
          fired += 1;
          expect(fact.atUs).toBeGreaterThanOrEqual(dueUs ?? Number.POSITIVE_INFINITY);
        }
        if (fact.kind === 'approval_escalated') continue;
        due.delete(fact.path);
        if ('deadlineUs' in fact && fact.deadlineUs !== null) due.set(fact.path, fact.deadlineUs);
        if ('wakeAtUs' in fact) due.set(fact.path, fact.wakeAtUs);
        // The attempt that a retry asks for waits for nothing.
        if ('retryAtUs' in fact) due.set(fact.path, asksForRetry ? 0 : fact.retryAtUs);
        if ('startByUs' in fact && fact.startByUs !== null) due.set(fact.path, fact.startByUs);
      }
    }, 2 * CASES.numRuns);
    expect(fired).toBeGreaterThan(CASES.numRuns);
  });

  it('a time that is not reached wakes nothing', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        run.give(input);
        const wakeUs = wakeAtUs(run.state);
        if (wakeUs === null || wakeUs <= run.state.atUs) return;
        const context = { nowUs: wakeUs - 1, seed: 1, newId: () => RUN_ID };
        expect(advance(plan, run.state, [{ kind: 'wake' }], context).dispositions).toEqual(['ignored']);
      });
    });
  });
});

const KINDS: Readonly<Record<string, string>> = {
  SCHEDULED: 'no_worker',
  RUNNING: 'running',
  BACKOFF: 'retry_wait',
  WAITING: 'timer',
  CANCELLING: 'stopping',
  OPEN: 'body',
  CLOSING: 'body',
};

function kindOf(state: RunState, step: StepState | undefined): string {
  if (state.parked !== null) return 'parked';
  if (state.paused !== null) return 'paused';
  if (step?.awaits) return step.awaits.approval === null ? 'signal' : 'approval';
  return step?.child ? 'child' : (KINDS[step?.status ?? ''] ?? 'none');
}

describe('M7 every open run has a reason to wait', () => {
  it('an open step with a reason in words; a time to wake when no worker is asked', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        run.give(input);
        const { state } = run;
        const reason = explainRun(state);
        if (isClosed(state)) {
          expect(reason).toBeNull();
          return;
        }
        for (const step of open(state)) expect(explainStep(state, step)).not.toBe('');
        expect(reason?.message).not.toBe('');
        expect(reason?.sinceUs).toBeGreaterThan(0);
        expect(reason?.kind).toBe(kindOf(state, state.steps.get(reason?.step ?? '')));
        if (state.parked !== null || state.paused !== null) return;
        expect(reason?.untilUs !== null || ['no_worker', 'child'].includes(reason.kind)).toBe(true);
        expect(state.steps.active + state.steps.waiting + state.steps.bodies).toBe(open(state).length);
        expect(open(state).length).toBeGreaterThan(0);
        const hasChild = open(state).some(({ child }) => child !== null);
        if (state.steps.active === 0 && !hasChild) expect(wakeAtUs(state)).not.toBeNull();
      });
    });
  });
});

describe('M8 the same journal gives the same state everywhere', () => {
  it('from the first row or from a snapshot after any row', () => {
    check((plan, sequence) => {
      const run = drive(plan);
      run.give(start());
      const snapshots = new Map<number, Uint8Array>([[run.state.seq, encodeSnapshot(run.state)]]);
      for (const { dtMs, input } of sequence) {
        run.nowUs += dtMs * 1000;
        run.give(input(run.state, run.nowUs));
        snapshots.set(run.state.seq, encodeSnapshot(run.state));
      }
      const key = { tenantId: 'tenant', runId: RUN_ID };
      for (const [seq, data] of snapshots) {
        const loaded = loadRun({ ...key, snapshot: { seq, data }, rows: run.rows.slice(seq) });
        expect(loaded === null ? null : plainState(loaded)).toEqual(plainState(run.state));
      }
    });
  });

  it('and the same next tick, byte by byte', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        const { seq } = run.state;
        const key = { tenantId: 'tenant', runId: RUN_ID, seq };
        const loaded = decodeSnapshot(key, encodeSnapshot(run.state)) ?? expect.fail('unreadable snapshot');
        const context = { nowUs: run.nowUs, seed: run.seed, newId: () => RUN_ID };
        const there = advance(plan, loaded, [input], context);
        const here = run.give(input);
        expect(Buffer.from(encodeEntries(there.entries)).equals(encodeEntries(here.entries))).toBe(true);
        expect(there.commands).toEqual(here.commands);
        expect(decodeEntries(encodeEntries(here.entries))).toHaveLength(here.entries.length);
      });
    });
  });
});
