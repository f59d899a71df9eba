/** What the journal of a database says about attempts, read row by row and not through the engine's API. */
import type { Queryable } from '../../engine/src/store/index.js';
import { decodeEntries } from '../../engine/src/workflow/journal/index.js';

/** Everything a test asks of one run's journal. */
export interface RunFacts {
  readonly runId: string;
  /** Final state; "" while it is open. */
  readonly closed: string;
  /** Rows that close it. */
  readonly closings: number;
  /** Numbers of its rows. */
  readonly seqs: readonly number[];
  /** How often each "path/attempt" was scheduled. */
  readonly scheduled: ReadonlyMap<string, number>;
  /** How many outcomes each "path/attempt" has. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** Code and message when it was parked. */
  readonly parked: string;
}

interface JournalRow extends Record<string, unknown> {
  readonly run_id: string;
  readonly seq: number;
  readonly entries: Buffer;
}

/** Entries that settle an attempt; attempt 0 is the engine's own doing and counts as well. */
const OUTCOMES = new Set(['step_completed', 'attempt_failed', 'step_failed', 'step_cancelled']);

/** Reads the whole journal. */
export async function readJournal(db: Queryable): Promise<readonly RunFacts[]> {
  const { rows } = await db.query<JournalRow>(
    'select run_id::text as run_id, seq, entries from ductor.run_journal order by run_id, seq',
  );
  const byRun = new Map<string, JournalRow[]>();
  for (const row of rows) byRun.set(row.run_id, [...(byRun.get(row.run_id) ?? []), row]);
  return [...byRun].map(([runId, own]) => factsOf(runId, own));
}

function factsOf(runId: string, rows: readonly JournalRow[]): RunFacts {
  const scheduled = new Map<string, number>();
  const outcomes = new Map<string, number>();
  let closed = '';
  let closings = 0;
  let parked = '';
  const count = (in_: Map<string, number>, key: string): void => void in_.set(key, (in_.get(key) ?? 0) + 1);
  for (const entry of rows.flatMap((row) => decodeEntries(row.entries))) {
    if (entry.kind === 'step_scheduled') count(scheduled, `${entry.path}/${entry.attempt}`);
    if (OUTCOMES.has(entry.kind) && 'path' in entry && 'attempt' in entry)
      count(outcomes, `${entry.path}/${entry.attempt}`);
    if (entry.kind === 'run_parked') parked = `${entry.code}: ${entry.message}`;
    if (entry.kind !== 'run_closed') continue;
    closed = entry.status;
    closings += 1;
  }
  return { runId, closed, closings, seqs: rows.map(({ seq }) => seq), scheduled, outcomes, parked };
}

/**
 * Everything that contradicts "one recorded outcome per (step path, attempt), closed once, no gap": empty when all is
 * well.
 */
export function contradictions(runs: readonly RunFacts[]): readonly string[] {
  return runs.flatMap((run) => {
    const found: string[] = [];
    const say = (what: string): void => void found.push(`run ${run.runId}: ${what}`);
    if (run.closings > 1) say(`closed ${run.closings} times`);
    if (run.seqs.some((seq, index) => seq !== index + 1)) say(`rows ${run.seqs.join()} have a gap`);
    for (const [key, times] of run.scheduled) if (times !== 1) say(`attempt ${key} was scheduled ${times} times`);
    for (const [key, times] of run.outcomes) if (times !== 1) say(`attempt ${key} has ${times} outcomes`);
    if (run.closed === '') return found;
    for (const key of run.scheduled.keys()) if (!run.outcomes.has(key)) say(`attempt ${key} has no outcome`);
    return found;
  });
}
