/** Decides from one look at the cluster what a node should claim, take over and give away. Pure. */
import { SHARD_COUNT } from '../../kernel/index.js';
import type { ClusterNode, ClusterView } from './ports.js';

/** What a node knows of itself. */
export interface BalanceSelf {
  readonly nodeId: string;
  readonly address: string;
  /** Shards it may tick; those it is giving away do not count. */
  readonly ticking: readonly number[];
  /** It is giving shards away already; it does so once at a time. */
  readonly isHandingOver: boolean;
  /** Nodes whose session was closed at an earlier heartbeat and at all since, long enough for two looks to count. */
  readonly closedBefore: ReadonlySet<string>;
}

/** What to do. */
export interface BalancePlan {
  readonly claim: readonly number[];
  readonly takeOver: readonly { readonly nodeId: string; readonly shards: readonly number[] }[];
  readonly handOver: { readonly toNodeId: string; readonly shards: readonly number[] } | null;
  /** Nodes whose session is closed now. */
  readonly closedNow: readonly string[];
  /** Nodes that count as alive. */
  readonly alive: readonly ClusterNode[];
}

/**
 * A node counts as dead when its lease ran out, or its session was closed at two heartbeats in a row (one may be a
 * reconnect), or once when it had our own address: whoever listens there now is us.
 */
function isDead(node: ClusterNode, self: BalanceSelf): boolean {
  if (node.nodeId === self.nodeId) return false;
  if (!node.live) return true;
  if (node.sessionOpen) return false;
  return node.address === self.address || self.closedBefore.has(node.nodeId);
}

/** Gives away what is above the fair share, to the nodes with the least, each at most up to the share. */
function surplus(self: BalanceSelf, alive: readonly ClusterNode[], share: number): BalancePlan['handOver'] {
  const mine = self.ticking;
  const least = Math.floor(SHARD_COUNT / alive.length);
  const spare = mine.length - share;
  if (spare <= 0 || self.isHandingOver) return null;
  const poor = alive
    .filter((node) => node.nodeId !== self.nodeId && node.shards.length < least)
    .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  // Several givers begin at different receivers, so that they do not all fill the same one.
  const rank = alive.map((node) => node.nodeId).sort();
  const receiver = poor[rank.indexOf(self.nodeId) % Math.max(1, poor.length)];
  if (receiver === undefined) return null;
  const count = Math.min(spare, share - receiver.shards.length);
  return { toNodeId: receiver.nodeId, shards: mine.slice(mine.length - count) };
}

/**
 * The fair share is ceil(256 / alive nodes). Free shards first, then those of the dead, up to the share; what is above
 * the share goes to a node that has too few.
 */
export function balance(view: ClusterView, self: BalanceSelf): BalancePlan {
  const dead = view.nodes.filter((node) => isDead(node, self));
  const deadIds = new Set(dead.map((node) => node.nodeId));
  const alive = view.nodes.filter((node) => !deadIds.has(node.nodeId));
  const share = Math.ceil(SHARD_COUNT / Math.max(1, alive.length));
  let room = Math.max(0, share - self.ticking.length);
  const claim = view.unowned.slice(0, room);
  room -= claim.length;
  const takeOver: { nodeId: string; shards: readonly number[] }[] = [];
  for (const node of [...dead].sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1))) {
    const shards = node.shards.slice(0, room);
    room -= shards.length;
    if (shards.length > 0) takeOver.push({ nodeId: node.nodeId, shards });
  }
  const closedNow = view.nodes.filter((node) => !node.sessionOpen).map((node) => node.nodeId);
  return { claim, takeOver, handOver: surplus(self, alive, share), closedNow, alive };
}
