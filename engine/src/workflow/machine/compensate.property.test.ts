/** Compensations against a naive evaluator: what is undone, in which order, and that nothing runs beside it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CANCEL, closeChildren, completed, failed, RESUME, WAKE, type DrivenRun } from '../testing/drive.js';
import { giveAll, open, play } from '../testing/play.js';
import { acts } from '../testing/random-inputs.js';
import { CASES, plans } from '../testing/random-plan.js';
import { isClosed, wakeAtUs, type Plan } from './index.js';

/** Answers every open attempt until the run has ended; the picks say how, and whether somebody asks for the end. */
function toTheEnd(run: DrivenRun, picks: readonly number[]): void {
  for (let round = 0; !isClosed(run.state) && round < 300; round += 1) {
    const pick = picks[round % picks.length] ?? 0;
    if (run.state.parked !== null || run.state.paused !== null) run.give(RESUME);
    if (pick === 9) run.give(CANCEL);
    for (const { path, attempt, status } of open(run.state)) {
      if (status === 'BACKOFF' || status === 'WAITING') continue;
      run.give(pick % 3 === 0 && round < 100 ? failed(path, attempt) : completed(path, round, attempt));
    }
    closeChildren(run);
    run.nowUs = Math.max(run.nowUs, wakeAtUs(run.state) ?? 0);
    run.give(WAKE);
  }
}

/** The compensations that have to run, in order: by the journal, word for word as the documentation says it. */
function expected(plan: Plan, run: DrivenRun): readonly string[] {
  const place = (ref: string): number => plan.steps.findIndex((step) => step.ref === ref);
  const done = run.facts.flatMap((fact) =>
    ['step_completed', 'step_collected', 'signal_taken'].includes(fact.kind) &&
    'path' in fact &&
    plan.steps.some(({ compensates }) => compensates?.sourceRef === fact.path)
      ? [{ ref: fact.path, atUs: fact.atUs }]
      : [],
  );
  const latestFirst = done.toSorted((a, b) => b.atUs - a.atUs || place(b.ref) - place(a.ref));
  return latestFirst.map(({ ref }) => `u${ref.slice(1)}`);
}

describe('compensations', () => {
  it('undo exactly what completed, latest first, one at a time, of runs that neither complete nor continue', () => {
    const seen = { undone: 0, several: 0, failedUndoing: 0, cancelled: 0 };
    const picks = fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 20, size: 'max' });
    const property = fc.property(plans, acts, picks, (plan, sequence, picked) => {
      const run = play(plan, sequence, giveAll);
      toTheEnd(run, picked);
      const { state, facts } = run;
      expect(isClosed(state)).toBe(true);
      const undoing = facts.filter((fact) => 'path' in fact && fact.path.startsWith('u'));
      if (state.status === 'COMPLETED' || state.status === 'CONTINUED') {
        expect(undoing).toEqual([]);
        return;
      }
      const begun = [...new Set(undoing.map((fact) => ('path' in fact ? fact.path : '')))];
      const wanted = expected(plan, run);
      if (state.status === 'TERMINATED') {
        expect(wanted.slice(0, begun.length)).toEqual(begun);
        return;
      }
      expect(begun).toEqual(wanted);
      // One after another: the facts about one are not mixed with those about the next.
      const inTurn = undoing.filter((fact, at) => at === 0 || pathOf(fact) !== pathOf(undoing[at - 1]));
      expect(inTurn.length).toBe(begun.length);
      const from = facts.findIndex(({ kind }) => kind === 'run_compensating');
      for (const fact of from === -1 ? [] : facts.slice(from)) {
        if ('path' in fact) expect(fact.path.startsWith('u')).toBe(true);
      }
      const ended = begun.map((path) => state.steps.get(path)?.status ?? '');
      for (const status of ended) expect(['COMPLETED', 'FAILED', 'SKIPPED']).toContain(status);
      if (begun.length > 0) seen.undone += 1;
      if (begun.length > 1) seen.several += 1;
      if (ended.slice(0, -1).includes('FAILED')) seen.failedUndoing += 1;
      if (state.status === 'CANCELLED' && begun.length > 0) seen.cancelled += 1;
    });
    fc.assert(property, { ...CASES, numRuns: 700 });
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });
});

function pathOf(fact: object | undefined): string {
  return fact !== undefined && 'path' in fact ? String(fact.path) : '';
}
