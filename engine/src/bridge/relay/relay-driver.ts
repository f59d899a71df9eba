/**
 * Keeps relays going: says on the bus what this node's tasks lack, hears what other nodes lack and lends them workers,
 * and ends what leads to nodes that are gone.
 *
 * A hint that is lost is said again a moment later, for as long as tasks wait; nothing follows from hearing one twice.
 * A hint names a node by its id alone: where that node is, and whether it is one, the database says.
 */
import { repeating, type Clock } from '../../kernel/index.js';
import type { Lack } from '../queue/fair-queue.js';
import type { PeerNode, RelayDialer } from './ports.js';
import { readWish, WISH_TOPIC, wishText, type RelayWish } from './wish.js';

/** The bridge, as the driver sees it. */
export interface RelayingBridge {
  /** What waits here and is served by no worker with a stream of its own, nor has any that is lent room for it. */
  lacks(): readonly Lack[];
  /** Lends workers to a node that lacks them. */
  lend(node: PeerNode, wish: RelayWish): void;
  /** Ends what leads to nodes that are gone. */
  lookAtRelays(liveNodeIds: ReadonlySet<string>): void;
  /** Says how to reach other nodes. */
  relayBy(dialer: RelayDialer): void;
}

/** What the driver needs. */
export interface RelayDriverOptions {
  readonly bridge: RelayingBridge;
  readonly clock: Clock;
  readonly bus: {
    publish(topic: string, body: string): void;
    subscribe(topic: string, listener: (body: string) => void): () => void;
  };
  readonly coordinator: {
    nodeId(): string | null;
    liveNodes(): readonly PeerNode[];
  };
  readonly dialer: RelayDialer;
  readonly onError: (error: unknown) => void;
}

/** The driver. */
export interface RelayDriver {
  start(): void;
  /** Hears and says nothing more. Relays that are open stay so until the bridge ends them. */
  stop(): Promise<void>;
  /** Ends all lines. */
  close(): void;
}

const LOOK_MS = 500;
/** Hints said in one look, one for each tenant. */
const MAX_HINTS = 100;

/** A driver. */
export function createRelayDriver(options: RelayDriverOptions): RelayDriver {
  const { bridge, clock, bus, coordinator, dialer, onError } = options;
  const look = async (): Promise<void> => {
    const [nodeId, nodes] = [coordinator.nodeId(), coordinator.liveNodes()];
    bridge.lookAtRelays(new Set(nodes.map((node) => node.nodeId)));
    if (nodeId === null || nodes.length < 2) return;
    for (const lack of bridge.lacks().slice(0, MAX_HINTS)) bus.publish(WISH_TOPIC, wishText({ nodeId, ...lack }));
  };
  const heard = (body: string): void => {
    const wish = readWish(body);
    if (wish === null || wish.nodeId === coordinator.nodeId()) return;
    const node = coordinator.liveNodes().find(({ nodeId }) => nodeId === wish.nodeId);
    if (node !== undefined) bridge.lend(node, wish);
  };
  const looks = repeating(clock, LOOK_MS, look, onError);
  let unsubscribe = (): void => undefined;
  return {
    start() {
      bridge.relayBy(dialer);
      unsubscribe = bus.subscribe(WISH_TOPIC, heard);
      looks.start();
    },
    stop() {
      unsubscribe();
      return looks.stop();
    },
    close: () => dialer.close(),
  };
}
