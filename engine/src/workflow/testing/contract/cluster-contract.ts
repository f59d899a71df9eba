/** Every shard has at most one owner, and no owner is lost for good. */
import { describe, expect, it } from 'vitest';
import { shardOf } from '../../../kernel/index.js';
import type { ClusterNode, ClusterView } from '../../coordinator/ports.js';
import {
  ALL_SHARDS,
  commit,
  contractKit,
  drop,
  eventually,
  LEASE_MS,
  start,
  type ContractNode,
  type ContractKit,
  type MakeWorld,
} from './world.js';

/** A heartbeat of the node. */
function beat(node: ContractNode): Promise<ClusterView> {
  return node.cluster.heartbeat(node.nodeId, LEASE_MS);
}

/** How one node sees another. */
async function seen(by: ContractNode, node: ContractNode): Promise<ClusterNode | undefined> {
  return (await beat(by)).nodes.find((found) => found.nodeId === node.nodeId);
}

/** Shards of the node, as another sees it. */
async function shardsSeen(by: ContractNode, node: ContractNode): Promise<readonly number[] | undefined> {
  return (await seen(by, node))?.shards;
}

/** Who is there. */
function registrations(kit: ContractKit): void {
  it('shows a registered node', async () => {
    const node = await kit.node();
    const view = await beat(node);
    expect(view.fenced).toBe(false);
    expect(view.nodes).toEqual([
      { nodeId: node.nodeId, address: `${node.nodeId}.test:7233`, live: true, sessionOpen: true, shards: [] },
    ]);
    expect(view.unowned).toEqual(ALL_SHARDS);
    expect(view.inboxShards).toEqual([]);
  });

  it('takes a second registration of the same node for a renewal', async () => {
    const node = await kit.node([1]);
    await node.cluster.register({ nodeId: node.nodeId, address: 'elsewhere:1', leaseMs: LEASE_MS });
    expect((await beat(node)).nodes).toMatchObject([{ address: 'elsewhere:1', shards: [1] }]);
  });

  it('says how late it is', async () => {
    const node = await kit.node();
    const { nowUs } = await beat(node);
    await kit.world.advance(10_000);
    const later = (await beat(node)).nowUs;
    expect(later - nowUs).toBeGreaterThanOrEqual(10_000_000);
    expect(later - nowUs).toBeLessThan(20_000_000);
  });
}

/** Leases are renewed and end. */
function leases(kit: ContractKit): void {
  it('keeps a lease that is renewed', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    for (let i = 0; i < 3; i += 1) {
      await kit.world.advance(LEASE_MS - 1_000);
      await beat(node);
    }
    expect(await seen(other, node)).toMatchObject({ live: true, sessionOpen: true });
  });

  it('tells when the next lease of another node ends', async () => {
    const node = await kit.node([1]);
    expect((await beat(node)).nextLeaseEndUs).toBeNull();
    const other = await kit.node();
    const { nowUs, nextLeaseEndUs } = await beat(other);
    expect(nextLeaseEndUs).toBeGreaterThan(nowUs);
    expect(nextLeaseEndUs).toBeLessThanOrEqual(nowUs + LEASE_MS * 1_000);
    await kit.world.advance(LEASE_MS + 1);
    expect((await beat(other)).nextLeaseEndUs).toBeNull();
  });

  it('ends a lease that is not', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    expect(await seen(other, node)).toMatchObject({ live: false, sessionOpen: true, shards: [1] });
    expect(await seen(other, other)).toMatchObject({ live: true });
  });

  it('brings a node back that nobody took over', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    expect((await beat(node)).fenced).toBe(false);
    expect(await seen(other, node)).toMatchObject({ live: true, shards: [1] });
  });
}

/** Who is gone. */
function deaths(kit: ContractKit): void {
  it('forgets a dead node that owns nothing', async () => {
    const [node, other] = [await kit.node(), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    expect(await seen(other, node)).toBeUndefined();
  });

  it('sees a killed process before its lease ends', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    await node.kill();
    await kit.world.advance(1_500);
    const found = await eventually(
      kit.world,
      () => seen(other, node),
      (answer) => answer?.sessionOpen === false,
    );
    expect(found).toMatchObject({ live: true, sessionOpen: false, shards: [1] });
  });

  it('lets a node leave', async () => {
    const [node, other] = [await kit.node([1, 2]), await kit.node([3])];
    await node.cluster.leave(node.nodeId);
    const view = await beat(other);
    expect(view.nodes.map((found) => found.nodeId)).toEqual([other.nodeId]);
    expect(view.unowned).toEqual(ALL_SHARDS.filter((shard) => shard !== 3));
    expect((await beat(node)).fenced).toBe(true);
  });
}

/** Where messages wait. */
function mail(kit: ContractKit): void {
  it('names the own shards with messages', async () => {
    const [node, other] = [await kit.node([1, 2]), await kit.node([3])];
    const runs = [2, 3].map((shard) => kit.run({ shard }));
    await commit(node, ...runs.map((run) => start(run)));
    await node.inbox.send(runs.map((run) => ({ ...run, kind: 'cancel', body: Uint8Array.of(1) })));
    expect((await beat(node)).inboxShards).toEqual([2]);
    expect((await beat(other)).inboxShards).toEqual([3]);
    const [found] = await node.inbox.read([2], 1);
    if (found !== undefined) await commit(node, drop(found, [found.id]));
    expect(shardOf(found?.runId ?? '')).toBe(2);
    expect((await beat(node)).inboxShards).toEqual([]);
  });
}

/** Free shards. */
function claims(kit: ContractKit): void {
  it('takes free shards only', async () => {
    const [node, other] = [await kit.node(), await kit.node()];
    expect(await node.cluster.claim(node.nodeId, [5, 1, 9])).toEqual([1, 5, 9]);
    expect(await other.cluster.claim(other.nodeId, [5, 6])).toEqual([6]);
    expect(await node.cluster.claim(node.nodeId, [1, 5])).toEqual([]);
    expect(await node.cluster.claim(node.nodeId, [])).toEqual([]);
    expect(await shardsSeen(other, node)).toEqual([1, 5, 9]);
    expect((await beat(node)).unowned.length).toBe(256 - 4);
  });

  it('takes nothing for a node that is gone', async () => {
    const [node, other] = [await kit.node(), await kit.node()];
    await node.cluster.leave(node.nodeId);
    expect(await node.cluster.claim(node.nodeId, [1])).toEqual([]);
    expect((await beat(other)).unowned).toEqual(ALL_SHARDS);
  });

  it('gives each shard to one of several that want all', async () => {
    const nodes = [await kit.node(), await kit.node(), await kit.node()];
    const got: number[][] = nodes.map(() => []);
    for (let first = 0; first < 256; first += 32) {
      const wanted = ALL_SHARDS.slice(first, first + 32);
      const claims = await Promise.all(nodes.map((node) => node.cluster.claim(node.nodeId, wanted)));
      claims.forEach((shards, i) => got[i]?.push(...shards));
    }
    const all = got.flat();
    expect(new Set(all).size).toBe(all.length);
    for (const [i, node] of nodes.entries()) expect(await shardsSeen(node, node)).toEqual(got[i]);
  });
}

/** Shards of the dead. */
function takeovers(kit: ContractKit): void {
  it('leaves a live node alone', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    expect(await other.cluster.takeOver(other.nodeId, node.nodeId, [1])).toEqual([]);
    expect((await beat(node)).fenced).toBe(false);
    expect(await shardsSeen(other, node)).toEqual([1]);
  });

  it('fences a node whose lease ran out and moves its shards', async () => {
    const [node, other] = [await kit.node([1, 2]), await kit.node([3])];
    await kit.world.advance(LEASE_MS + 1);
    await beat(other);
    expect(await other.cluster.takeOver(other.nodeId, node.nodeId, [1, 2])).toEqual([1, 2]);
    expect((await beat(node)).fenced).toBe(true);
    expect(await shardsSeen(other, other)).toEqual([1, 2, 3]);
    expect(await seen(other, node)).toBeUndefined();
    expect(await node.cluster.claim(node.nodeId, [9])).toEqual([]);
  });

  it('moves the shards asked for and leaves the others to the next', async () => {
    const [node, second, third] = [await kit.node([1, 2, 3]), await kit.node(), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    await Promise.all([beat(second), beat(third)]);
    expect(await second.cluster.takeOver(second.nodeId, node.nodeId, [1, 200])).toEqual([1]);
    expect(await seen(second, node)).toMatchObject({ live: false, shards: [2, 3] });
    expect(await third.cluster.takeOver(third.nodeId, node.nodeId, [1, 2, 3])).toEqual([2, 3]);
    expect(await seen(second, node)).toBeUndefined();
  });
}

/** Deaths without delay, and moves that must not be. */
function killedNodes(kit: ContractKit): void {
  it('does not wait for the lease of a killed process', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    await node.kill();
    await kit.world.advance(1_500);
    await beat(other);
    const moved = await eventually(
      kit.world,
      () => other.cluster.takeOver(other.nodeId, node.nodeId, [1]),
      (answer) => answer.length > 0,
    );
    expect(moved).toEqual([1]);
    expect(await shardsSeen(other, other)).toEqual([1]);
  });

  it('waits for nothing when a killed process is started again at its address', async () => {
    const node = await kit.node([1], 'same.test:1');
    await node.kill();
    const again = await kit.node([], 'same.test:1');
    const isClosed = await eventually(
      kit.world,
      async () => (await seen(again, node))?.sessionOpen === false,
      (answer) => answer,
    );
    expect(isClosed).toBe(true);
    expect(await again.cluster.takeOver(again.nodeId, node.nodeId, [1])).toEqual([1]);
  });

  it('does nothing for a taker that is gone, nor to a node that is', async () => {
    const [node, other, third] = [await kit.node([1]), await kit.node([2]), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    await beat(third);
    await third.cluster.takeOver(third.nodeId, other.nodeId, [2]);
    expect(await other.cluster.takeOver(other.nodeId, node.nodeId, [1])).toEqual([]);
    expect(await third.cluster.takeOver(third.nodeId, other.nodeId, [1])).toEqual([]);
    expect(await third.cluster.takeOver(third.nodeId, kit.id(), [1])).toEqual([]);
    expect(await shardsSeen(third, node)).toEqual([1]);
  });
}

/** Several takers. */
function rivals(kit: ContractKit): void {
  it('gives each shard to one of several takers', async () => {
    const node = await kit.node(ALL_SHARDS);
    const takers = [await kit.node(), await kit.node(), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    await Promise.all(takers.map(beat));
    const got = await Promise.all(takers.map((taker) => taker.cluster.takeOver(taker.nodeId, node.nodeId, ALL_SHARDS)));
    expect(got.flat().sort((a, b) => a - b)).toEqual(ALL_SHARDS);
    for (const [i, taker] of takers.entries()) expect(await shardsSeen(taker, taker)).toEqual(got[i]);
  });

  it('lets one of two survive that take each other over', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [one, two] = [await kit.node([1 + round]), await kit.node([100 + round])];
      await kit.world.advance(LEASE_MS + 1);
      const [byOne, byTwo] = await Promise.all([
        one.cluster.takeOver(one.nodeId, two.nodeId, [100 + round]),
        two.cluster.takeOver(two.nodeId, one.nodeId, [1 + round]),
      ]);
      expect([byOne, byTwo].filter((moved) => moved.length > 0).length).toBe(1);
      const survivor = byOne.length > 0 ? one : two;
      const fenced = byOne.length > 0 ? two : one;
      expect((await beat(fenced)).fenced).toBe(true);
      expect(await shardsSeen(survivor, survivor)).toEqual([1 + round, 100 + round]);
    }
  });
}

/** Shards of the living. */
function handOvers(kit: ContractKit): void {
  it('moves shards to a live node', async () => {
    const [node, other] = [await kit.node([1, 2, 3]), await kit.node()];
    await node.cluster.handOver(node.nodeId, other.nodeId, [1, 3, 50]);
    expect(await shardsSeen(node, node)).toEqual([2]);
    expect(await shardsSeen(node, other)).toEqual([1, 3]);
    expect(await commit(node, start(kit.run({ shard: 2 })))).toEqual(['written']);
  });

  it('keeps them when the other is dead or gone', async () => {
    const [node, dead, gone] = [await kit.node([1]), await kit.node([2]), await kit.node()];
    await gone.cluster.leave(gone.nodeId);
    await expect(node.cluster.handOver(node.nodeId, gone.nodeId, [1])).rejects.toMatchObject({ code: 'node_fenced' });
    await kit.world.advance(LEASE_MS + 1);
    await beat(node);
    await expect(node.cluster.handOver(node.nodeId, dead.nodeId, [1])).rejects.toMatchObject({ code: 'node_fenced' });
    expect(await shardsSeen(node, node)).toEqual([1]);
  });

  it('moves nothing for a node that was fenced', async () => {
    const [node, other, third] = [await kit.node([1, 2]), await kit.node(), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    await Promise.all([beat(other), beat(third)]);
    await other.cluster.takeOver(other.nodeId, node.nodeId, [1]);
    await expect(node.cluster.handOver(node.nodeId, third.nodeId, [2])).rejects.toMatchObject({
      code: 'node_fenced',
    });
    expect(await shardsSeen(third, node)).toEqual([2]);
  });
}

/** Membership, leases and shards. */
export function clusterContract(makeWorld: MakeWorld): void {
  describe('membership', () => {
    const kit = contractKit(makeWorld);
    registrations(kit);
    leases(kit);
    deaths(kit);
    mail(kit);
  });
  describe('claim', () => {
    const kit = contractKit(makeWorld);
    claims(kit);
  });
  describe('takeOver', () => {
    const kit = contractKit(makeWorld);
    takeovers(kit);
    killedNodes(kit);
    rivals(kit);
  });
  describe('handOver', () => {
    const kit = contractKit(makeWorld);
    handOvers(kit);
  });
}
