/** Spawns a server process and waits until it accepts connections. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { DuctorError } from '../../kernel/index.js';
import type { Binaries } from './binaries.js';
import { libraryEnv } from './library-env.js';
import { logTail, pause, SOCKET_PORT, targetOf, type Place } from './place.js';
import { readPostmaster } from './postmaster-pid.js';
import { accepts, type Target } from './probe.js';
import { viewOf, type View } from './run-as.js';

/** PostgreSQL says so when another server holds the folder, also for a moment after that one was killed. */
const LOCKED = /lock file "[^"]*" already exists/;
/** The log is begun anew at a start that finds it longer than this. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;

/** A spawned server process. */
export interface Spawned {
  readonly child: ChildProcess;
  readonly port: number;
  /** Where in the log this server's lines begin. */
  readonly logStart: number;
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

/** Where the server shall listen, as settings. */
function listenSettings(place: Place, view: View, port: number): string[] {
  const common = [`port=${port}`, 'log_checkpoints=off', 'jit=off'];
  if (place.socketFolder !== undefined) {
    const folder = view.name(place.socketFolder);
    return ['listen_addresses=', `unix_socket_directories=${folder}`, 'unix_socket_permissions=0700', ...common];
  }
  const noSocket = process.platform === 'win32' ? [] : ['unix_socket_directories='];
  return ['listen_addresses=127.0.0.1', ...noSocket, ...common];
}

/** Opens the log for appending; a long one is put aside first. */
function openLog(place: Place): number {
  if (existsSync(place.logFile) && statSync(place.logFile).size > MAX_LOG_BYTES) {
    renameSync(place.logFile, `${place.logFile}.1`);
  }
  return openSync(place.logFile, 'a', 0o600);
}

/**
 * Spawns a server, detached: Ctrl-C in a terminal reaches the engine alone, which drains before it stops the server.
 *
 * @param port for TCP: the port to use again after a crash; default: a free one
 */
export async function spawnServer(place: Place, binaries: Binaries, port: number | undefined): Promise<Spawned> {
  const usedPort = place.socketFolder === undefined ? (port ?? (await freePort())) : SOCKET_PORT;
  const log = openLog(place);
  const logStart = statSync(place.logFile).size;
  const view = viewOf(place.identity, place.dataFolder);
  const settings = listenSettings(place, view, usedPort).flatMap((setting) => ['-c', setting]);
  const child = spawn(binaries.postgres, ['-D', view.name(place.dataFolder), ...settings], {
    ...place.identity,
    cwd: view.cwd,
    env: libraryEnv(binaries, view),
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      const message = `${binaries.postgres} cannot be run: ${cause.message}`;
      reject(new DuctorError('embedded_database_failed', message, { cause }));
    });
  });
  return { child, port: usedPort, logStart };
}

/** Waits until the spawned server accepts connections; undefined when it ended because the folder is locked. */
export async function awaitReady(place: Place, spawned: Spawned, deadlineMs: number): Promise<Target | undefined> {
  const { child } = spawned;
  for (;;) {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) {
      const tail = logTail(place, spawned.logStart);
      if (LOCKED.test(tail)) return undefined;
      throw new DuctorError('embedded_database_failed', `PostgreSQL in ${place.dataFolder} ended with ${end}: ${tail}`);
    }
    const found = readPostmaster(place.dataFolder);
    if (found.state === 'alive' && found.pid === child.pid && found.status === 'ready') {
      const target = targetOf(place, spawned.port);
      if (await accepts(target)) return target;
    }
    await pause(place, deadlineMs, 'to start');
  }
}
