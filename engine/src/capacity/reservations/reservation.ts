/**
 * What a selecting run holds of a recipient.
 *
 * States: (none) → held → (none). Held from the commit that shows the slate until the chain of the selecting run and
 * all that descends from it have ended; neither time nor a request to cancel ends it.
 * Invariants: 1. the reservations of a slate are there all or none; 2. a recipient's `held` is the sum of the units of
 * its reservations: both change in one transaction under the lock of its account; 3. a family's reservations change
 * under the lock of the family alone.
 */

/** A family, by the run at its top, which no step of another run started. */
export interface Family {
  readonly tenantId: string;
  readonly rootId: string;
}

/** A reservation. */
export interface Reservation extends Family {
  /** The first run of the chain that holds it. */
  readonly chainId: string;
  /** The run that selected, and its step. */
  readonly runId: string;
  readonly path: string;
  readonly poolId: string;
  readonly recipientId: string;
  /** Of the slate it belongs to, see slateDigest. */
  readonly digest: string;
  /** Place in the slate, from 0. */
  readonly place: number;
  readonly units: number;
  /** Limit that the version of the run pins, units; 0: none. */
  readonly pinned: number;
  /** When it was admitted, microseconds since 1970, and the UTC day of that, days since 1970. */
  readonly admittedAtUs: number;
  readonly day: number;
}

/** What belongs together. */
export type HeldSlate = Pick<Reservation, 'tenantId' | 'rootId' | 'chainId' | 'digest'>;

/** What changes of reservations. */
export interface ReservationChanges {
  readonly added: readonly Reservation[];
  readonly released: readonly Reservation[];
  /** Families in which nobody is open any more. */
  readonly ended: readonly Family[];
}

/** A family as text, for maps; sorts as families are locked. */
export function familyName({ tenantId, rootId }: Family): string {
  return `${tenantId}/${rootId}`;
}
