/**
 * Stands before the service of nodes: who comes must show a pass that another node of this cluster has made for this
 * one (bridge/relay/pass.ts). Keys open nothing here, and passes nothing elsewhere.
 *
 * Invariants:
 * 1. Default deny: no pass, a pass that is not genuine, for another node, old or shown before, and a sender that is no
 *    live node of the cluster are refused alike.
 * 2. A stream ends when its sender is a live node no more.
 */
import { DuctorError, impossible, type Clock, type Timer } from '../../kernel/index.js';
import { PASS_KEY, type PeerNode, type RelayPasses } from '../../bridge/index.js';
import { permissionOf, type Principal } from '../../tenancy/index.js';
import type { Report } from './errors/report.js';
import { toStatus, type CallStatus } from './errors/to-status.js';
import type { CallMetadata } from './guard.js';

/** What it needs. */
export interface NodeGuardOptions {
  readonly clock: Clock;
  readonly passes: Pick<RelayPasses, 'check'>;
  readonly coordinator: {
    /** Null: this node is no member of the cluster now. */
    nodeId(): string | null;
    liveNodes(): readonly PeerNode[];
  };
  readonly report: Report;
}

/** How often it is looked whether the sender of a stream lives, ms. */
const LOOK_MS = 1_000;

/** Checks the nodes that call one method. */
export class NodeGuard {
  readonly #options: NodeGuardOptions;

  /** Throws internal when a key could open the method. */
  constructor(
    readonly method: string,
    options: NodeGuardOptions,
  ) {
    if (permissionOf(method) !== undefined) impossible('node-method-open', `${method} is in the permission table`);
    this.#options = options;
  }

  /** The node that calls, for a tenant. Throws unauthenticated. */
  enter(metadata: CallMetadata): Principal {
    const { passes, coordinator, clock } = this.#options;
    const shown = metadata.get(PASS_KEY);
    const text = shown.length === 1 ? shown[0]?.toString() : undefined;
    const { tenantId, sender } = passes.check(text, coordinator.nodeId(), clock.nowUs());
    if (!this.#isLive(sender)) throw new DuctorError('unauthenticated', 'the sender is no live node of the cluster');
    return { tenantId, principalId: sender, name: `node ${sender}`, scopes: new Set(['bridge:work'] as const) };
  }

  /**
   * Looks again and again whether the sender lives.
   *
   * @param onRefused called once when it does not
   * @returns how to stop
   */
  watch(_metadata: CallMetadata, onRefused: (error: unknown) => void, { principalId }: Principal): () => void {
    let timer: Timer;
    const look = (): void => {
      if (this.#isLive(principalId)) timer = this.#options.clock.setTimer(LOOK_MS, look);
      else onRefused(new DuctorError('unauthenticated', 'the sender is a live node of the cluster no more'));
    };
    timer = this.#options.clock.setTimer(LOOK_MS, look);
    return () => timer.cancel();
  }

  /** The status for whatever was caught. */
  statusOf(caught: unknown): CallStatus {
    return toStatus(this.#options.report(caught, this.method));
  }

  #isLive(sender: string): boolean {
    return this.#options.coordinator.liveNodes().some(({ nodeId }) => nodeId === sender);
  }
}
