/** That work waits, or has waited, in queues of pools. */

/** Since when, and where. */
export interface Waited {
  /** The decision that queued it first. */
  readonly firstId: string;
  /** When that was made: from then on its time in queues counts. */
  readonly sinceUs: number;
  /** The pool in whose queue it is now; '': in that of no pool. Absent: in none, it has left them. */
  readonly queueOf?: string;
}

/** The same of work that has left the queues. */
export function hasWaited({ firstId, sinceUs }: Waited): Waited {
  return { firstId, sinceUs };
}
