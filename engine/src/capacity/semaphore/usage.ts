/** Semaphores: keys of a tenant under which only so many may be at work, or begin, at a time. */

/** What a step or run has to be granted before it begins. */
export type Want =
  /** Room for one more holder, of at most `limit`; held until the holder releases it. */
  | { readonly kind: 'concurrency'; readonly key: string; readonly limit: number }
  /** A beginning, of at most `limit` in each `perUs` microseconds, evenly spread; used up when it is granted. */
  | { readonly kind: 'rate'; readonly key: string; readonly limit: number; readonly perUs: number };

/** Names a semaphore. */
export interface SemaphoreKey {
  readonly tenantId: string;
  /** As keyOf makes it: rates and concurrency do not share keys. */
  readonly key: string;
}

/** Who asks, waits or holds: a step of a run, or with an empty path the run itself. */
export interface Holder {
  readonly tenantId: string;
  readonly runId: string;
  readonly path: string;
}

/** Somebody in line. */
export interface Waiter extends Holder {
  /** Names this asking: a later one of the same step has another. */
  readonly ticket: number;
  /** All it asked for; it is granted all or nothing. */
  readonly wants: readonly Want[];
  /** It was told that it may be its turn and has not asked again yet: nobody passes it. */
  readonly isCalled: boolean;
  /** When it was looked at last, it waited for another of its keys only: those behind it pass. */
  readonly isElsewhere: boolean;
  /** Since when, microseconds since 1970. */
  readonly sinceUs: number;
}

/** A semaphore as it stands, read under its lock. */
export interface SemaphoreUsage extends SemaphoreKey {
  /** Of a rate: when the next beginning may be, microseconds since 1970. */
  readonly nextAtUs: number;
  /** How many hold it, by the limit that each stated. */
  readonly holders: readonly { readonly limit: number; readonly count: number }[];
  /** Those among the holders that belong to runs of the batch. */
  readonly holds: readonly (Holder & { readonly limit: number })[];
  /** Who waits, the first ones of the line in order. */
  readonly line: readonly Waiter[];
  /** More wait behind them. */
  readonly isLonger: boolean;
  /** Those in line, also behind, that belong to runs of the batch. */
  readonly waits: readonly Holder[];
}

/** What has to be written, each at most once. */
export interface SemaphoreChanges {
  readonly semaphores: readonly (SemaphoreKey & {
    /** Smallest limit that a holder stated; 0: nobody holds it. */
    readonly limit: number;
    readonly held: number;
    readonly nextAtUs: number;
  })[];
  readonly holds: readonly (Holder & { readonly key: string; readonly limit: number; readonly sinceUs: number })[];
  readonly releases: readonly (Holder & { readonly key: string })[];
  /** In the order of the line. */
  readonly waits: readonly (Waiter & { readonly key: string })[];
  readonly leaves: readonly (Holder & { readonly key: string })[];
  readonly marks: readonly (Holder & {
    readonly key: string;
    readonly isCalled: boolean;
    readonly isElsewhere: boolean;
  })[];
}

/** What somebody who waits has to hear. */
export interface Turn {
  readonly to: Holder;
  readonly ticket: number;
  /** When it may begin, microseconds since 1970; null: it may be its turn, and it has to ask again. */
  readonly startAtUs: number | null;
}

/** The key under which a want is kept. */
export function keyOf({ kind, key }: Want): string {
  return `${kind === 'rate' ? 'r' : 'c'}/${key}`;
}

/** Name of a semaphore among those of all tenants. */
export function nameOf({ tenantId, key }: SemaphoreKey): string {
  return `${tenantId}/${key}`;
}
