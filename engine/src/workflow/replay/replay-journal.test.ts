/** What a run wrote is what the machine makes of the facts in it, row by row; what was changed by hand is found. */
import { describe, expect, it } from 'vitest';
import { decodeEntries, type JournalRow } from '../journal/index.js';
import type { Entry, Plan } from '../machine/index.js';
import { jsonValue } from '../machine/index.js';
import type { ToldAnswer } from '../machine/inputs.js';
import type { Unqueued } from '../machine/routing-work.js';
import { CLOSED_GATE } from '../machine/tick.js';
import { CANCEL, completed, drive, RUN_ID, start, WAKE } from '../testing/drive.js';
import { check, giveAll, play } from '../testing/play.js';
import { edge, planOf } from '../testing/plan-builder.js';
import { replayJournal, type ReplayRow } from './replay-journal.js';

const KEY = { tenantId: 'tenant', runId: RUN_ID };

function opened(rows: readonly JournalRow[]): readonly ReplayRow[] {
  return rows.map((row) => ({ ...row, entries: decodeEntries(row.entries) }));
}

function branching(): Plan {
  return planOf({
    steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } },
    edges: [edge('a', 'b'), edge('a', 'c', 'FAILURE')],
  });
}

function finished(): readonly ReplayRow[] {
  const run = drive(branching());
  run.give(start({ n: 1 }));
  run.give(completed('a', 1));
  run.give(completed('b', 2));
  expect(run.state.status).toBe('COMPLETED');
  return opened(run.rows);
}

describe('replay of a journal', () => {
  it('says of whatever a run went through that it is the same', () => {
    check((plan, sequence) => {
      const { rows, state } = play(plan, sequence, giveAll);
      const replay = replayJournal(plan, KEY, opened(rows));
      expect(replay.difference).toBeNull();
      expect(replay.state.status).toBe(state.status);
    });
  });

  it.each(['assigned', 'dead_lettered', 'too late', 'settling', 'cancelled'])(
    'says the same of a step whose work waited and was %s',
    (end) => {
      const plan = planOf({ steps: { desk: { type: 'ROUTE', deadlineUs: (_, nowUs) => nowUs + 1_000_000 } } });
      const run = drive(plan);
      const unqueue = (): Unqueued => (end === 'settling' ? 'ended' : 'withdrawn');
      run.gate = { ...CLOSED_GATE, route: () => ({ kind: 'waiting', workId: 'work', poolId: 'pool' }), unqueue };
      run.give(start());
      const told = (answer: ToldAnswer) => run.give({ kind: 'route_told', path: 'desk', workId: 'work', answer });
      const routed = { kind: 'routed', output: jsonValue({ outcome: 'assigned' }) } as const;
      if (end === 'assigned') told(routed);
      if (end === 'dead_lettered') told({ kind: 'failed', code: end, message: 'nobody', isRetryable: false });
      if (end === 'cancelled') run.give(CANCEL);
      if (end === 'too late' || end === 'settling') {
        run.nowUs += 1_000_000;
        run.give(WAKE);
      }
      if (end === 'settling') told(routed);
      expect(run.state.closedAtUs).not.toBeNull();
      expect(replayJournal(plan, KEY, opened(run.rows)).difference).toBeNull();
    },
  );

  it('names the row in which a plan decides otherwise', () => {
    const plan = planOf({
      steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' }, c: { type: 'CALLBACK' } },
      edges: [edge('a', 'c'), edge('a', 'b', 'FAILURE')],
    });
    const { difference } = replayJournal(plan, KEY, finished());
    expect(difference).toMatchObject({ seq: 2, problem: '' });
    expect(difference?.replayed).toContainEqual(expect.objectContaining({ kind: 'step_scheduled', path: 'c' }));
  });

  it('names the row that was changed', () => {
    const rows = finished();
    const skipped: Entry = { kind: 'step_skipped', path: 'b' };
    const changed = rows.map((row) => (row.seq === 2 ? { ...row, entries: [...row.entries, skipped] } : row));
    expect(replayJournal(branching(), KEY, changed).difference).toMatchObject({ seq: 2 });
    const gap = rows.filter(({ seq }) => seq !== 2);
    expect(replayJournal(branching(), KEY, gap).difference?.seq).toBe(3);
  });
});
