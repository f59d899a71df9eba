/** A run as the tables in memory hold it. */
import type { RunHeader } from '../coordinator/ports.js';

interface StoredRow {
  readonly seq: number;
  readonly atUs: number;
  readonly entries: Uint8Array;
}

/** A run as the tables hold it. */
export interface MemoryRun {
  header: RunHeader;
  sealedUntilUs: number;
  snapshot: { readonly seq: number; readonly data: Uint8Array } | null;
  readonly rows: StoredRow[];
  /** Large values by digest in hex. */
  readonly payloads: Map<string, Uint8Array>;
}

/** A run without a row yet. */
export function newMemoryRun(header: RunHeader): MemoryRun {
  return { header, sealedUntilUs: 0, snapshot: null, rows: [], payloads: new Map() };
}
