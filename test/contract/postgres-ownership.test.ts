/** Many nodes move shards at once, at random; no two of them ever believe they own the same one. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../engine/src/kernel/index.js';
import { openDatabase } from '../../engine/src/store/index.js';
import {
  contractKit,
  eventually,
  LEASE_MS,
  type ContractNode,
} from '../../engine/src/workflow/testing/contract/world.js';
import { postgresWorld, type PostgresWorld } from '../support/postgres-world.js';

let world: PostgresWorld;
const kit = contractKit(async () => {
  world = await postgresWorld();
  return world;
});

/** A node and the shards it was told that it owns. */
interface Believer {
  readonly node: ContractNode;
  readonly owned: Set<number>;
  isFenced: boolean;
}

describe('ownership', () => {
  it('stays single through 60 rounds of concurrent moves', { timeout: 120_000 }, async () => {
    const random = seededRandom(4);
    const pick = (count: number): number => random.uint32() % count;
    const believers: Believer[] = [];
    const join = async (): Promise<void> => {
      believers.push({ node: await kit.node(), owned: new Set(), isFenced: false });
    };
    for (let i = 0; i < 4; i += 1) await join();
    const some = (): number[] => Array.from({ length: 40 }, () => pick(256));
    const alive = (): Believer[] => believers.filter((one) => !one.isFenced);
    let moved = 0;
    const act = async (one: Believer): Promise<void> => {
      const { cluster, nodeId } = one.node;
      const others = alive().filter((other) => other !== one);
      const other = others[pick(others.length)];
      const choice = pick(4);
      if (other === undefined || choice === 0) {
        for (const shard of await cluster.claim(nodeId, some())) one.owned.add(shard);
      } else if (choice === 1) {
        const given = [...one.owned].slice(0, 10);
        // Given away before it is asked for: what a node is not sure to own it does not own.
        given.forEach((shard) => one.owned.delete(shard));
        await cluster.handOver(nodeId, other.node.nodeId, given).then(
          () => (moved += given.length),
          () => undefined,
        );
      } else {
        const taken = await cluster.takeOver(nodeId, other.node.nodeId, some());
        moved += taken.length;
        taken.forEach((shard) => one.owned.add(shard));
      }
    };
    for (let round = 0; round < 60; round += 1) {
      // In some rounds the leases of all run out; in most each renews before it acts.
      if (round % 5 === 4) await world.advance(LEASE_MS + 1);
      else await Promise.all(alive().map(({ node }) => node.cluster.heartbeat(node.nodeId, LEASE_MS)));
      await Promise.all(alive().map(act));
      for (const one of alive()) {
        const view = await one.node.cluster.heartbeat(one.node.nodeId, LEASE_MS);
        one.isFenced = view.fenced;
        if (view.fenced) continue;
        const real = view.nodes.find((node) => node.nodeId === one.node.nodeId)?.shards ?? [];
        // Everything it was told it owns it does own; what was handed to it it learns here.
        expect(real).toEqual(expect.arrayContaining([...one.owned]));
        one.owned.clear();
        real.forEach((shard) => one.owned.add(shard));
      }
      const all = alive().flatMap((one) => [...one.owned]);
      expect(new Set(all).size).toBe(all.length);
      while (alive().length < 4) await join();
    }
    expect(moved).toBeGreaterThan(100);
    expect(believers.length).toBeGreaterThan(8);
  });
});

describe('the liveness session', () => {
  it('comes back by itself, so that a live node does not look dead', async () => {
    const [node, other] = [await kit.node([1]), await kit.node()];
    const db = openDatabase({ url: world.url, applicationName: 'ductor killer', maxConnections: 1 });
    const locks = async (): Promise<number> =>
      (
        await db.query(`select 1 from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
        and database = (select oid from pg_database where datname = current_database())`)
      ).rowCount;
    expect(await locks()).toBe(2);
    await db.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like '%liveness' and datname = current_database()`);
    expect(await eventually(world, locks, (count) => count === 2)).toBe(2);
    expect(await other.cluster.takeOver(other.nodeId, node.nodeId, [1])).toEqual([]);
    expect((await node.cluster.heartbeat(node.nodeId, LEASE_MS)).fenced).toBe(false);
    await db.close();
  });
});

describe('a server that has just started', () => {
  it('has lost all sessions, which proves nothing of nodes elsewhere', async () => {
    const young = await postgresWorld(3_600_000);
    const register = async (address: string): Promise<ContractNode> => {
      const process = await young.open();
      const nodeId = kit.id();
      await process.cluster.register({ nodeId, address, leaseMs: LEASE_MS });
      return { ...process, nodeId };
    };
    const [dead, other, again] = [await register('here:1'), await register('there:1'), await register('here:1')];
    await dead.cluster.claim(dead.nodeId, [1]);
    await dead.kill();
    const sees = async (by: ContractNode): Promise<boolean | undefined> =>
      (await by.cluster.heartbeat(by.nodeId, LEASE_MS)).nodes.find((node) => node.nodeId === dead.nodeId)?.sessionOpen;
    // The one at the same address knows; for the other the same node may still be coming back.
    expect(
      await eventually(
        young,
        () => sees(again),
        (isOpen) => isOpen === false,
      ),
    ).toBe(false);
    expect(await sees(other)).toBe(true);
    expect(await other.cluster.takeOver(other.nodeId, dead.nodeId, [1])).toEqual([]);
    expect(await again.cluster.takeOver(again.nodeId, dead.nodeId, [1])).toEqual([1]);
    await young.close();
  });
});
