/** All metrics that a node has, for what is made from them and for tests of it. */
import { registerBridgeMetrics } from '../bridge-metrics.js';
import { createMetrics } from '../metrics.js';

/** A metric. */
export interface MetricText {
  readonly name: string;
  /** "counter", "gauge", "histogram". */
  readonly type: string;
  readonly help: string;
}

/** Those of a node that does nothing, without those of Node.js itself, by name. */
export async function allMetrics(): Promise<readonly MetricText[]> {
  const { registry } = createMetrics();
  const depth = { ready: 0, noRoom: 0, noWorker: 0 };
  registerBridgeMetrics(registry, () => ({
    ...{
      sessions: 0,
      workers: 0,
      depth,
      queuedBytes: 0,
      attemptsOut: 0,
      relays: { lending: 1, carried: 1, borrowed: 1, given: 1 },
      refusedTasks: 0,
    },
  }));
  const all = await registry.getMetricsAsJSON();
  const own = all.flatMap(({ name, type, help }) => {
    return name.startsWith('ductor_') ? [{ name, type: String(type), help }] : [];
  });
  return own.sort((a, b) => a.name.localeCompare(b.name));
}
