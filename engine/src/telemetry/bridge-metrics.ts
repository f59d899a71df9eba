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
  readonly relays: {
    /** Workers lent to other nodes, and tasks of theirs that such workers got since the start. */
    readonly lending: number;
    readonly carried: number;
    /** Workers that other nodes lend, and tasks that such workers got since the start. */
    readonly borrowed: number;
    readonly given: number;
  };
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
  registerRelayMetrics(registers, () => read().relays);
  void new Counter({
    ...{ name: 'ductor_refused_tasks_total', help: 'Tasks that had no room in the queue', registers },
    collect() {
      this.reset();
      this.inc(read().refusedTasks);
    },
  });
}

/** Workers that nodes lend each other. */
function registerRelayMetrics(registers: Registry[], read: () => BridgeFigures['relays']): void {
  const labelNames = ['direction'];
  void new Gauge({
    ...{ name: 'ductor_relays', help: 'Workers lent to other nodes (out) and by them (in)', labelNames, registers },
    collect() {
      const { lending, borrowed } = read();
      this.set({ direction: 'out' }, lending);
      this.set({ direction: 'in' }, borrowed);
    },
  });
  void new Counter({
    ...{ name: 'ductor_relayed_tasks_total', labelNames, registers },
    help: 'Tasks that workers lent to other nodes (out) or by them (in) got',
    collect() {
      const { carried, given } = read();
      this.reset();
      this.inc({ direction: 'out' }, carried);
      this.inc({ direction: 'in' }, given);
    },
  });
}
