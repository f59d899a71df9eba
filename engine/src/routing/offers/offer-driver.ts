/**
 * Looks at offers when their time has run out or they were declined, and has the work offered to the next recipient.
 *
 * An offer: waiting -> taken | over | declined -> routed on. Every node looks; one that takes an offer has it for a
 * while. Invariants: 1. an offer that nobody has taken in time is declined under the lock of its account, so that it is
 * either taken or not; 2. work is routed on under a key of idempotency that its offer names: whoever does it after a
 * node that died gets the same decision; 3. an offer takes no capacity, so there is none to give back.
 */
import type { Assignments } from '../../capacity/index.js';
import { DuctorError, type ErrorCode } from '../../kernel/index.js';
import { BATCH, DueDriver, NOBODY, type DueDriverParts } from '../due/due-driver.js';
import type { RouteCall, Routed } from '../lane/route-call.js';
import { isRouteAsk, moreUrgent } from '../sla/late-ask.js';
import { readRaised } from '../sla/sql/clocks.js';
import { endOffers, takeDueOffers, type DueOffer } from './sql/offers.js';

/** Errors that come again with the same work. */
const FINAL: readonly ErrorCode[] = ['unimplemented', 'invalid_argument', 'idempotency_conflict', 'not_found'];
const METHOD = '/ductor.v1.AssignmentService/DeclineAssignment';

/** What became of an offer. */
export interface OfferEvent {
  readonly kind: 'timed_out' | 'routed_on' | 'given_up';
  readonly offer: DueOffer;
  /** Outcome of the decision that routed it on; the error where there is none. */
  readonly outcome: string;
}

/** What it works with. */
export interface OfferDriverParts extends DueDriverParts {
  readonly assignments: Pick<Assignments, 'act'>;
  readonly route: (call: RouteCall) => Promise<Routed>;
  /** Told once it is committed. */
  readonly onEvent: (event: OfferEvent) => void;
}

/** An offer that is over; null: no decision followed. */
interface Ended {
  readonly tenantId: string;
  readonly assignmentId: string;
  readonly decisionId: string | null;
}

/** See above. */
export class OfferDriver extends DueDriver<OfferDriverParts> {
  constructor(parts: OfferDriverParts) {
    super(parts, 'offers');
  }

  protected async batch(): Promise<number> {
    const due = await takeDueOffers(this.parts.db, BATCH);
    const waiting = due.filter(({ state }) => state === 'offered');
    const declined = [...due.filter(({ state }) => state === 'declined'), ...(await this.#declineAll(waiting))];
    const isOver = ({ state }: DueOffer): boolean => state !== 'offered' && state !== 'declined';
    const raised = await readRaised(this.parts.db, declined);
    const ended = await Promise.all(declined.map((offer) => this.#routeOn(offer, raised.get(offer.assignmentId))));
    const over = due.filter(isOver).map((offer): Ended => ({ ...offer, decisionId: null }));
    await endOffers(this.parts.db, [...over, ...ended.flatMap((each) => each ?? [])]);
    return due.length;
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
  async #routeOn(offer: DueOffer, raisedBy = 0): Promise<Ended | undefined> {
    const { tenantId, assignmentId, again } = offer;
    if (!isRouteAsk(again)) return { tenantId, assignmentId, decisionId: null };
    try {
      const ask = { ...again, routable: moreUrgent(again.routable, raisedBy) };
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
