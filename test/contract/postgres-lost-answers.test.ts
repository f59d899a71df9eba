/** The connection breaks around a commit; afterwards everything is there once. */
import { afterEach, describe, expect, it } from 'vitest';
import type { RunKey, TickWrite } from '../../engine/src/workflow/coordinator/ports.js';
import { commit, contractKit, seqs, start, tick } from '../../engine/src/workflow/testing/contract/world.js';
import { postgresWorld, type PostgresProcess, type PostgresWorld } from '../support/postgres-world.js';
import type { CutAt } from '../support/tcp-proxy.js';

let world: PostgresWorld;
const opened: PostgresProcess[] = [];
const kit = contractKit(async () => {
  world = await postgresWorld();
  const open = async (): Promise<PostgresProcess> => {
    const process = await world.open();
    opened.push(process);
    return process;
  };
  return { ...world, open };
});
afterEach(() => {
  opened.length = 0;
});

const WAYS: readonly CutAt[] = ['sent', 'answered', 'before'];

describe('a socket that is cut around a commit', () => {
  it('loses and doubles nothing, 60 times', { timeout: 120_000 }, async () => {
    const node = await kit.node();
    const { proxy } = opened[0] ?? {};
    const tenantId = kit.id();
    const runs: RunKey[] = Array.from({ length: 6 }, () => kit.run({ tenantId }));
    const length = new Map(runs.map((run) => [run.runId, 0]));
    const seen = { unknown: 0, thereAfterwards: 0, notThere: 0 };
    for (let round = 0; round < 60; round += 1) {
      if (round % 6 === 5) {
        const run = kit.run({ tenantId });
        runs.push(run);
        length.set(run.runId, 0);
      }
      const batch: TickWrite[] = runs.map((run) => {
        const seq = (length.get(run.runId) ?? 0) + 1;
        const startKey = { key: run.runId, fingerprint: new Uint8Array(32) };
        return seq === 1 ? start(run, {}, { startKey }) : tick(run, seq);
      });
      void proxy?.cutNext('commit_', WAYS[round % WAYS.length] ?? 'sent');
      const outcome = await node.runs.commit(node.nodeId, batch);
      expect(outcome.kind).toBe('unknown');
      seen.unknown += 1;
      expect(await node.runs.settle(node.nodeId)).toBe(true);
      const there = new Map((await node.runs.load(runs)).map((run) => [run.runId, run.rows.length]));
      const isWritten = batch.map((one) => (there.get(one.runId) ?? 0) >= one.seq);
      // The batch was one transaction: it is there for all of its runs or for none.
      expect(new Set(isWritten).size).toBe(1);
      seen[isWritten[0] === true ? 'thereAfterwards' : 'notThere'] += 1;
      expect(await commit(node, ...batch)).toEqual(batch.map(() => (isWritten[0] === true ? 'conflict' : 'written')));
      for (const run of runs) length.set(run.runId, (length.get(run.runId) ?? 0) + 1);
    }
    for (const run of runs) {
      const expected = Array.from({ length: length.get(run.runId) ?? 0 }, (_, i) => i + 1);
      expect(await seqs(node, run)).toEqual(expected);
    }
    expect(seen.unknown).toBe(60);
    expect(seen.thereAfterwards).toBeGreaterThanOrEqual(20);
    expect(seen.notThere).toBeGreaterThanOrEqual(20);
  });

  it('does nothing to later commits of the same node when it comes late', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    const late = await world.open();
    // Another session of the same lane, as the one that was lost: what it says after the settlement is void.
    expect(await late.runs.commit(node.nodeId, [tick(run, 2)])).toMatchObject({ kind: 'committed' });
    expect(await node.runs.settle(node.nodeId)).toBe(true);
    expect((await late.runs.commit(node.nodeId, [tick(run, 3)])).kind).toBe('fenced');
    expect(await commit(node, tick(run, 3))).toEqual(['written']);
    expect(await seqs(node, run)).toEqual([1, 2, 3]);
  });

  it('repeats while the database cannot be reached, and goes on when it can', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    const { proxy } = opened[0] ?? {};
    proxy?.stop();
    const outcome = await node.runs.commit(node.nodeId, [tick(run, 2)]);
    expect(['unknown', 'repeat']).toContain(outcome.kind);
    expect(await node.runs.commit(node.nodeId, [tick(run, 2)])).toEqual({ kind: 'repeat', sqlState: '08001' });
    await expect(node.runs.settle(node.nodeId)).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(node.runs.load([run])).rejects.toMatchObject({ code: 'database_unavailable' });
    await proxy?.listen();
    expect(await node.runs.settle(node.nodeId)).toBe(true);
    expect(await commit(node, tick(run, 2))).toEqual(['written']);
  });

  it('reads again on a new session when the one for reads was lost', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    expect(await seqs(node, run)).toEqual([1]);
    opened[0]?.proxy.cutAll();
    expect(await seqs(node, run)).toEqual([1]);
  });

  it('takes silence for an unknown outcome', { timeout: 60_000 }, async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    opened[0]?.proxy.stall();
    expect((await node.runs.commit(node.nodeId, [tick(run, 2)])).kind).toBe('unknown');
    opened[0]?.proxy.resume();
    expect(await node.runs.settle(node.nodeId)).toBe(true);
    const [outcome] = await commit(node, tick(run, 2));
    expect(['written', 'conflict']).toContain(outcome);
    expect(await seqs(node, run)).toEqual([1, 2]);
  });
});
