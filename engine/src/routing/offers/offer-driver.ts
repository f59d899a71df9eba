/**
 * Looks at offers when their time has run out or they were declined, and has the work offered to the next recipient.
 *
 *   new -> idle <-> turning -> stopped
 *
 * An offer: waiting -> taken | over | declined -> routed on. Every node looks; one that takes an offer has it for a
 * while. Invariants: 1. an offer that nobody has taken in time is declined under the lock of its account, so that it is
 * either taken or not; 2. work is routed on under a key of idempotency that its offer names: whoever does it after a
 * node that died gets the same decision; 3. an offer takes no capacity, so there is none to give back.
 */
import type { Assignments } from '../../capacity/index.js';
import { DuctorError, repeating, type Clock, type ErrorCode, type Repeating } from '../../kernel/index.js';
import type { Database } from '../../store/index.js';
import { DueWork } from '../due/due-work.js';
import type { RouteCall, Routed } from '../lane/route-call.js';
import { isRouteAsk } from '../sla/late-ask.js';
import { endOffers, takeDueOffers, type DueOffer } from './sql/offers.js';

/** Most offers of one turn at a time. */
const BATCH = 200;
const LOOK_MS = 1_000;
/** Errors that come again with the same work. */
const FINAL: readonly ErrorCode[] = ['unimplemented', 'invalid_argument', 'idempotency_conflict', 'not_found'];
/** Who does it, in the audit trail. */
const NOBODY = '00000000-0000-0000-0000-000000000000';
const METHOD = '/ductor.v1.AssignmentService/DeclineAssignment';

/** What became of an offer. */
export interface OfferEvent {
  readonly kind: 'timed_out' | 'routed_on' | 'given_up';
  readonly offer: DueOffer;
  /** Outcome of the decision that routed it on; the error where there is none. */
  readonly outcome: string;
}

/** What it works with. */
export interface OfferDriverParts {
  readonly db: Database;
  readonly clock: Clock;
  /** Says whether there is anything to look at. Default: one that nobody shares. */
  readonly due?: DueWork;
  readonly assignments: Pick<Assignments, 'act'>;
  readonly route: (call: RouteCall) => Promise<Routed>;
  /** Told once it is committed. */
  readonly onEvent: (event: OfferEvent) => void;
  readonly onError: (error: unknown) => void;
}

/** An offer that is over; null: no decision followed. */
interface Ended {
  readonly tenantId: string;
  readonly assignmentId: string;
  readonly decisionId: string | null;
}

/** See above. */
export class OfferDriver {
  readonly #looks: Repeating;
  readonly #due: DueWork;

  constructor(readonly parts: OfferDriverParts) {
    this.#due = parts.due ?? new DueWork(parts.db, parts.clock);
    this.#looks = repeating(parts.clock, LOOK_MS, () => this.turn(), parts.onError);
  }

  start(): void {
    this.#looks.start();
  }

  /** Resolves when nothing of it is under way. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Looks at everything that is due; returns how many offers that were. */
  async turn(): Promise<number> {
    if (!(await this.#due.has('offers'))) return 0;
    for (let count = 0; ;) {
      const due = await takeDueOffers(this.parts.db, BATCH);
      count += due.length;
      const waiting = due.filter(({ state }) => state === 'offered');
      const declined = [...due.filter(({ state }) => state === 'declined'), ...(await this.#declineAll(waiting))];
      const isOver = ({ state }: DueOffer): boolean => state !== 'offered' && state !== 'declined';
      const ended = await Promise.all(declined.map((offer) => this.#routeOn(offer)));
      const over = due.filter(isOver).map((offer): Ended => ({ ...offer, decisionId: null }));
      await endOffers(this.parts.db, [...over, ...ended.flatMap((each) => each ?? [])]);
      if (due.length < BATCH || this.#looks.isStopped) return count;
    }
  }

  /** Declines offers whose time has run out; returns those that nobody has taken meanwhile. */
  async #declineAll(waiting: readonly DueOffer[]): Promise<readonly DueOffer[]> {
    const declined: DueOffer[] = [];
    for (const tenantId of new Set(waiting.map((offer) => offer.tenantId))) {
      const own = waiting.filter((offer) => offer.tenantId === tenantId);
      const by = { tenantId, principalId: NOBODY, name: 'offers', scopes: new Set<never>() };
      const reason = 'nobody answered the offer in time';
      const actions = own.map(({ assignmentId }) => ({ assignmentId, verb: 'decline' as const, reason }));
      const results = await this.parts.assignments.act({ by, method: METHOD }, actions);
      for (const [index, offer] of own.entries()) {
        const result = results[index];
        // Taken at the last moment: its answer has ended it.
        if (result === undefined || result instanceof DuctorError) continue;
        declined.push(offer);
        this.parts.onEvent({ kind: 'timed_out', offer, outcome: 'declined' });
      }
    }
    return declined;
  }

  /** Has the work routed to the next one. Undefined: it is to be tried again. */
  async #routeOn(offer: DueOffer): Promise<Ended | undefined> {
    const { tenantId, assignmentId, again: ask } = offer;
    if (!isRouteAsk(ask)) return { tenantId, assignmentId, decisionId: null };
    try {
      const idempotencyKey = `offer/${assignmentId}`;
      const { stored } = await this.parts.route({ tenantId, principalId: NOBODY, ask, idempotencyKey });
      if (stored.outcomeClass === 'infrastructure') return undefined;
      this.parts.onEvent({ kind: 'routed_on', offer, outcome: stored.outcome });
      return { tenantId, assignmentId, decisionId: stored.decisionId };
    } catch (error) {
      const { code } = DuctorError.from(error);
      this.parts.onError(error);
      // Anything else comes to the same the next time.
      if (!FINAL.includes(code)) return undefined;
      this.parts.onEvent({ kind: 'given_up', offer, outcome: code });
      return { tenantId, assignmentId, decisionId: null };
    }
  }
}
