/** What people ask about runs. Never behind a fence: any node answers for any run. */
import type { Holding, WaitingFor, Want } from '../../capacity/index.js';
import type { PayloadKey, RunHeader, RunKey, StoredPayload, StoredRun } from '../coordinator/ports.js';
import type { RunStatus } from '../machine/state.js';

/** Where a page of a list ended. */
export interface RunCursor {
  readonly startedAtUs: number;
  readonly runId: string;
}

/** A list of runs of a tenant, newest start first. */
export interface RunQuery {
  readonly tenantId: string;
  /** Only runs in this status. */
  readonly status?: RunStatus;
  /** Only runs of this workflow. */
  readonly familySlug?: string;
  /** Only runs that started at this time or later, microseconds since 1970. */
  readonly startedAfterUs?: number;
  /** Only runs that started before this time, microseconds since 1970. */
  readonly startedBeforeUs?: number;
  /** Only runs that have all of these; absent or empty: whatever they have. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Only runs below this one in its family. */
  readonly rootId?: string;
  /** Only runs that steps of this run started. */
  readonly parentId?: string;
  /** Only runs that have not ended. */
  readonly isOpen?: true;
  /** Where the page before ended; absent: from the newest. */
  readonly cursor?: RunCursor;
  /** Most runs of a page, at least 1. */
  readonly limit: number;
}

/** A page. */
export interface RunPage {
  readonly headers: readonly RunHeader[];
  /** Where to go on; null: this was the last page. */
  readonly next: RunCursor | null;
}

/** Reads of runs. All may throw database_unavailable; an id that is not a UUID is an unknown run. */
export interface RunReader {
  /** One run with its snapshot and rows. */
  get(tenantId: string, runId: string): Promise<StoredRun | undefined>;
  /** The runs that exist, in any order. */
  getMany(keys: readonly RunKey[]): Promise<readonly StoredRun[]>;
  /** The large values that exist, in any order. */
  payloads(keys: readonly PayloadKey[]): Promise<readonly StoredPayload[]>;
  /** Headers of a tenant's runs by start, newest first, then by run id. */
  list(query: RunQuery): Promise<RunPage>;
  /** Those of the runs that are closed. */
  closedAmong(keys: readonly RunKey[]): Promise<readonly RunKey[]>;
  /** Those of the runs that are there and not closed. */
  openAmong(keys: readonly RunKey[]): Promise<readonly RunKey[]>;
  /** The last run of the chain of this run: itself when nothing continues it. A run that is not there is answered. */
  lastOfChain(key: RunKey): Promise<RunKey>;
  /** What a step of a run, or with an empty path the run as a whole, stands in line for. */
  waiting(key: RunKey, path: string, wants: readonly Want[]): Promise<readonly WaitingFor[]>;
  /** What a chain, by its first run, holds of recipients; the first 200. */
  holding(tenantId: string, chainId: string): Promise<readonly Holding[]>;
  /** Journal rows after a seq (0: from the first), at most `limit`, whatever snapshots there are. */
  history(key: RunKey, afterSeq: number, limit: number): Promise<StoredRun['rows']>;
}
