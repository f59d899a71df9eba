/**
 * What the thread of life-thread.ts runs. Its text is handed to the thread: it uses nothing but what Node gives every
 * thread, and what it is handed.
 */
import type * as WorkerThreads from 'node:worker_threads';

/** An attempt, as BeatRequest has it in JSON. */
export interface LifeBeat {
  readonly run_id: string;
  readonly path: string;
  readonly attempt: number;
  readonly token: string;
}

/** What the main thread says. */
export interface LifeMessage {
  readonly nodes?: readonly string[];
  readonly begun?: { readonly key: string; readonly beat: LifeBeat; readonly timeoutMs: number };
  readonly ended?: string;
}

/** What the thread begins with. */
export interface LifeSettings {
  readonly authorization: string;
  readonly workerId: string;
  /** [0] counts up while the main thread's loop turns; [1] is 1 while attempts run. */
  readonly shared: Int32Array;
  readonly tickMs: number;
}

/** Runs in the thread, until it is terminated. */
export function watchMainThread(threads: Pick<typeof WorkerThreads, 'parentPort' | 'workerData'>): void {
  const { authorization, workerId, shared, tickMs } = threads.workerData as LifeSettings;
  const attempts = new Map<string, { readonly beat: LifeBeat; readonly timeoutMs: number }>();
  let nodes: readonly string[] = [];
  let seen = -1;
  let movedAt = performance.now();
  let beatAt = 0;

  const beat = (lagMs: number): void => {
    const heartbeats = [...attempts.values()].slice(0, 10_000).map((attempt) => attempt.beat);
    const body = JSON.stringify({ worker_id: workerId, heartbeats, lag_ms: Math.round(lagMs) });
    const headers = { authorization, 'content-type': 'application/json' };
    for (const node of nodes) {
      // Not delivered is not said: the next one comes in a second.
      fetch(`${node}/ductor.v1.BridgeService/Beat`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(5_000),
      })
        .then((answer) => answer.arrayBuffer())
        .catch(() => undefined);
    }
  };
  const look = (): void => {
    const now = performance.now();
    const count = Atomics.load(shared, 0);
    if (count !== seen || Atomics.load(shared, 1) === 0) {
      seen = count;
      movedAt = now;
      return;
    }
    const shortestMs = Math.min(4_000, ...[...attempts.values()].map(({ timeoutMs }) => timeoutMs));
    const lagMs = now - movedAt;
    if (lagMs < 2.5 * tickMs || now - beatAt < shortestMs / 4) return;
    beatAt = now;
    beat(lagMs);
  };
  threads.parentPort?.on('message', (message: LifeMessage) => {
    nodes = message.nodes ?? nodes;
    if (message.begun !== undefined) attempts.set(message.begun.key, message.begun);
    if (message.ended !== undefined) attempts.delete(message.ended);
  });
  setInterval(look, tickMs);
  // What a first call has to load takes its time on a busy machine: it is loaded before the worker takes tasks.
  fetch('data:,')
    .catch(() => undefined)
    .finally(() => threads.parentPort?.postMessage('watching'));
}
