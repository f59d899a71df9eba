/** The contract's world on a real Postgres: a database of its own, one proxied run store per process. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../engine/src/kernel/index.js';
import { openDatabase } from '../../engine/src/store/index.js';
import { createTestDatabase, replaceDatabaseClock } from '../../engine/src/store/testing/index.js';
import {
  postgresClusterStore,
  postgresInboxStore,
  postgresRunStore,
} from '../../engine/src/workflow/store-postgres/index.js';
import type { ContractProcess, ContractWorld } from '../../engine/src/workflow/testing/run-store-contract.js';
import { startTcpProxy, throughPort, upstreamOf, type TcpProxy } from './tcp-proxy.js';

/** A process of the world, and what tests of Postgres itself want of it. */
export interface PostgresProcess extends ContractProcess {
  /** Between its run store and the server. */
  readonly proxy: TcpProxy;
}

/** The world, with its database's connection string. */
export interface PostgresWorld extends ContractWorld {
  readonly url: string;
  open(): Promise<PostgresProcess>;
}

/**
 * Makes a world.
 *
 * @param restartGraceMs for so long after its start the server's lost sessions prove nothing; default 0: the tests' own
 * server has just started
 */
export async function postgresWorld(restartGraceMs = 0): Promise<PostgresWorld> {
  const created = await createTestDatabase();
  const databaseClock = await replaceDatabaseClock(created.db);
  const closing: (() => Promise<void>)[] = [];

  const open = async (): Promise<PostgresProcess> => {
    const proxy = await startTcpProxy(upstreamOf(created.url));
    const proxied = throughPort(created.url, proxy.port);
    const db = openDatabase({ url: created.url, applicationName: 'ductor contract', maxConnections: 3 });
    const throughProxy = openDatabase({
      url: proxied,
      applicationName: 'ductor proxied',
      maxConnections: 1,
    });
    const clock = systemClock();
    const runs = postgresRunStore({ db: throughProxy, clock });
    const cluster = postgresClusterStore({ db, clock, liveness: { restartGraceMs } });
    let isOpen = true;
    const kill = async (): Promise<void> => {
      if (!isOpen) return;
      isOpen = false;
      await Promise.all([cluster.close(), runs.close()]);
      await Promise.all([db.close(), throughProxy.close()]);
      proxy.stop();
    };
    closing.push(kill);
    const loseNextAnswer = (): void => void proxy.cutNext('commit_', 'answered');
    return { runs, cluster, inbox: postgresInboxStore(db), kill, loseNextAnswer, proxy };
  };
  return {
    url: created.url,
    open,
    advance: (ms) => databaseClock.advance(ms * 1_000),
    moment: () => pause(5),
    async close() {
      await Promise.all(closing.map((close) => close()));
      await created.drop();
    },
  };
}
