/** M1 to M10 of the workflow design, each over random plans, inputs and times. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeEntries, decodeSnapshot, encodeEntries, encodeSnapshot, loadRun } from '../journal/index.js';
import { CANCEL, completed, drive, failed, RUN_ID, start, type DrivenRun } from '../testing/drive.js';
import { plainState } from '../testing/plain-state.js';
import { acts, type Act } from '../testing/random-inputs.js';
import { CASES, plans } from '../testing/random-plan.js';
import { advance, explainStep, isClosed, wakeAtUs } from './index.js';
import type { Plan, RunInput, RunState, StepState } from './index.js';

const TERMINAL = ['COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED'];

function isOpen({ status }: StepState): boolean {
  return !TERMINAL.includes(status);
}

function open(state: RunState): readonly StepState[] {
  return [...state.steps.values()].filter(isOpen);
}

/** Plays the actions on a started run; looks at every tick. */
function play(plan: Plan, sequence: readonly Act[], look: (run: DrivenRun, input: RunInput) => void = () => undefined) {
  const run = drive(plan);
  run.give(start({ n: 1 }));
  for (const { dtMs, input } of sequence) {
    run.nowUs += dtMs * 1000;
    run.seed += 1;
    look(run, input(run.state, run.nowUs));
  }
  return run;
}

const giveAll = (run: DrivenRun, input: RunInput): void => void run.give(input);

function check(property: (plan: Plan, sequence: readonly Act[]) => void): void {
  fc.assert(fc.property(plans, acts, property), CASES);
}

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
        const kinds = ['start', 'result', 'lost', 'cancel'];
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
  ...['PENDING>WAITING', 'WAITING>COMPLETED', 'PENDING>COMPLETED', 'PENDING>FAILED', 'PENDING>SKIPPED'],
  ...['SCHEDULED>CANCELLING', 'RUNNING>CANCELLING'],
  ...['CANCELLING>COMPLETED', 'CANCELLING>FAILED', 'CANCELLING>CANCELLED'],
  ...['BACKOFF>CANCELLED', 'WAITING>CANCELLED'],
]);
const STATUS_AFTER: Readonly<Record<string, string>> = {
  step_scheduled: 'SCHEDULED',
  step_running: 'RUNNING',
  step_completed: 'COMPLETED',
  attempt_failed: 'BACKOFF',
  step_failed: 'FAILED',
  step_waiting: 'WAITING',
  step_skipped: 'SKIPPED',
  step_cancelling: 'CANCELLING',
  step_cancelled: 'CANCELLED',
};
const RUN_MOVES = new Set([
  'PENDING>RUNNING',
  'PENDING>WAITING',
  ...['RUNNING', 'WAITING'].flatMap((from) => [`${from}>RUNNING`, `${from}>WAITING`, `${from}>CANCELLING`]),
  ...['RUNNING', 'WAITING', 'CANCELLING'].flatMap((open_) => [`${open_}>PARKED`, `PARKED>${open_}`]),
  ...['RUNNING', 'WAITING', 'PENDING'].flatMap((from) => [`${from}>COMPLETED`, `${from}>FAILED`]),
  ...['CANCELLING>CANCELLING', 'CANCELLING>CANCELLED', 'PARKED>PARKED'],
]);

describe('M3 no transition outside the table', () => {
  it('of a step', () => {
    check((plan, sequence) => {
      const at = new Map<string, string>();
      for (const fact of play(plan, sequence, giveAll).facts) {
        if (!('path' in fact)) continue;
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
        // A resume or cancel may let a parked run go on to its end within the tick.
        const from =
          before.status === 'PARKED' && input.kind === 'resume'
            ? before.cancel
              ? 'CANCELLING'
              : 'RUNNING'
            : before.status;
        const via = before.status === 'PARKED' && input.kind === 'cancel' ? 'CANCELLING' : from;
        // So does a cancel of a run with nothing on workers.
        const last = after === 'CANCELLED' && input.kind === 'cancel' ? 'CANCELLING' : via;
        expect(RUN_MOVES).toContain(`${last}>${after}`);
      });
    });
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

describe('M6 no timer fires early', () => {
  it('waits, retries, timeouts and give-ups come at or after their time', () => {
    let fired = 0;
    check((plan, sequence) => {
      const due = new Map<string, number>();
      const run = play(plan, sequence, giveAll);
      run.give({ kind: 'resume' });
      for (let round = 0; round < 5; round += 1) {
        run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
        run.give({ kind: 'wake' });
      }
      for (const fact of run.facts) {
        if (!('path' in fact)) continue;
        const dueUs = due.get(fact.path);
        const isTimer =
          (fact.kind === 'step_scheduled' && fact.attempt > 1) ||
          (fact.kind === 'step_completed' && plan.stepByRef.get(fact.path)?.type === 'WAIT') ||
          (fact.kind === 'step_cancelled' && fact.abandoned) ||
          ((fact.kind === 'attempt_failed' || fact.kind === 'step_failed') && fact.error.code === 'timeout');
        if (isTimer) {
          fired += 1;
          expect(fact.atUs).toBeGreaterThanOrEqual(dueUs ?? Number.POSITIVE_INFINITY);
        }
        due.delete(fact.path);
        if ('deadlineUs' in fact) due.set(fact.path, fact.deadlineUs);
        if ('wakeAtUs' in fact) due.set(fact.path, fact.wakeAtUs);
        if ('retryAtUs' in fact) due.set(fact.path, fact.retryAtUs);
      }
    });
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

describe('M7 every open run has a reason to wait', () => {
  it('an open step with a reason in words; a time to wake when no worker is asked', () => {
    check((plan, sequence) => {
      play(plan, sequence, (run, input) => {
        run.give(input);
        const { state } = run;
        if (isClosed(state)) return;
        for (const step of open(state)) expect(explainStep(state, step)).not.toBe('');
        if (state.parked !== null) return;
        expect(state.steps.active + state.steps.waiting).toBe(open(state).length);
        expect(open(state).length).toBeGreaterThan(0);
        if (state.steps.active === 0) expect(wakeAtUs(state)).not.toBeNull();
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

/** Workers that answer: every open attempt ends, time passes to the next wake; at most so many rounds. */
function letWorkersAnswer(run: DrivenRun, rounds: number): void {
  for (let round = 0; round < rounds && !isClosed(run.state); round += 1) {
    if (run.state.parked !== null) run.give({ kind: 'resume' });
    for (const { path, attempt, status } of open(run.state)) {
      if (status === 'BACKOFF' || status === 'WAITING') continue;
      run.give((round + attempt) % 3 === 0 ? failed(path, attempt) : completed(path, 1, attempt));
    }
    run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
    run.give({ kind: 'wake' });
  }
}

describe('M9 a run whose workers answer always ends', () => {
  it('whatever happened before', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      letWorkersAnswer(run, 8 * plan.steps.length);
      expect(isClosed(run.state)).toBe(true);
    });
  });
});

describe('M10 cancellation reaches every running step', () => {
  it('nothing begins after the request, and CANCELLED means that all ended', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const { commands, dispositions } = run.give(CANCEL);
      for (const { path, status, attempt } of open(run.state)) {
        expect(status).toBe('CANCELLING');
        const told = run.facts.some((fact) => fact.kind === 'step_cancelling' && fact.path === path);
        expect(told).toBe(true);
        if (dispositions[0] === 'applied') {
          expect(commands).toContainEqual({ kind: 'abort', path, attempt, reason: 'cancelled' });
        }
      }
      const asked = run.facts.findIndex(({ kind }) => kind === 'cancel_requested');
      const later = asked === -1 ? [] : run.facts.slice(asked).map(({ kind }) => kind);
      for (const kind of ['step_scheduled', 'step_waiting', 'step_skipped', 'attempt_failed'] as const) {
        expect(later).not.toContain(kind);
      }
      if (run.state.status === 'CANCELLED') expect(open(run.state)).toEqual([]);
    });
  });

  it('time alone ends it when no worker answers', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const wasClosed = isClosed(run.state);
      // A cancel ends parking; only a run that was being cancelled when it was parked needs the resume.
      run.give(run.state.cancel === null ? CANCEL : { kind: 'resume' });
      for (let round = 0; round < plan.steps.length && !isClosed(run.state); round += 1) {
        run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
        run.give({ kind: 'wake' });
      }
      expect(isClosed(run.state)).toBe(true);
      if (!wasClosed) expect(run.state.status).toBe('CANCELLED');
      const last = Math.max(0, ...[...run.state.steps.values()].map(({ dueAtUs }) => dueAtUs ?? 0));
      expect(last).toBe(0);
    });
  });
});

describe('totality', () => {
  it('advance answers every sequence of inputs, many in one tick too', () => {
    fc.assert(
      fc.property(plans, acts, fc.integer({ min: 1, max: 7 }), (plan, sequence, size) => {
        const run = drive(plan);
        for (let at = 0; at < sequence.length; at += size) {
          const batch = sequence.slice(at, at + size).map(({ input }) => input(run.state, run.nowUs));
          run.nowUs += (sequence[at]?.dtMs ?? 0) * 1000;
          const inputs = at === 0 ? [...batch, start(), ...batch] : batch;
          expect(run.give(...inputs).dispositions).toHaveLength(inputs.length);
        }
      }),
      CASES,
    );
  });
});
