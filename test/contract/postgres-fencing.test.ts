/** What only a real Postgres can show: locks between commits, renewals and takeovers. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase, type Connection, type Database } from '../../engine/src/store/index.js';
import {
  commit,
  contractKit,
  header,
  LEASE_MS,
  seqs,
  start,
  stored,
  tick,
  type ContractNode,
} from '../../engine/src/workflow/testing/contract/world.js';
import { postgresWorld, type PostgresWorld } from '../support/postgres-world.js';

let world: PostgresWorld;
const kit = contractKit(async () => {
  world = await postgresWorld();
  return world;
});

let db: Database;
const sessions: Connection[] = [];
beforeEach(() => {
  db = openDatabase({ url: world.url, applicationName: 'ductor other', maxConnections: 2 });
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await db.close();
});

/** Another session, as a commit lane. */
async function lane(): Promise<Connection> {
  const session = await db.connect({ name: 'lane', isLane: true });
  sessions.push(session);
  return session;
}

/** Holds the fence of the node in an open transaction, as a batch in flight does. */
async function holdFence(session: Connection, nodeId: string): Promise<void> {
  await session.query('begin');
  await session.query('select 1 from ductor.engine_node where node_id = $1 for key share', [nodeId]);
}

/** Runs the call and says when it is done. */
function watch<T>(call: Promise<T>): { readonly isDone: () => boolean; readonly result: Promise<T> } {
  let isDone = false;
  const result = call.finally(() => {
    isDone = true;
  });
  return { isDone: () => isDone, result };
}

/** Two nodes, the first of which lets its lease run out. */
async function expired(): Promise<readonly [old: ContractNode, young: ContractNode]> {
  const [old, young] = [await kit.node([3]), await kit.node()];
  await kit.world.advance(LEASE_MS + 1);
  await young.cluster.heartbeat(young.nodeId, LEASE_MS);
  return [old, young];
}

describe('takeover and commits in flight', () => {
  it('waits for a batch in flight and sees what it wrote', async () => {
    const [old, young] = await expired();
    const run = kit.run({ shard: 3 });
    await commit(old, start(run));
    const session = await lane();
    await holdFence(session, old.nodeId);
    await session.query(
      'insert into ductor.run_journal (at, tenant_id, run_id, seq, entries) values (1, $1, $2, 2, $3)',
      [run.tenantId, run.runId, Buffer.of(1)],
    );
    const takeOver = watch(young.cluster.takeOver(young.nodeId, old.nodeId, [3]));
    await pause(150);
    expect(takeOver.isDone()).toBe(false);
    await session.query('commit');
    expect(await takeOver.result).toEqual([3]);
    expect(await seqs(young, run)).toEqual([1, 2]);
    expect(await commit(old, tick(run, 3))).toBe('fenced');
  });

  it('waits for a real commit that is held up, which is the last one of its node', async () => {
    const [old, young] = await expired();
    const run = kit.run({ shard: 3 });
    // The key stands in another transaction that is open: the commit has to wait for it, its fence locked.
    const blocker = await db.connect({ name: 'blocker' });
    sessions.push(blocker);
    await blocker.query('begin');
    await blocker.query(
      `insert into ductor.run_start_key (expires_at, tenant_id, run_id, version, fingerprint, family_slug, key)
        values (1, $1, $2, 1, ''::bytea, 'lead-intake', 'key')`,
      [run.tenantId, kit.id()],
    );
    const held = watch(commit(old, start(run, {}, { startKey: { key: 'key', fingerprint: new Uint8Array(32) } })));
    await pause(150);
    const takeOver = watch(young.cluster.takeOver(young.nodeId, old.nodeId, [3]));
    await pause(150);
    expect([held.isDone(), takeOver.isDone()]).toEqual([false, false]);
    await blocker.query('rollback');
    expect(await held.result).toEqual(['written']);
    expect(await takeOver.result).toEqual([3]);
    expect(await seqs(young, run)).toEqual([1]);
    expect(await commit(old, tick(run, 2))).toBe('fenced');
  });

  it('is not held up for long by a process that stopped inside a transaction', async () => {
    const [old, young] = await expired();
    await holdFence(await lane(), old.nodeId);
    const beginMs = performance.now();
    expect(await young.cluster.takeOver(young.nodeId, old.nodeId, [3])).toEqual([3]);
    expect(performance.now() - beginMs).toBeLessThan(3_000);
  });

  it('makes a commit that comes meanwhile wait, and fences it', async () => {
    const [old] = await expired();
    const run = kit.run({ shard: 3 });
    const session = await lane();
    await session.query('begin');
    await session.query('select 1 from ductor.engine_node where node_id = $1 for update', [old.nodeId]);
    const held = watch(commit(old, start(run)));
    await pause(150);
    expect(held.isDone()).toBe(false);
    await session.query('update ductor.engine_node set fenced = true where node_id = $1', [old.nodeId]);
    await session.query('commit');
    expect(await held.result).toBe('fenced');
    expect(await stored(old, run)).toBeUndefined();
  });

  it('lets the commit go on when the takeover was given up', async () => {
    const [old] = await expired();
    const session = await lane();
    await session.query('begin');
    await session.query('select 1 from ductor.engine_node where node_id = $1 for update', [old.nodeId]);
    const held = watch(commit(old, start(kit.run({ shard: 3 }))));
    await pause(100);
    await session.query('rollback');
    expect(await held.result).toEqual(['written']);
  });

  it('does not hold up the renewal of the lease', async () => {
    const node = await kit.node([3]);
    await holdFence(await lane(), node.nodeId);
    const beginMs = performance.now();
    expect((await node.cluster.heartbeat(node.nodeId, LEASE_MS)).fenced).toBe(false);
    expect(performance.now() - beginMs).toBeLessThan(500);
  });
});

describe('start keys of two nodes', () => {
  it('never deadlock, in whatever order they are sent', { timeout: 60_000 }, async () => {
    const nodes = [await kit.node(), await kit.node(), await kit.node()];
    const tenantId = kit.id();
    for (let round = 0; round < 60; round += 1) {
      const keys = Array.from({ length: 30 }, (_, i) => `round ${round} key ${(i * 7919) % 30}`);
      const batches = [keys, keys.toReversed(), keys.toSorted()].map((order) =>
        order.map((key) => start(kit.run({ tenantId }), {}, { startKey: { key, fingerprint: new Uint8Array(32) } })),
      );
      const got = await Promise.all(nodes.map((node, i) => commit(node, ...(batches[i] ?? []))));
      expect(got.flat().filter((outcome) => outcome === 'written').length).toBe(keys.length);
      expect(got.flat().filter((outcome) => outcome === 'key_taken').length).toBe(2 * keys.length);
    }
  });
});

describe('batches the database refuses', () => {
  it('are refused whole, and nothing of them is written', async () => {
    const node = await kit.node();
    const [good, bad] = [kit.run(), kit.run()];
    const batch = [start(good), start(bad, { familySlug: 'nul\u0000' })];
    expect(await node.runs.commit(node.nodeId, batch)).toMatchObject({ kind: 'rejected', sqlState: '22021' });
    expect(await node.runs.load([good, bad])).toEqual([]);
    expect(await commit(node, start(good))).toEqual(['written']);
  });

  it('may repeat when a lock was not had in time', { timeout: 20_000 }, async () => {
    const node = await kit.node();
    const run = kit.run();
    const session = await db.connect({ name: 'blocker' });
    sessions.push(session);
    await commit(node, start(run));
    await session.query('begin');
    await session.query('select 1 from ductor.runs where run_id = $1 for update', [run.runId]);
    const closing = tick(run, 2, { header: header(run, { status: 'FAILED', active: false }) });
    expect(await node.runs.commit(node.nodeId, [closing])).toEqual({ kind: 'repeat', sqlState: '57014' });
    await session.query('rollback');
    expect(await commit(node, closing)).toEqual(['written']);
  });
});
