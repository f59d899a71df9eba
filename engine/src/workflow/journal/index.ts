/** The journal: entries, snapshots and mailbox bodies as bytes, loading and reading them. */
export { decodeEntries, encodeEntries, ENTRIES_FORMAT } from './entries-codec.js';
export { historyOf, type HistoryItem, type JournalRow } from './history.js';
export { decodeInput, encodeInput, type InboxInput } from './input-codec.js';
export { loadRun, openRun, type OpenRun, type StoredJournal } from './load.js';
export {
  PAYLOAD_BYTES,
  payloadShelf,
  payloadSink,
  type PayloadShelf,
  type PayloadSink,
  type PayloadWrite,
} from './payloads.js';
export {
  decodeSnapshot,
  encodeSnapshot,
  isSnapshotReadable,
  snapshotDue,
  SNAPSHOT_FORMAT,
  type SnapshotKey,
} from './snapshot-codec.js';
