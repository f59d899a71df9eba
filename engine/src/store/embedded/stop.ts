/** Turns an embedded server off. */
import { rmSync } from 'node:fs';
import { sleep, type Clock } from '../../kernel/index.js';
import { isProcessAlive, readPostmaster } from './postmaster-pid.js';
import { hasEngines, type Target } from './probe.js';

/** The server to stop and how to reach it. */
export interface StopOptions {
  readonly dataFolder: string;
  /** Temp folder of the socket when it does not lie in the data folder. */
  readonly socketFolder: string | undefined;
  readonly target: Target;
  readonly pid: number;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

/** How long a fast shutdown may take before the immediate one. */
const FAST_SHUTDOWN_MS = 10_000;
/** How long closing connections of this engine may linger in the server's list. */
const LINGER_MS = 300;

/** Whether engines stay connected; one that just closed its connections is listed for a moment longer. */
async function othersStay({ target, clock }: StopOptions): Promise<boolean> {
  const untilMs = clock.monotonicMs() + LINGER_MS;
  while (await hasEngines(target)) {
    if (clock.monotonicMs() > untilMs) return true;
    await sleep(clock, 10);
  }
  return false;
}

/** Waits for the process to end; false when it still runs after so many ms. */
async function ends(pid: number, clock: Clock, withinMs: number): Promise<boolean> {
  const untilMs = clock.monotonicMs() + withinMs;
  while (isProcessAlive(pid)) {
    if (clock.monotonicMs() > untilMs) return false;
    await sleep(clock, 5);
  }
  return true;
}

/**
 * Stops the server unless another engine is connected; resolves with whether it is off now.
 * Close the engine's own connections first, they count as another's.
 */
export async function stopServer(options: StopOptions): Promise<boolean> {
  const { pid, clock, log, dataFolder } = options;
  const found = readPostmaster(dataFolder);
  // Gone already, or replaced by a server that another engine started since.
  if (found.state !== 'alive' || found.pid !== pid) return found.state !== 'alive';
  if (await othersStay(options).catch(() => false)) {
    log(`left PostgreSQL running, process ${pid}: another engine is connected`);
    return false;
  }
  process.kill(pid, 'SIGINT');
  if (!(await ends(pid, clock, FAST_SHUTDOWN_MS))) {
    log(`PostgreSQL, process ${pid}, did not stop within ${FAST_SHUTDOWN_MS} ms; stopping it at once`);
    process.kill(pid, 'SIGQUIT');
    await ends(pid, clock, FAST_SHUTDOWN_MS);
  }
  if (options.socketFolder !== undefined && options.socketFolder !== dataFolder) {
    rmSync(options.socketFolder, { recursive: true, force: true });
  }
  return !isProcessAlive(pid);
}
