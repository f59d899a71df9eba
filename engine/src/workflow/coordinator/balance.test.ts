import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SHARD_COUNT } from '../../kernel/index.js';
import { balance } from './balance.js';
import type { ClusterNode, ClusterView } from './ports.js';

const NONE: ReadonlySet<string> = new Set();

/** A node of a view. */
function node(nodeId: string, shards: readonly number[], change: Partial<ClusterNode> = {}): ClusterNode {
  return { nodeId, address: `${nodeId}:1`, live: true, sessionOpen: true, shards, ...change };
}

/** A view of these nodes. */
function viewOf(nodes: readonly ClusterNode[]): ClusterView {
  const owned = new Set(nodes.flatMap((each) => each.shards));
  const unowned = Array.from({ length: SHARD_COUNT }, (_, shard) => shard).filter((shard) => !owned.has(shard));
  return { nowUs: 0, fenced: false, nodes, unowned, inboxShards: [], nextLeaseEndUs: null };
}

/** Shards from `first`, so many. */
function range(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}

/** The plan of a node that gives nothing away yet. */
function planOf(self: ClusterNode, view: ClusterView, closedBefore = NONE) {
  const { nodeId, address, shards } = self;
  return balance(view, { nodeId, address, ticking: shards, isHandingOver: false, closedBefore });
}

describe('balance', () => {
  it('claims up to the fair share', () => {
    const [a, b] = [node('a', range(0, 10)), node('b', [])];
    expect(planOf(a, viewOf([a, b])).claim.length).toBe(118);
    expect(planOf(b, viewOf([a, b])).claim.length).toBe(128);
  });

  it('leaves a node alone whose session is closed for the first time, elsewhere', () => {
    const [a, b] = [node('a', range(0, 128)), node('b', range(128, 128), { sessionOpen: false })];
    const first = planOf(a, viewOf([a, b]));
    expect(first.takeOver).toEqual([]);
    expect(first.closedNow).toEqual(['b']);
    const second = planOf(a, viewOf([a, b]), new Set(['b']));
    expect(second.takeOver).toEqual([{ nodeId: 'b', shards: range(128, 128) }]);
    expect(second.alive.map((each) => each.nodeId)).toEqual(['a']);
  });

  it('takes over at once what had its own address, and what has no lease', () => {
    const a = node('a', []);
    const same = node('b', [1], { address: a.address, sessionOpen: false });
    const late = node('c', [2], { live: false });
    expect(planOf(a, viewOf([a, same, late])).takeOver).toEqual([
      { nodeId: 'b', shards: [1] },
      { nodeId: 'c', shards: [2] },
    ]);
    expect(planOf(a, viewOf([a, node('b', [1], { address: a.address })])).takeOver).toEqual([]);
  });

  it('gives away only what is above the share, once at a time', () => {
    const [a, b] = [node('a', range(0, 256)), node('b', [])];
    expect(planOf(a, viewOf([a, b])).handOver).toEqual({ toNodeId: 'b', shards: range(128, 128) });
    const self = { nodeId: 'a', address: 'a:1', ticking: a.shards, isHandingOver: true, closedBefore: NONE };
    expect(balance(viewOf([a, b]), self).handOver).toBeNull();
  });

  it('brings any distribution to rest, every shard owned by one, no node without a share', () => {
    const start = fc.array(fc.integer({ min: -1, max: 5 }), { minLength: SHARD_COUNT, maxLength: SHARD_COUNT });
    fc.assert(
      fc.property(start, fc.integer({ min: 1, max: 6 }), (owners, count) => {
        const owned = range(0, count).map((index) => new Set(range(0, 256).filter((shard) => owners[shard] === index)));
        const names = range(0, count).map((index) => `node-${index}`);
        const look = (): readonly ClusterNode[] => names.map((name, index) => node(name, [...(owned[index] ?? [])]));
        for (let round = 0; round < 12; round += 1) {
          for (const [index, name] of names.entries()) {
            const nodes = look();
            const self = nodes[index];
            if (self === undefined) continue;
            const plan = planOf(self, viewOf(nodes));
            for (const shard of plan.claim) owned[index]?.add(shard);
            for (const shard of plan.handOver?.shards ?? []) {
              owned[index]?.delete(shard);
              owned[names.indexOf(plan.handOver?.toNodeId ?? name)]?.add(shard);
            }
          }
        }
        const sizes = owned.map((shards) => shards.size);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(SHARD_COUNT);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.ceil(SHARD_COUNT / count));
      }),
    );
  });
});
