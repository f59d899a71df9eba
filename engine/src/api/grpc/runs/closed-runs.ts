/**
 * Runs that ended here moments ago: who asks for a result just after the end is answered from memory. Bounded by count
 * and bytes; the oldest go first.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../kernel/index.js';
import type { RunFailure, RunKey, RunStatus, Value } from '../ports.js';

/** How a run ended; null: there is no such run. */
export type RunEnd = {
  readonly status: RunStatus;
  readonly output: Value | null;
  readonly error: RunFailure | null;
  /** The run that continues it; null: none. */
  readonly continuedAs: string | null;
} | null;

const KEPT_MS = 30_000;
const MAX_RUNS = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;

interface Entry {
  readonly tenantId: string;
  readonly end: RunEnd;
  readonly bytes: number;
  readonly untilMs: number;
}

/** The last runs that ended. A Map would find its oldest key ever more slowly: see RecentStarts. */
export class ClosedRuns {
  readonly #clock: Clock;
  /** In order of their end: reading moves nothing. */
  readonly #entries = new LRUCache<string, Entry>({
    max: MAX_RUNS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers an end. */
  add({ tenantId, runId }: RunKey, end: Exclude<RunEnd, null>): void {
    const bytes = 300 + (end.output?.data.length ?? 0) + (end.error?.stack.length ?? 0);
    const untilMs = this.#clock.monotonicMs() + KEPT_MS;
    this.#entries.set(runId, { tenantId, end, bytes, untilMs });
  }

  /** How the tenant's run ended; undefined when that is not known here. */
  get({ tenantId, runId }: RunKey): RunEnd | undefined {
    const entry = this.#entries.peek(runId);
    if (entry === undefined || entry.tenantId !== tenantId) return undefined;
    return entry.untilMs > this.#clock.monotonicMs() ? entry.end : undefined;
  }
}
