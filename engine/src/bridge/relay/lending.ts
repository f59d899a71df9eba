/** How many credits of a worker other nodes may have. Pure arithmetic; relay-desk.ts moves them. */

/** A node that borrows, as the arithmetic sees it. */
export interface Borrower {
  /** Credits it has and has not used. */
  readonly lent: number;
  /** Slots of its tasks that run. */
  readonly running: number;
  /** Tasks that wait there and have no credit; 0: it asked for nothing since it got some. */
  readonly wants: number;
  /** It may be given credits. */
  readonly isTaking: boolean;
}

/** This part of a worker's slots, one at least, is never lent while it has several. */
const KEPT_PART = 4;

/** What a worker of so many slots may have lent at most; its own node keeps the rest for tasks that may come. */
function mostLent(slots: number): number {
  return slots <= 1 ? 1 : slots - Math.max(1, Math.floor(slots / KEPT_PART));
}

const held = ({ lent, running }: Borrower): number => lent + running;

/** What may be lent of the free credits now. */
function spare(free: number, slots: number, borrowers: readonly Borrower[]): number {
  const out = borrowers.reduce((sum, borrower) => sum + held(borrower), 0);
  return Math.max(0, Math.min(free, mostLent(slots) - out));
}

/**
 * Divides what the node has no use for among those who want: one after the other, so that all get about the same.
 * Returns what each gets, in their order.
 *
 * @param free credits that the worker has granted and nobody uses
 * @param slots slots of the worker when nothing runs
 */
export function shares(free: number, slots: number, borrowers: readonly Borrower[]): readonly number[] {
  const given = borrowers.map(() => 0);
  let left = spare(free, slots, borrowers);
  for (let gave = true; gave && left > 0;) {
    gave = false;
    for (const [at, { wants, isTaking }] of borrowers.entries()) {
      const has = given[at] ?? 0;
      if (left === 0 || !isTaking || has >= wants) continue;
      given[at] = has + 1;
      left -= 1;
      gave = true;
    }
  }
  return given;
}

/**
 * Who gets a credit before the node's own tasks: one that wants and has nothing at all, so that a worker who is never
 * idle works for all. -1: nobody.
 */
export function firstServed(free: number, slots: number, borrowers: readonly Borrower[]): number {
  if (spare(free, slots, borrowers) === 0) return -1;
  return borrowers.findIndex((borrower) => borrower.isTaking && borrower.wants > 0 && held(borrower) === 0);
}
