/** Lines of the board. */

/** What somebody has of a recipient. */
interface Having {
  /** The pool through which it was taken. */
  readonly poolId: string;
  readonly units: number;
  /** Since when, microseconds since 1970. */
  readonly sinceUs: number;
}

/** Who has units of a recipient: a reservation of a workflow, or an assignment. */
export type CapacityHolder =
  | (Having & {
      readonly kind: 'reservation';
      /** The run that selected, its step, and the run at the top of its family. */
      readonly runId: string;
      readonly path: string;
      readonly rootId: string;
    })
  | (Having & {
      readonly kind: 'assignment';
      readonly assignmentId: string;
      readonly decisionId: string;
      readonly routableId: string;
    });

/** A recipient of a pool, with what it can take and has taken in all its pools; units. */
export interface BoardLine {
  readonly poolId: string;
  readonly poolName: string;
  readonly recipientId: string;
  readonly recipientName: string;
  /** Names of the contract: STATUS_ACTIVE, RECIPIENT_STATE_AVAILABLE. */
  readonly status: string;
  readonly state: string;
  /** Live limits; 0: none. */
  readonly maxConcurrent: number;
  readonly dailyLimit: number;
  readonly held: number;
  readonly committed: number;
  /** Reserved and committed this UTC day. */
  readonly usedToday: number;
  /** The first ones, at most 10, longest first. */
  readonly holders: readonly CapacityHolder[];
  readonly holderCount: number;
}

/** What is left of a limit; undefined where there is none. A limit that was tightened below what is in use leaves 0. */
export function freeOf({ maxConcurrent, held, committed }: BoardLine): number | undefined {
  return maxConcurrent === 0 ? undefined : Math.max(0, maxConcurrent - held - committed);
}
