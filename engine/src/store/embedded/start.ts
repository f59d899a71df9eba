/**
 * Starts the embedded PostgreSQL of a data folder, or adopts the one that runs there already.
 *
 * States of the data folder, told by postmaster.pid: nobody (no server; spawn one), coming or going (a server that does
 * not accept connections yet or any more; wait), ready (accepts; adopt it or, if it is ours, done).
 *
 * Invariants:
 * 1. At most one server writes to a data folder: PostgreSQL's own lock decides, this file only retries around it.
 * 2. A folder named pgdata is complete (init-data.ts), and fsync is never turned off.
 * 3. The server outlives a killed engine; the next start adopts it. Who leaves last turns it off (stop.ts).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DuctorError, sleep, systemClock, systemRandom, type Clock } from '../../kernel/index.js';
import { runnableBinaries, type Binaries } from './binaries.js';
import { EMBEDDED_USER, initData } from './init-data.js';
import { libraryEnv } from './library-env.js';
import { packageVersion, platformPackage } from './platform-package.js';
import { readPostmaster } from './postmaster-pid.js';
import { accepts, type Target } from './probe.js';
import { giveTo, spawnIdentity, viewOf, type Identity } from './run-as.js';
import { socketFolder } from './socket-folder.js';
import { stopServer } from './stop.js';

/** How to start an embedded PostgreSQL. */
export interface EmbeddedOptions {
  /** Folder of this launcher alone, made if absent; given to the user nobody when the engine is root. */
  readonly dataDir: string;
  /** Told what happens, one line each; default: nobody. */
  readonly log?: (line: string) => void;
  /** Unix socket or TCP on the loopback with a random password; default: TCP on Windows only. */
  readonly transport?: 'socket' | 'tcp';
  /** Longest start, ms, including the recovery after a crash; default 60,000. */
  readonly startTimeoutMs?: number;
  /** Folder with bin, lib and share; default: the platform's package. */
  readonly nativeFolder?: string;
  /** Where a root engine copies binaries that nobody cannot reach; default /var/cache/ductor. */
  readonly cacheFolder?: string;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** Connection string for openDatabase; holds the password when the transport is TCP. */
  readonly url: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Whether it ran already. */
  readonly adopted: boolean;
  /** Turns the server off unless another engine is connected to it; resolves with whether it did. */
  stop(): Promise<boolean>;
}

/** PostgreSQL says so when another server holds the folder, also for a moment after that one was killed. */
const LOCKED = /lock file "[^"]*" already exists/;
/** How long a locked folder is retried: a killed server stays a zombie until its parent reaps it. */
const LOCK_RETRY_MS = 5_000;
/** Pause between two looks at the pid file. */
const POLL_MS = 5;
/** The log is begun anew at a start that finds it longer than this. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
/** Port number of the unix socket; only part of its name. */
const SOCKET_PORT = 5432;

/** Everything a start works with. */
interface Place {
  readonly dataFolder: string;
  readonly logFile: string;
  readonly libraryFolder: string;
  readonly passwordFile: string | undefined;
  readonly identity: Identity | undefined;
  readonly socketFolder: string | undefined;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly log: (line: string) => void;
}

/** Makes the folders of a start, and the password where TCP needs one. */
function layOut(options: EmbeddedOptions): Place {
  const identity = spawnIdentity();
  const clock = options.clock ?? systemClock();
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const dataDir = realpathSync(options.dataDir);
  giveTo(identity, dataDir);
  const dataFolder = join(dataDir, 'pgdata');
  const isTcp = (options.transport ?? (process.platform === 'win32' ? 'tcp' : 'socket')) === 'tcp';
  const passwordFile = isTcp ? join(dataDir, 'password') : undefined;
  if (passwordFile !== undefined && !existsSync(passwordFile)) {
    writeFileSync(passwordFile, Buffer.from(systemRandom().bytes(24)).toString('hex'), { mode: 0o600 });
    giveTo(identity, passwordFile);
  }
  return {
    dataFolder,
    logFile: join(dataDir, 'postgres.log'),
    libraryFolder: join(dataDir, 'lib'),
    passwordFile,
    identity,
    socketFolder: isTcp ? undefined : socketFolder(dataFolder, SOCKET_PORT, identity),
    clock,
    deadlineMs: clock.monotonicMs() + (options.startTimeoutMs ?? 60_000),
    log: options.log ?? ((): void => undefined),
  };
}

/** The connection to a server of this place that listens on the port. */
function targetOf(place: Place, port: number): Target {
  const common = { port, user: EMBEDDED_USER, database: 'postgres' };
  if (place.socketFolder !== undefined) return { ...common, host: place.socketFolder };
  const password = place.passwordFile === undefined ? '' : readFileSync(place.passwordFile, 'utf8');
  return { ...common, host: '127.0.0.1', password };
}

/** A connection string of the target; node-postgres takes a socket folder as the parameter host. */
function urlOf({ host, port, user, database, password }: Target): string {
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
  if (!host.startsWith('/')) return `postgresql://${user}${secret}@${host}:${port}/${database}`;
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** A free port of the loopback; should another program take it before PostgreSQL does, the start fails. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** The end of the server's log, for messages. */
function logTail(place: Place, fromByte: number): string {
  return readFileSync(place.logFile).subarray(fromByte).toString('utf8').trim().slice(-2000);
}

interface Spawned {
  readonly child: ChildProcess;
  readonly port: number;
  /** Where in the log this server's lines begin. */
  readonly logStart: number;
}

/** Spawns a server, detached: Ctrl-C in a terminal reaches the engine alone, which drains before it stops it. */
async function spawnServer(place: Place, binaries: Binaries): Promise<Spawned> {
  if (existsSync(place.logFile) && statSync(place.logFile).size > MAX_LOG_BYTES)
    renameSync(place.logFile, `${place.logFile}.1`);
  const output = openSync(place.logFile, 'a', 0o600);
  const logStart = statSync(place.logFile).size;
  const view = viewOf(place.identity, place.dataFolder);
  const port = place.socketFolder === undefined ? await freePort() : SOCKET_PORT;
  const address =
    place.socketFolder === undefined
      ? ['listen_addresses=127.0.0.1', ...(process.platform === 'win32' ? [] : ['unix_socket_directories='])]
      : [
          'listen_addresses=',
          `unix_socket_directories=${view.name(place.socketFolder)}`,
          'unix_socket_permissions=0700',
        ];
  const settings = [...address, `port=${port}`, 'log_checkpoints=off', 'jit=off'];
  const child = spawn(
    binaries.postgres,
    ['-D', view.name(place.dataFolder), ...settings.flatMap((setting) => ['-c', setting])],
    {
      ...place.identity,
      cwd: view.cwd,
      env: libraryEnv(binaries, view),
      detached: true,
      stdio: ['ignore', output, output],
    },
  );
  closeSync(output);
  child.unref();
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      reject(
        new DuctorError('embedded_database_failed', `${binaries.postgres} cannot be run: ${cause.message}`, { cause }),
      );
    });
  });
  return { child, port, logStart };
}

/** Waits until the spawned server accepts connections; undefined when it ended because the folder is locked. */
async function awaitReady(place: Place, spawned: Spawned): Promise<Target | undefined> {
  const { child } = spawned;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      const tail = logTail(place, spawned.logStart);
      if (LOCKED.test(tail)) return undefined;
      const end = child.exitCode ?? child.signalCode;
      throw new DuctorError('embedded_database_failed', `PostgreSQL in ${place.dataFolder} ended with ${end}: ${tail}`);
    }
    const found = readPostmaster(place.dataFolder);
    if (found.state === 'alive' && found.pid === child.pid && found.status === 'ready') {
      const target = targetOf(place, spawned.port);
      if (await accepts(target)) return target;
    }
    await pause(place, 'to start');
  }
}

/** Waits one poll. Throws embedded_database_failed when the start takes too long. */
async function pause(place: Place, what: string): Promise<void> {
  if (place.clock.monotonicMs() > place.deadlineMs) {
    throw new DuctorError(
      'embedded_database_failed',
      `PostgreSQL in ${place.dataFolder} took too long ${what}; see ${place.logFile}`,
    );
  }
  await sleep(place.clock, POLL_MS);
}

/** Waits while a server holds the folder; resolves with it once it accepts, or with undefined once it is gone. */
async function awaitHolder(place: Place): Promise<{ target: Target; pid: number } | undefined> {
  for (;;) {
    const found = readPostmaster(place.dataFolder);
    if (found.state === 'dead' && found.reused) {
      // PostgreSQL would refuse to start: it cannot see that the number belongs to another program by now.
      place.log(`removing postmaster.pid: process ${found.pid} is not PostgreSQL`);
      rmSync(join(place.dataFolder, 'postmaster.pid'), { force: true });
    }
    if (found.state !== 'alive') return undefined;
    const target = targetOf(place, found.port);
    if (found.status === 'ready' && (await accepts(target))) return { target, pid: found.pid };
    await pause(place, 'to become ready or to stop');
  }
}

/** The running server as the caller sees it. */
function running(place: Place, target: Target, pid: number, adopted: boolean): EmbeddedPostgres {
  place.log(adopted ? `adopted the running PostgreSQL, process ${pid}` : `started PostgreSQL, process ${pid}`);
  return { url: urlOf(target), pid, adopted, stop: () => stopServer({ ...place, target, pid }) };
}

/**
 * Starts or adopts the embedded PostgreSQL of the data folder; makes the folder at the first start.
 *
 * Throws embedded_database_unsupported when the platform has no binaries, embedded_database_failed when the server does
 * not start.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const place = layOut(options);
  const holder = await awaitHolder(place);
  if (holder !== undefined) return running(place, holder.target, holder.pid, true);
  const found =
    options.nativeFolder === undefined
      ? platformPackage()
      : { nativeFolder: options.nativeFolder, version: packageVersion(options.nativeFolder) };
  const binaries = runnableBinaries(found, place.identity, place.libraryFolder, options.cacheFolder);
  await initData(place.dataFolder, { binaries, identity: place.identity, passwordFile: place.passwordFile });
  for (let lockedSinceMs: number | undefined; ;) {
    const spawned = await spawnServer(place, binaries);
    const target = await awaitReady(place, spawned);
    if (target !== undefined && spawned.child.pid !== undefined)
      return running(place, target, spawned.child.pid, false);
    // Another engine was faster, or a killed server is not reaped yet.
    const other = await awaitHolder(place);
    if (other !== undefined) return running(place, other.target, other.pid, true);
    lockedSinceMs ??= place.clock.monotonicMs();
    if (place.clock.monotonicMs() - lockedSinceMs > LOCK_RETRY_MS) {
      throw new DuctorError(
        'embedded_database_failed',
        `${place.dataFolder} stays locked: ${logTail(place, spawned.logStart)}`,
      );
    }
    await sleep(place.clock, 100);
  }
}
