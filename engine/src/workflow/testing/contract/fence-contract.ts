/** Who may write, and what is certain after an answer was lost. */
import { describe, expect, it } from 'vitest';
import {
  commit,
  contractKit,
  header,
  LEASE_MS,
  seqs,
  start,
  stored,
  tick,
  type ContractKit,
  type MakeWorld,
} from './world.js';

/** Who may write. */
function fences(kit: ContractKit): void {
  it('refuses a node that never registered', async () => {
    const node = await kit.node();
    const run = kit.run();
    expect((await node.runs.commit(kit.id(), [start(run)])).kind).toBe('fenced');
    expect(await stored(node, run)).toBeUndefined();
  });

  it('refuses everything of a node that was taken over', async () => {
    const [old, young] = [await kit.node([3]), await kit.node()];
    const [run, other, keyed] = [kit.run({ shard: 3 }), kit.run({ shard: 3 }), kit.run({ shard: 3 })];
    await commit(old, start(run));
    await kit.world.advance(LEASE_MS + 1);
    await young.cluster.heartbeat(young.nodeId, LEASE_MS);
    expect(await young.cluster.takeOver(young.nodeId, old.nodeId, [3])).toEqual([3]);
    const late = [
      tick(run, 2, { header: header(run, { status: 'FAILED' }), snapshot: Uint8Array.of(1) }),
      start(other),
      start(keyed, {}, { startKey: { key: 'key', fingerprint: new Uint8Array(32) } }),
    ];
    expect(await commit(old, ...late)).toBe('fenced');
    expect(await seqs(young, run)).toEqual([1]);
    expect((await stored(young, run))?.header.status).toBe('RUNNING');
    expect(await stored(young, other)).toBeUndefined();
    expect(await young.runs.findStarts([{ tenantId: keyed.tenantId, familySlug: 'lead-intake', key: 'key' }])).toEqual([
      undefined,
    ]);
    expect(await commit(young, tick(run, 2))).toEqual(['written']);
  });

  it('lets a node go on whose lease ran out while nobody took over', async () => {
    const node = await kit.node([3]);
    await kit.world.advance(LEASE_MS * 10);
    expect(await commit(node, start(kit.run({ shard: 3 })))).toEqual(['written']);
  });

  it('refuses a node that left', async () => {
    const node = await kit.node([3]);
    await node.cluster.leave(node.nodeId);
    expect(await commit(node, start(kit.run()))).toBe('fenced');
  });

  it('does not fence the others', async () => {
    const [old, young] = [await kit.node([3]), await kit.node([4])];
    await old.cluster.leave(old.nodeId);
    expect(await commit(young, start(kit.run({ shard: 4 })))).toEqual(['written']);
  });
}

/** What is certain after an answer was lost. */
function settlements(kit: ContractKit): void {
  it('is true for a node that goes on, which commits as before', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    expect(await node.runs.settle(node.nodeId)).toBe(true);
    expect(await node.runs.settle(node.nodeId)).toBe(true);
    expect(await commit(node, tick(run, 2))).toEqual(['written']);
  });

  it('is false for a node that is fenced or unknown', async () => {
    const [old, young] = [await kit.node([3]), await kit.node()];
    expect(await young.runs.settle(kit.id())).toBe(false);
    await kit.world.advance(LEASE_MS + 1);
    await young.cluster.heartbeat(young.nodeId, LEASE_MS);
    await young.cluster.takeOver(young.nodeId, old.nodeId, [3]);
    expect(await old.runs.settle(old.nodeId)).toBe(false);
  });

  it('makes an answer that was lost certain', async ({ skip }) => {
    const node = await kit.node();
    const [run, other] = [kit.run(), kit.run()];
    await commit(node, start(run));
    if (node.loseNextAnswer === undefined) skip('answers cannot be lost here');
    node.loseNextAnswer?.();
    const batch = [tick(run, 2), start(other, {}, { startKey: { key: 'key', fingerprint: new Uint8Array(32) } })];
    expect(await commit(node, ...batch)).toBe('unknown');
    expect(await node.runs.settle(node.nodeId)).toBe(true);
    expect(await seqs(node, run)).toEqual([1, 2]);
    expect(await seqs(node, other)).toEqual([1]);
    expect(await commit(node, ...batch)).toEqual(['conflict', 'conflict']);
    expect(await commit(node, tick(run, 3))).toEqual(['written']);
  });
}

/** Fencing and lost answers. */
export function fenceContract(makeWorld: MakeWorld): void {
  describe('fence', () => {
    const kit = contractKit(makeWorld);
    fences(kit);
  });
  describe('settle', () => {
    const kit = contractKit(makeWorld);
    settlements(kit);
  });
}
