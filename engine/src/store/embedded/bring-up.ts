/**
 * Brings a server up on a data folder: adopts the one that is there, or spawns one.
 *
 * States of the folder, told by postmaster.pid: nobody (spawn a server), coming or going (a server that does not accept
 * connections yet or any more: wait), ready (adopt).
 *
 * Invariants:
 * 1. At most one server writes to a data folder: PostgreSQL's own lock decides, this file only retries around it.
 * 2. A folder named pgdata is complete (init-data.ts), and fsync is never turned off.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorError, sleep } from '../../kernel/index.js';
import { runnableBinaries, type Binaries } from './binaries.js';
import { initData } from './init-data.js';
import { logTail, pause, targetOf, type EmbeddedOptions, type Place } from './place.js';
import { packageVersion, platformPackage } from './platform-package.js';
import { readPostmaster } from './postmaster-pid.js';
import { accepts, type Target } from './probe.js';
import { awaitReady, spawnServer } from './spawn-server.js';

/** A server that accepts connections. */
export interface Server {
  readonly target: Target;
  readonly pid: number;
  /** Whether it ran already. */
  readonly adopted: boolean;
}

/** How long a locked folder is retried: a killed server stays a zombie until its parent reaps it. */
const LOCK_RETRY_MS = 5_000;

/** Waits while a server holds the folder; resolves with it once it accepts, or with undefined once it is gone. */
async function awaitHolder(place: Place, deadlineMs: number): Promise<Server | undefined> {
  for (;;) {
    const found = readPostmaster(place.dataFolder);
    if (found.state === 'dead' && found.reused) {
      // PostgreSQL would refuse to start: it cannot see that the number belongs to another program by now.
      place.log(`removing postmaster.pid: process ${found.pid} is not PostgreSQL`);
      rmSync(join(place.dataFolder, 'postmaster.pid'), { force: true });
    }
    if (found.state !== 'alive') return undefined;
    const target = targetOf(place, found.port);
    if (found.status === 'ready' && (await accepts(target))) return { target, pid: found.pid, adopted: true };
    await pause(place, deadlineMs, 'to become ready or to stop');
  }
}

/** Spawns servers until one is up or another engine's is. */
async function spawnUntilUp(place: Place, binaries: Binaries, port: number | undefined): Promise<Server> {
  const deadlineMs = place.clock.monotonicMs() + place.startTimeoutMs;
  for (let lockedSinceMs: number | undefined; ;) {
    const spawned = await spawnServer(place, binaries, port);
    const { pid } = spawned.child;
    const target = await awaitReady(place, spawned, deadlineMs);
    if (target !== undefined && pid !== undefined) return { target, pid, adopted: false };
    // Another engine was faster, or a killed server is not reaped yet.
    const other = await awaitHolder(place, deadlineMs);
    if (other !== undefined) return other;
    lockedSinceMs ??= place.clock.monotonicMs();
    if (place.clock.monotonicMs() - lockedSinceMs > LOCK_RETRY_MS) {
      const message = `${place.dataFolder} stays locked: ${logTail(place, spawned.logStart)}`;
      throw new DuctorError('embedded_database_failed', message);
    }
    await sleep(place.clock, 100);
  }
}

/**
 * Adopts or spawns a server; makes the data folder at the first start.
 *
 * @param port for TCP: the port to listen on; default: a free one
 *
 * Throws embedded_database_unsupported, embedded_database_failed.
 */
export async function bringUp(place: Place, options: EmbeddedOptions, port?: number): Promise<Server> {
  const holder = await awaitHolder(place, place.clock.monotonicMs() + place.startTimeoutMs);
  if (holder !== undefined) return holder;
  const { nativeFolder } = options;
  const found =
    nativeFolder === undefined ? platformPackage() : { nativeFolder, version: packageVersion(nativeFolder) };
  const binaries = runnableBinaries(found, place.identity, place.libraryFolder, options.cacheFolder);
  await initData(place.dataFolder, { binaries, identity: place.identity, passwordFile: place.passwordFile });
  return spawnUntilUp(place, binaries, port);
}
