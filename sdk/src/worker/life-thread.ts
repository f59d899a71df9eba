/**
 * Signs of life from a thread of its own, while the event loop of the app is blocked.
 *
 *   none -> watching (an attempt runs) <-> resting (none does) -> stopped
 * The main thread counts up a shared number ten times a second while attempts run. The thread looks at it as often: a
 * number that stands still means that the loop is blocked, and then the thread tells every engine node once a second,
 * or four times in the shortest heartbeat timeout, that the worker and its attempts live.
 * Invariants
 *   L1 the thread says nothing while the loop turns: a body that hangs without blocking it is still found out.
 *   L2 what the thread knows of an attempt it knows before the attempt's body runs.
 *   L3 neither thread nor timers keep the process alive; stop() ends both.
 */
import { Worker as Thread } from 'node:worker_threads';
import type { Task } from '../gen/ductor/v1/bridge.js';
import type { Connection } from '../connection/connection.js';
import type { LogSink } from './log.js';
import { watchMainThread, type LifeMessage, type LifeSettings } from './life-thread-main.js';
import { attemptKey } from './result-outbox.js';

/** What the thread needs. */
export interface LifeOptions {
  /** host:port of each node that the worker has a stream to. */
  readonly addresses: () => readonly string[];
  readonly workerId: string;
  readonly log: LogSink;
}

const TICK_MS = 100;
/** How long the worker waits for the thread before it connects. */
const START_MS = 2_000;
/** A block that is shorter is nobody's business. */
const NOTABLE_MS = 1_000;

/** The thread and the main thread's part of it. */
export class LifeThread {
  readonly #options: LifeOptions;
  readonly #shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  #thread: Thread | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #lastTick = 0;
  readonly #attempts = new Set<Task>();

  readonly #connection: Pick<Connection, 'authorization' | 'scheme'>;

  constructor(connection: Pick<Connection, 'authorization' | 'scheme'>, options: LifeOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * Starts the thread. Resolves when it watches, so that a body may block at once; when it takes too long or threads
   * cannot be had, the worker lives without.
   */
  start(): Promise<void> {
    const { workerId, log } = this.#options;
    const { authorization } = this.#connection;
    const settings: LifeSettings = { authorization, workerId, shared: this.#shared, tickMs: TICK_MS };
    return new Promise((resolve) => {
      try {
        // From its own text, so that there is no file to find, whatever the app is bundled with. Tools that keep names
        // of functions (tsx) call a helper, which the text has to bring along.
        const text = `const __name = (f) => f; (${watchMainThread.toString()})(require('node:worker_threads'));`;
        this.#thread = new Thread(text, { eval: true, workerData: settings, execArgv: [] });
      } catch (error) {
        log('warn', 'no thread for signs of life', { error: String(error) });
        resolve();
        return;
      }
      this.#thread.unref();
      this.#thread.on('error', (error) => {
        log('warn', 'the thread for signs of life ended', { error: error.message });
        resolve();
      });
      this.#thread.once('message', () => resolve());
      setTimeout(resolve, START_MS).unref();
    });
  }

  /** The nodes have changed. */
  nodesChanged(): void {
    const { scheme } = this.#connection;
    this.#say({ nodes: this.#options.addresses().map((address) => `${scheme}://${address}`) });
  }

  /** An attempt begins; call it before its body runs. */
  begin(task: Task): void {
    this.#attempts.add(task);
    if (this.#attempts.size === 1) this.#watch();
    if (task.heartbeatTimeoutMs === 0) return;
    const { runId, path, attempt, token, heartbeatTimeoutMs } = task;
    const beat = { run_id: runId, path, attempt, token: Buffer.from(token).toString('base64') };
    this.#say({ begun: { key: attemptKey(task), beat, timeoutMs: heartbeatTimeoutMs } });
  }

  /** It has ended. */
  end(task: Task): void {
    if (this.#attempts.size === 1) this.#rest();
    this.#attempts.delete(task);
    if (task.heartbeatTimeoutMs !== 0) this.#say({ ended: attemptKey(task) });
  }

  stop(): void {
    this.#rest();
    void this.#thread?.terminate();
    this.#thread = undefined;
  }

  #say(message: LifeMessage): void {
    this.#thread?.postMessage(message);
  }

  #watch(): void {
    this.#lastTick = performance.now();
    Atomics.add(this.#shared, 0, 1);
    Atomics.store(this.#shared, 1, 1);
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#ticking.unref();
  }

  #rest(): void {
    this.#noteLag();
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    Atomics.store(this.#shared, 1, 0);
  }

  #tick(): void {
    this.#noteLag();
    Atomics.add(this.#shared, 0, 1);
  }

  #noteLag(): void {
    const now = performance.now();
    const lagMs = Math.round(now - this.#lastTick - TICK_MS);
    this.#lastTick = now;
    if (this.#ticking === undefined || lagMs < NOTABLE_MS) return;
    const steps = [...this.#attempts].slice(0, 10).map(({ familySlug, path }) => `${familySlug}/${path}`);
    this.#options.log('warn', 'the event loop was blocked', { lag_ms: lagMs, steps });
  }
}
