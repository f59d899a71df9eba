/** The journal as people read it. */
import { formatTimestampUs, type Entry, type RunFailure, type Value, type ValueSource } from '../machine/index.js';
import { decodeEntries } from './entries-codec.js';

/** Values beyond this size are told by their size. */
const MAX_SHOWN_BYTES = 64 * 1024;

/** One fact of a run's history. */
export interface HistoryItem {
  /** Number of the journal row. */
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly atUs: number;
  /** Kind of entry. */
  readonly kind: Entry['kind'];
  /** Path of the step; empty when the run as a whole is meant. */
  readonly step: string;
  /** 0 when the entry names none. */
  readonly attempt: number;
  /** The rest, as plain JSON with names of the contract. */
  readonly detail: Readonly<Record<string, unknown>>;
}

function shownValue(value: Value): unknown {
  const { data, encoding } = value;
  if (encoding === 'json' && data.byteLength <= MAX_SHOWN_BYTES) {
    try {
      return JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8'));
    } catch {
      // A worker called it JSON and it is not: shown as any other opaque value.
    }
  }
  return { encoding, bytes: data.byteLength };
}

function shownSource(source: ValueSource | null): unknown {
  if (source === null) return null;
  if (source.kind === 'value') return shownValue(source.value);
  return { same_as: source.kind === 'runInput' ? 'input' : `steps.${source.path}.output` };
}

function shownError(error: RunFailure): unknown {
  const { code, message, step, attempt, retryable, stack } = error;
  return { code, message, step, attempt, retryable, ...(stack === '' ? {} : { stack }) };
}

/** A limit in time, where there is one. */
function by(us: number | null): { readonly deadline?: string } {
  return us === null ? {} : { deadline: formatTimestampUs(us) };
}

function detailOf(entry: Entry): Readonly<Record<string, unknown>> {
  switch (entry.kind) {
    case 'run_started': {
      const { familySlug, version, input, attributes } = entry;
      return { family_slug: familySlug, version, input: shownValue(input), attributes, ...by(entry.deadlineUs) };
    }
    case 'step_scheduled':
      return { ...(entry.input === null ? {} : { input: shownSource(entry.input) }), ...by(entry.startByUs) };
    case 'step_running':
      return { worker: entry.worker, deadline: formatTimestampUs(entry.deadlineUs) };
    case 'step_completed':
      return { output: shownValue(entry.output) };
    case 'attempt_failed':
      return {
        error: shownError(entry.error),
        retry_at: formatTimestampUs(entry.retryAtUs),
        ...(entry.progress === null ? {} : { progress: shownValue(entry.progress) }),
      };
    case 'step_failed':
    case 'run_failing':
      return { error: shownError(entry.error) };
    case 'step_waiting':
      return { wake_at: formatTimestampUs(entry.wakeAtUs) };
    case 'step_skipped':
      return {};
    case 'run_resumed':
      return entry.requestedBy === '' ? {} : { requested_by: entry.requestedBy };
    case 'step_cancelling':
      return { deadline: formatTimestampUs(entry.deadlineUs) };
    case 'step_cancelled':
      return { abandoned: entry.abandoned };
    case 'cancel_requested':
    case 'run_paused':
    case 'run_terminated':
      return { reason: entry.reason, requested_by: entry.requestedBy };
    case 'run_parked':
      return { code: entry.code, message: entry.message, ...(entry.step === '' ? {} : { step: entry.step }) };
    case 'run_compensating':
      return { steps: entry.steps };
    case 'run_ending':
    case 'run_closed': {
      const output = entry.output === null ? {} : { output: shownSource(entry.output) };
      return { state: entry.status, ...output, ...(entry.error === null ? {} : { error: shownError(entry.error) }) };
    }
  }
}

/** A journal row as stored. */
export interface JournalRow {
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly atUs: number;
  readonly entries: Uint8Array;
}

/** The facts of these rows, one item per entry, in order. Throws internal for rows a newer engine wrote. */
export function historyOf(rows: readonly JournalRow[]): readonly HistoryItem[] {
  return rows.flatMap(({ seq, atUs, entries }) =>
    decodeEntries(entries).map((entry) => ({
      seq,
      atUs,
      kind: entry.kind,
      step: 'path' in entry ? entry.path : '',
      attempt: 'attempt' in entry ? entry.attempt : 0,
      detail: detailOf(entry),
    })),
  );
}
