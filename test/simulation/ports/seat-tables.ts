/** What the server does to seats: reports, the look of each minute, and the books that are kept of both. */
import type { LearnedRow } from '../../../engine/src/routing/outcomes/sql/recipient-facts.js';
import type { GateLocks, MadeDecision } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type { GateDecision } from '../../../engine/src/workflow/coordinator/ports.js';
import type { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import { familyRuns } from '../../../engine/src/workflow/testing/memory-families.js';
import type { MemoryReport } from '../../../engine/src/workflow/testing/memory-seats.js';
import { SeatBook } from '../checks/seat-book.js';
import type { Sim } from '../core/sim.js';

/** See above. Each call is one transaction. */
export class SeatTables {
  readonly #book: SeatBook;

  constructor(
    readonly sim: Sim,
    readonly db: MemoryDatabase,
  ) {
    this.#book = new SeatBook(sim, db);
  }

  /** A batch of the gate lane was written. */
  committed({ families }: Pick<GateLocks, 'families'>, { reservations: { tenants } }: GateDecision): void {
    this.#book.decided(tenants.flatMap(({ made }) => made));
    this.#book.ended(families);
    this.#book.compare();
  }

  /** What waits in queues was decided. */
  looked(made: readonly MadeDecision[]): void {
    const seated = made.filter(({ ask, decision }) => ask.family !== undefined && decision.outcome === 'assigned');
    if (seated.length > 0) this.sim.marks.reach('seat_waited');
    this.#book.decided(made);
    this.#book.compare();
  }

  /** Somebody says how work went. */
  report(report: MemoryReport, early?: LearnedRow): void {
    const { seats, states } = this.db.reservations;
    this.#book.reported(report, seats.report(states, report, this.sim.nowUs, early));
  }

  /** Ends what families have left that came to their end outside of the gate lane. */
  sweep(): void {
    const left = this.db.reservations.endLeft((family) => familyRuns(this.db, family));
    if (left.length > 0) this.sim.marks.reach('seat_swept');
    this.#book.forget(left);
  }

  /** Seats and tiers of families that are left although nobody is open any more. */
  *left(): Generator<string> {
    const { seats } = this.db.reservations;
    for (const { owner, poolId } of seats.lasting) yield `family ${owner} has ended, and is bound in pool ${poolId}`;
  }
}
