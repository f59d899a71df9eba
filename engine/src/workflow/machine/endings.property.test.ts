/** M9, M10 and totality of the workflow design, each over random plans, inputs and times. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CANCEL, closeChildren, completed, drive, failed, start, type DrivenRun } from '../testing/drive.js';
import { check, giveAll, open, play } from '../testing/play.js';
import { acts } from '../testing/random-inputs.js';
import { CASES, plans } from '../testing/random-plan.js';
import { isClosed, stepAt, wakeAtUs, type Plan } from './index.js';

/** Workers that answer: every open attempt ends, time passes to the next wake; at most so many rounds. */
function letWorkersAnswer(run: DrivenRun, rounds: number): void {
  for (let round = 0; round < rounds && !isClosed(run.state); round += 1) {
    if (run.state.parked !== null || run.state.paused !== null) run.give({ kind: 'resume' });
    for (const { path, attempt, status } of open(run.state)) {
      if (status === 'BACKOFF' || status === 'WAITING') continue;
      const fails = round * 2 < rounds && (round + attempt) % 3 === 0;
      run.give(fails ? failed(path, attempt) : completed(path, 1, attempt));
    }
    closeChildren(run);
    run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
    run.give({ kind: 'wake' });
  }
}

describe('M9 a run whose workers answer always ends', () => {
  it('whatever happened before', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      letWorkersAnswer(run, 40 * plan.stepByRef.size);
      expect(isClosed(run.state)).toBe(true);
    });
  });
});

/** Whether the fact is about a step that undoes another: those begin after the request. */
function isUndoing(plan: Plan, fact: object): boolean {
  return 'path' in fact && stepAt(plan, String(fact.path))?.compensates !== null;
}

describe('M10 cancellation reaches every running step', () => {
  it('nothing but compensations begins after the request, and CANCELLED means that all ended', () => {
    check((plan, sequence) => {
      const run = play(plan, sequence, giveAll);
      const toldBefore = new Set(open(run.state).flatMap(({ path, status }) => (status === 'CANCELLING' ? path : [])));
      const { commands, dispositions } = run.give(CANCEL);
      for (const step of open(run.state)) {
        const { path, status, attempt } = step;
        // A step that runs a body ends with what is under way of it.
        if (isUndoing(plan, step) || status === 'OPEN' || status === 'CLOSING') continue;
        if (step.child !== null) {
          // Its step has ended when it has; until then it has been told.
          expect(step.child.told).toBe(step.child.policy);
          const told = run.facts.filter((fact) => fact.kind === 'child_told' && fact.path === path);
          expect(told).toHaveLength(1);
          continue;
        }
        expect(status).toBe('CANCELLING');
        const told = run.facts.some((fact) => fact.kind === 'step_cancelling' && fact.path === path);
        expect(told).toBe(true);
        if (dispositions[0] === 'applied' && !toldBefore.has(path)) {
          expect(commands).toContainEqual({ kind: 'abort', path, attempt, reason: 'cancelled' });
        }
      }
      const asked = run.facts.findIndex(({ kind }) => kind === 'cancel_requested');
      const after = asked === -1 ? [] : run.facts.slice(asked).filter((fact) => !isUndoing(plan, fact));
      const later = after.map(({ kind }) => kind);
      for (const kind of ['step_scheduled', 'step_waiting', 'step_skipped', 'attempt_failed'] as const) {
        expect(later).not.toContain(kind);
      }
      if (run.state.status === 'CANCELLED') expect(open(run.state)).toEqual([]);
    });
  });

  it('time and its children end it when no worker answers and there is nothing to compensate', () => {
    check((drawn, sequence) => {
      const steps = drawn.steps.filter(({ compensates }) => compensates === null);
      const plan = {
        ...drawn,
        steps,
        stepByRef: new Map([...drawn.stepByRef].filter(([, { compensates }]) => compensates === null)),
      };
      const run = play(plan, sequence, giveAll);
      const wasClosed = isClosed(run.state);
      // A cancel ends parking; only a run whose end was decided when it was parked needs the resume.
      const isDecided = run.state.ending !== null && run.state.ending !== 'CONTINUED';
      run.give(run.state.cancel === null && !isDecided ? CANCEL : { kind: 'resume' });
      const { cancel, ending } = run.state;
      for (let round = 0; round < plan.stepByRef.size * 8 && !isClosed(run.state); round += 1) {
        closeChildren(run);
        run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
        run.give({ kind: 'wake' });
      }
      expect(isClosed(run.state)).toBe(true);
      if (!wasClosed) expect(run.state.status).toBe(cancel === null ? ending : 'CANCELLED');
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
