/**
 * The workers of this node that are lent to other nodes: which worker to which node, and how many of its credits.
 *
 *   worker: joined -> (a relay to each of some nodes) -> ended
 *
 * Invariants:
 * 1. Only a worker with a stream of its own to this node is lent: one that another node lends us is not, so that a task
 *    takes one hop at most.
 * 2. A worker has at most one relay to a node; relays to a node are at most MAX_TO_NODE, and MAX_OF_TENANT of a tenant.
 * 3. Credits lent are credits the worker granted and nobody uses. Own tasks come first: what they wait for is called
 *    back, a part of the slots is never lent; but a node that has nothing at all of a worker gets every second credit
 *    until it has one.
 */
import type { Clock } from '../../kernel/index.js';
import type { BeatRequest, WorkerHello } from '../../gen/ductor/v1/bridge.js';
import { WorkerHello as WorkerHelloMessage, WorkRequest } from '../../gen/ductor/v1/bridge.js';
import type { Registrations } from '../session/register.js';
import type { Session } from '../session/session.js';
import { firstServed, shares } from './lending.js';
import type { PeerNode, RelayDialer, RelayOpening } from './ports.js';
import { Relay } from './relay.js';

/** What is counted. */
export interface RelayStats {
  /** Workers that are lent now, once for each node that has them. */
  readonly lending: number;
  /** Tasks of other nodes that workers of this node got, since the start. */
  readonly carried: number;
}

/** What the desk needs from the bridge. */
export interface RelayDeskParts {
  readonly clock: Clock;
  /** Tasks of this node wait for the worker and nobody of its kind has room. */
  readonly isStarving: (session: Session) => boolean;
}

/** A worker that may be lent. */
interface Lendable {
  readonly tenantId: string;
  readonly hello: WorkerHello;
  readonly workflows: Registrations['workflows'];
  /** By the id of the node. */
  readonly relays: Map<string, Relay>;
  /** Nodes that refused it, until when, monotonic ms. */
  readonly refusedUntil: Map<string, number>;
  /** The node's own tasks got a credit since a relay was served before them. */
  isTheirTurn: boolean;
}

/** Workers that are lent at once for one hint; the node says again what is still not served. */
const AT_ONCE = 4;
/** Relays to one node; one connection carries 100 streams. */
const MAX_TO_NODE = 90;
/** The same for one tenant. */
const MAX_OF_TENANT = 32;
/** A relay without a task for so long is ended. */
const REST_MS = 30_000;
/** How long a node that refused a worker is not offered it again. */
const REFUSED_MS = 2_000;

/** The desk. */
export class RelayDesk {
  readonly #parts: RelayDeskParts;
  readonly #workers = new Map<Session, Lendable>();
  #dialer: RelayDialer | null = null;
  #lending = 0;
  #carried = 0;
  #isDraining = false;

  constructor(parts: RelayDeskParts) {
    this.#parts = parts;
  }

  /** Says how to reach other nodes; before, no worker is lent. */
  attach(dialer: RelayDialer): void {
    this.#dialer = dialer;
  }

  stats(): RelayStats {
    return { lending: this.#lending, carried: this.#carried };
  }

  /** A worker is here. */
  joined(session: Session, hello: WorkerHello, { workflows }: Registrations): void {
    if (session.relayedBy !== null) return;
    const { tenantId } = session.principal;
    const [relays, refusedUntil] = [new Map(), new Map()];
    this.#workers.set(session, { tenantId, hello, workflows, relays, refusedUntil, isTheirTurn: true });
  }

  /** It is gone. */
  ended(session: Session): void {
    const worker = this.#workers.get(session);
    if (worker === undefined) return;
    this.#workers.delete(session);
    for (const relay of worker.relays.values()) relay.abandon();
    this.#lending -= worker.relays.size;
  }

  /** Lends some of these workers to the node, which lacks them. */
  offer(node: PeerNode, sessions: readonly Session[]): void {
    const dialer = this.#dialer;
    if (dialer === null || this.#isDraining) return;
    const nowMs = this.#parts.clock.monotonicMs();
    let [ofTenant, ofNode] = [0, 0];
    const tenantId = sessions[0]?.principal.tenantId;
    for (const worker of this.#workers.values()) {
      if (!worker.relays.has(node.nodeId)) continue;
      ofNode += 1;
      if (worker.tenantId === tenantId) ofTenant += 1;
    }
    let left = Math.min(AT_ONCE, MAX_TO_NODE - ofNode, MAX_OF_TENANT - ofTenant);
    for (const session of sessions) {
      const worker = this.#workers.get(session);
      if (left <= 0 || worker === undefined || !session.isOpen || worker.relays.has(node.nodeId)) continue;
      if ((worker.refusedUntil.get(node.nodeId) ?? 0) > nowMs) continue;
      left -= 1;
      this.#begin(dialer, session, worker, node);
    }
  }

  /** Takes what belongs to other nodes out of a message of a worker; returns the rest. */
  divert(session: Session, message: WorkRequest): WorkRequest {
    const worker = this.#workers.get(session);
    if (worker === undefined || worker.relays.size === 0) return message;
    let rest = message;
    for (const relay of [...worker.relays.values()]) {
      rest = relay.divert(rest);
      if (message.inventory !== undefined) relay.holds(message.inventory);
      if (message.draining) relay.close();
    }
    return rest;
  }

  /** Signs of life of a worker by another way than its stream. */
  beat(tenantId: string, { workerId, heartbeats }: BeatRequest): void {
    for (const worker of this.#workers.values()) {
      if (worker.relays.size === 0 || worker.tenantId !== tenantId || worker.hello.workerId !== workerId) continue;
      for (const relay of worker.relays.values()) relay.beat(heartbeats);
    }
  }

  /** Before own tasks are given out: a node that has nothing of a worker may come first. */
  beforeTurn(sessions: Iterable<Session>): void {
    if (this.#lending === 0) return;
    for (const session of sessions) {
      const worker = this.#workers.get(session);
      if (worker === undefined || worker.relays.size === 0 || !worker.isTheirTurn) continue;
      const relays = [...worker.relays.values()];
      const first = relays[firstServed(session.room(false), session.most, relays)];
      if (first === undefined || !this.#parts.isStarving(session)) continue;
      worker.isTheirTurn = false;
      first.lend(1);
    }
  }

  /** A task of this node was given to the worker. */
  served(session: Session): void {
    if (this.#lending === 0) return;
    const worker = this.#workers.get(session);
    if (worker !== undefined) worker.isTheirTurn = true;
  }

  /** After own tasks were given out: lends what is left, or calls back what own tasks wait for; sends. */
  afterTurn(sessions: Iterable<Session>): void {
    if (this.#lending === 0) return;
    for (const session of sessions) {
      const relays = [...(this.#workers.get(session)?.relays.values() ?? [])];
      if (relays.length === 0) continue;
      if (this.#parts.isStarving(session)) {
        for (const relay of relays) relay.callBack();
      } else {
        const given = shares(session.room(this.#isDraining), session.most, relays);
        for (const [at, relay] of relays.entries()) if ((given[at] ?? 0) > 0) relay.lend(given[at] ?? 0);
      }
      for (const relay of relays) relay.flush();
    }
  }

  /** Looks around, every now and then: ends what leads to nodes that are gone, or has had nothing to do for long. */
  look(liveNodeIds: ReadonlySet<string>): void {
    for (const [session, { relays, refusedUntil }] of this.#workers) {
      if (relays.size > 0) session.host.changed(session);
      for (const nodeId of refusedUntil.keys()) if (!liveNodeIds.has(nodeId)) refusedUntil.delete(nodeId);
      for (const [nodeId, relay] of relays) {
        if (liveNodeIds.has(nodeId)) relay.restAfter(REST_MS);
        else relay.giveUp();
      }
    }
  }

  /** This node goes away: nothing more is lent; what workers still say is passed on. */
  drain(): void {
    this.#isDraining = true;
    for (const { relays } of this.#workers.values()) for (const relay of [...relays.values()]) relay.close();
  }

  #begin(dialer: RelayDialer, session: Session, worker: Lendable, node: PeerNode): void {
    const relay = new Relay({
      ...{ clock: this.#parts.clock, session },
      dial: (holds, events) => dialer.dial(node, openingOf(worker, holds), events),
      ended: (ended, isRefused) => {
        if (worker.relays.get(node.nodeId) !== ended) return;
        worker.relays.delete(node.nodeId);
        this.#lending -= 1;
        if (isRefused) worker.refusedUntil.set(node.nodeId, this.#parts.clock.monotonicMs() + REFUSED_MS);
      },
      carried: () => (this.#carried += 1),
    });
    worker.relays.set(node.nodeId, relay);
    this.#lending += 1;
    relay.begin();
  }
}

/** What is said first to the node that borrows: the worker's hello, without what it has registered here. */
function openingOf({ tenantId, hello, workflows }: Lendable, inventory: WorkerHello['inventory']): RelayOpening {
  const { workerId, name, sdkVersion, slots, queues } = hello;
  const lent = WorkerHelloMessage.fromPartial({ workerId, name, sdkVersion, slots, queues, inventory });
  return {
    tenantId,
    workflows: workflows.map(({ familySlug, handlers, pinnedVersion }) => ({
      ...{ familySlug, handlers: [...handlers], version: pinnedVersion ?? 0 },
    })),
    work: WorkRequest.fromPartial({ hello: lent }),
  };
}
