/** Replays an exported run: all there is of it, and no database. */
import { createHash } from 'node:crypto';
import { DuctorError } from '../../kernel/index.js';
import type { CelCompiler } from '../../expressions/index.js';
import { compilePlan, validateDefinition } from '../definition/index.js';
import {
  decodeEntries,
  encodeEntries,
  historyOf,
  payloadShelf,
  type HistoryItem,
  type JournalRow,
} from '../journal/index.js';
import type { Entry, Plan, RunStatus } from '../machine/index.js';
import { replayJournal } from './replay-journal.js';

/** A run as it was exported. */
export interface RunBundle {
  readonly runId: string;
  /** The version that it executed. */
  readonly version: number;
  /** Its definition, as JSON. */
  readonly definition: unknown;
  /** SHA-256 of the canonical definition, hex; null: whatever it is. */
  readonly digest: string | null;
  readonly rows: readonly JournalRow[];
  /** Large values by the SHA-256 of their bytes, hex. */
  readonly payloads: ReadonlyMap<string, Uint8Array>;
}

/** A row of which the machine makes something else. */
export interface BundleDifference {
  readonly seq: number;
  /** What the row says, and what it would say now. */
  readonly recorded: readonly HistoryItem[];
  readonly replayed: readonly HistoryItem[];
  /** Why the row cannot be replayed; empty: it can. */
  readonly problem: string;
}

/** What a replay came to. */
export interface BundleReplay {
  readonly rows: number;
  /** State of the run after the last row that is the same. */
  readonly status: RunStatus;
  /** Null: every row is the same. */
  readonly difference: BundleDifference | null;
}

function refuse(path: string, problem: string, remedy: string): never {
  const details = [{ path, value: '', problem, remedy }];
  throw new DuctorError('invalid_argument', `the bundle is not whole: ${path} ${problem}`, { details, remedy });
}

/** The plan of the bundle. Throws invalid_definition with all problems, invalid_argument when it was changed. */
function planOf({ definition: json, version, digest }: RunBundle, cel: CelCompiler): Plan {
  const { definition, problems } = validateDefinition(json, cel);
  if (definition === undefined || problems.length > 0) {
    throw new DuctorError('invalid_definition', `the definition has ${problems.length} problems`, {
      details: problems,
      remedy: 'Give one that can be published.',
    });
  }
  const plan = compilePlan(definition, version, cel);
  if (digest === null || plan.digest === digest) return plan;
  return refuse('definition', `is not the one of digest ${digest}`, 'Export the run again.');
}

function checkPayloads(payloads: ReadonlyMap<string, Uint8Array>): void {
  for (const [digest, data] of payloads) {
    if (createHash('sha256').update(data).digest('hex') === digest) continue;
    refuse('payload', `${digest} has other bytes`, 'Export the run again.');
  }
}

/** Entries as people read them. */
function shown(seq: number, entries: readonly Entry[]): readonly HistoryItem[] {
  return historyOf([{ seq, atUs: 0, entries: encodeEntries(entries) }]);
}

/**
 * Replays a bundle.
 *
 * @throws invalid_definition, and invalid_argument for a bundle of which something is missing or was changed
 */
export function replayBundle(bundle: RunBundle, cel: CelCompiler): BundleReplay {
  const { runId, payloads } = bundle;
  const plan = planOf(bundle, cel);
  checkPayloads(payloads);
  const shelf = payloadShelf(runId, payloads);
  const rows = bundle.rows.map(({ seq, atUs, entries }) => ({ seq, atUs, entries: decodeEntries(entries, shelf) }));
  const [missing] = shelf.missing.keys();
  if (missing !== undefined) refuse('payload', `${missing} is missing`, 'Export the run again.');
  const { difference, state, rows: count } = replayJournal(plan, { tenantId: '', runId }, rows);
  if (difference === null) return { rows: count, status: state.status, difference };
  const { seq, recorded, replayed, problem } = difference;
  const both = { recorded: shown(seq, recorded), replayed: shown(seq, replayed) };
  return { rows: count, status: state.status, difference: { seq, ...both, problem } };
}
