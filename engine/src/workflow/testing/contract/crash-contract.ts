/** Runs that are tried by name, and what a takeover counts when their node ended. */
import { describe, expect, it } from 'vitest';
import type { ClusterView } from '../../coordinator/ports.js';
import { CRASHES_WITHIN_MS } from '../../coordinator/probe-ports.js';
import { contractKit, eventually, LEASE_MS, type ContractKit, type ContractNode, type MakeWorld } from './world.js';

/** A heartbeat of the node. */
function beat(node: ContractNode): Promise<ClusterView> {
  return node.cluster.heartbeat(node.nodeId, LEASE_MS);
}

/** The node ends without leaving, and the taker takes its shards. */
async function end(
  kit: ContractKit,
  node: ContractNode,
  taker: ContractNode,
  shards: readonly number[],
): Promise<void> {
  await node.kill();
  await kit.world.advance(1_500);
  await beat(taker);
  await eventually(
    kit.world,
    () => taker.cluster.takeOver(taker.nodeId, node.nodeId, shards),
    (moved) => moved.length > 0,
  );
}

/** How crashes are counted. */
function counts(kit: ContractKit): void {
  it('counts what was tried: one for each run, of those that were tried together never more than two', async () => {
    const [alone, beside] = [kit.run({ shard: 1 }), kit.run({ shard: 1 })];
    const nodes = [await kit.node([1]), await kit.node(), await kit.node(), await kit.node(), await kit.node()];
    const tried = [[alone, beside], [alone], [alone, beside], []];
    const counts: (readonly number[])[] = [];
    for (const [index, runs] of tried.entries()) {
      const [node, taker] = [nodes[index], nodes[index + 1]];
      if (node === undefined || taker === undefined) return expect.unreachable();
      expect(await node.cluster.probe(node.nodeId, runs)).toBe(true);
      await end(kit, node, taker, [1]);
      const found = await taker.cluster.crashes([1, 2]);
      counts.push([alone, beside].map(({ runId }) => found.find((run) => run.runId === runId)?.crashes ?? 0));
      expect((await beat(taker)).crashedShards).toEqual([1]);
    }
    expect(counts).toEqual([
      [1, 1],
      [2, 1],
      [2, 2],
      [2, 2],
    ]);
    expect(await nodes[4]?.cluster.crashes([2])).toEqual([]);
  });
}

/** Who is named, and what becomes of a count. */
function names(kit: ContractKit): void {
  it('is not named by a node that is fenced', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    await kit.world.advance(LEASE_MS + 1);
    await beat(other);
    await other.cluster.takeOver(other.nodeId, node.nodeId, [1]);
    expect(await node.cluster.probe(node.nodeId, [kit.run({ shard: 1 })])).toBe(false);
  });

  it('counts what is tried last, and nothing of a node that leaves', async () => {
    const [first, last] = [kit.run({ shard: 1 }), kit.run({ shard: 1 })];
    const [node, second, third] = [await kit.node([1]), await kit.node(), await kit.node()];
    await node.cluster.probe(node.nodeId, [first]);
    await node.cluster.probe(node.nodeId, [last]);
    await end(kit, node, second, [1]);
    expect(await second.cluster.crashes([1])).toMatchObject([{ ...last, crashes: 1 }]);
    await second.cluster.probe(second.nodeId, [last]);
    await second.cluster.leave(second.nodeId);
    await third.cluster.claim(third.nodeId, [1]);
    expect(await third.cluster.crashes([1])).toMatchObject([{ ...last, crashes: 1 }]);
  });

  it('leaves a run that was parked two of its crashes', async () => {
    const run = kit.run({ shard: 1 });
    const nodes = [await kit.node([1]), await kit.node(), await kit.node(), await kit.node()];
    for (let index = 0; index < 3; index += 1) {
      const [node, taker] = [nodes[index], nodes[index + 1]];
      if (node === undefined || taker === undefined) return expect.unreachable();
      await node.cluster.probe(node.nodeId, [run]);
      await end(kit, node, taker, [1]);
    }
    const last = nodes[3];
    expect(await last?.cluster.crashes([1])).toMatchObject([{ ...run, crashes: 3 }]);
    await last?.cluster.quarantined(run);
    expect(await last?.cluster.crashes([1])).toMatchObject([{ ...run, crashes: 2 }]);
    await kit.world.advance(CRASHES_WITHIN_MS);
    expect(await last?.cluster.crashes([1])).toEqual([]);
  });
}

/** What a node tries when it ends. */
export function crashContract(makeWorld: MakeWorld): void {
  describe('what was tried', () => {
    const kit = contractKit(makeWorld);
    counts(kit);
    names(kit);
  });
}
