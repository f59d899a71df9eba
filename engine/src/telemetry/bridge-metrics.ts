/** Metrics of the bridge: read when somebody asks, so that they cost nothing while nobody does. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Figures of the bridge; BridgeStats is one. */
export interface BridgeFigures {
  readonly sessions: number;
  readonly workers: number;
  readonly depth: { readonly ready: number; readonly noRoom: number; readonly noWorker: number };
  readonly queuedBytes: number;
  readonly attemptsOut: number;
  /** Since the start. */
  readonly refusedTasks: number;
}

/** Adds the metrics to a registry. Call it once. */
export function registerBridgeMetrics(registry: Registry, read: () => BridgeFigures): void {
  const registers = [registry];
  const gauge = (name: string, help: string, value: (figures: BridgeFigures) => number): void =>
    void new Gauge({
      ...{ name, help, registers },
      collect() {
        this.set(value(read()));
      },
    });
  gauge('ductor_worker_sessions', 'Streams of workers', ({ sessions }) => sessions);
  gauge('ductor_workers', 'Workers with a stream to this node', ({ workers }) => workers);
  gauge('ductor_attempts_out', 'Attempts that workers hold', ({ attemptsOut }) => attemptsOut);
  gauge('ductor_queued_bytes', 'Bytes of inputs of tasks that wait', ({ queuedBytes }) => queuedBytes);
  void new Gauge({
    ...{ name: 'ductor_queued_tasks', help: 'Tasks that wait, by what for', labelNames: ['state'], registers },
    collect() {
      const { ready, noRoom, noWorker } = read().depth;
      this.set({ state: 'ready' }, ready);
      this.set({ state: 'no_room' }, noRoom);
      this.set({ state: 'no_worker' }, noWorker);
    },
  });
  void new Counter({
    ...{ name: 'ductor_refused_tasks_total', help: 'Tasks that had no room in the queue', registers },
    collect() {
      this.reset();
      this.inc(read().refusedTasks);
    },
  });
}
