/** The folders and names that a start on one data folder works with. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorError, sleep, systemClock, systemRandom, type Clock } from '../../kernel/index.js';
import { EMBEDDED_USER } from './init-data.js';
import type { Target } from './probe.js';
import { giveTo, spawnIdentity, type Identity } from './run-as.js';
import { socketFolder } from './socket-folder.js';

/** How to start an embedded PostgreSQL. */
export interface EmbeddedOptions {
  /** Folder of this launcher alone, made if absent; given to the user nobody when the engine is root. */
  readonly dataDir: string;
  /** Told what happens, one line each; default: nobody. */
  readonly log?: (line: string) => void;
  /** Unix socket, or TCP on the loopback with a random password; default: TCP on Windows only. */
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

/** Everything a start works with. */
export interface Place {
  /** PostgreSQL's own folder. */
  readonly dataFolder: string;
  readonly logFile: string;
  readonly libraryFolder: string;
  /** Undefined when the transport is the unix socket. */
  readonly passwordFile: string | undefined;
  /** Folder of the unix socket; undefined when the transport is TCP. */
  readonly socketFolder: string | undefined;
  readonly identity: Identity | undefined;
  readonly clock: Clock;
  readonly startTimeoutMs: number;
  readonly log: (line: string) => void;
}

/** Port number of the unix socket; only part of its name. */
export const SOCKET_PORT = 5432;

/** Makes the folders of a start, and the password where TCP needs one. */
export function layOut(options: EmbeddedOptions): Place {
  const identity = spawnIdentity();
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
    socketFolder: isTcp ? undefined : socketFolder(dataFolder, SOCKET_PORT, identity),
    identity,
    clock: options.clock ?? systemClock(),
    startTimeoutMs: options.startTimeoutMs ?? 60_000,
    log: options.log ?? ((): void => undefined),
  };
}

/** The connection to a server of this place that listens on the port. */
export function targetOf(place: Place, port: number): Target {
  const common = { port, user: EMBEDDED_USER, database: 'postgres' };
  if (place.socketFolder !== undefined) return { ...common, host: place.socketFolder };
  const password = place.passwordFile === undefined ? '' : readFileSync(place.passwordFile, 'utf8');
  return { ...common, host: '127.0.0.1', password };
}

/** A connection string of the target; node-postgres takes a socket folder as the parameter host. */
export function urlOf({ host, port, user, database, password }: Target): string {
  const secret = password === undefined ? '' : `:${encodeURIComponent(password)}`;
  if (password !== undefined) return `postgresql://${user}${secret}@${host}:${port}/${database}`;
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

/** The end of the server's log from a byte on, for messages. */
export function logTail(place: Place, fromByte: number): string {
  return readFileSync(place.logFile).subarray(fromByte).toString('utf8').trim().slice(-2000);
}

/** Pause between two looks at the pid file, ms. */
const POLL_MS = 5;

/** Waits one poll. Throws embedded_database_failed once the clock is past the deadline. */
export async function pause(place: Place, deadlineMs: number, what: string): Promise<void> {
  if (place.clock.monotonicMs() > deadlineMs) {
    const message = `PostgreSQL in ${place.dataFolder} took too long ${what}; see ${place.logFile}`;
    throw new DuctorError('embedded_database_failed', message);
  }
  await sleep(place.clock, POLL_MS);
}
