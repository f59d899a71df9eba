/** Replays a decision from its record alone: the same function on the same input must write the same bytes. */
import { decide } from '../pipeline/decide.js';
import type { Decision } from '../pipeline/decision.js';
import { createRecordReader, readRecord, type Documents, type RecordReader } from './read-input.js';
import { writeRecord } from './write-record.js';

/** What a replay came to. */
export interface Replay {
  readonly decision: Decision;
  /** Whether the record of the replayed decision is the record, byte for byte. */
  readonly isSame: boolean;
  /** The record as the replay writes it. */
  readonly record: string;
}

/**
 * Replays a record. Needs no database, no clock and no app.
 *
 * @param documents those that the record names, by digest
 * @param reader keeps compiled documents; give the same one for many records
 * @throws DuctorError `invalid_argument` when it is no record, or a document is missing or was changed
 */
export function replay(record: string, documents: Documents, reader: RecordReader = createRecordReader()): Replay {
  const { input, engine } = readRecord(record, documents, reader);
  const decision = decide(input);
  const again = writeRecord(decision, engine);
  return { decision, isSame: again === record, record: again };
}

/** A record with all documents that it names: a file that can be replayed anywhere. */
export interface ExportedDecision {
  readonly record: string;
  readonly documents: Readonly<Record<string, unknown>>;
}

/** Replays an exported decision. Give the same reader for many: it keeps what it compiled. */
export function replayExported(exported: ExportedDecision, reader?: RecordReader): Replay {
  return replay(exported.record, new Map(Object.entries(exported.documents)), reader);
}
