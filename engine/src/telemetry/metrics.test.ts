/** The metrics are those that docs/operations.md lists, and the bridge's are read when somebody asks. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bridgeHarness } from '../bridge/testing/harness.js';
import { some } from '../bridge/testing/seen.js';
import { registerBridgeMetrics } from './bridge-metrics.js';
import { createMetrics, type Metrics } from './metrics.js';

const DOCS = fileURLToPath(new URL('../../../docs/operations.md', import.meta.url));

function complete(): { readonly metrics: Metrics; readonly harness: ReturnType<typeof bridgeHarness> } {
  const [metrics, harness] = [createMetrics(), bridgeHarness()];
  registerBridgeMetrics(metrics.registry, () => harness.bridge.stats());
  return { metrics, harness };
}

describe('docs/operations.md', () => {
  it('lists every metric with its kind, and no other', async () => {
    const rows = [...readFileSync(DOCS, 'utf8').matchAll(/^\| `(ductor_\w+)` +\| (\w+) /gm)];
    const listed = rows.map(([, name, kind]) => `${name} ${kind}`);
    const { metrics } = complete();
    const known = (await metrics.registry.getMetricsAsJSON()).map(({ name, type }) => `${name} ${String(type)}`);
    expect(listed.sort()).toEqual(known.sort());
  });
});

describe('the metrics of the bridge', () => {
  it('tell what tasks wait for', async () => {
    const { metrics, harness } = complete();
    const { bridge, clock, join } = harness;
    const queued = async (): Promise<readonly string[]> =>
      (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('ductor_queued_tasks{'));
    const lines = (ready: number, noRoom: number, noWorker: number): readonly string[] => [
      `ductor_queued_tasks{state="ready"} ${ready}`,
      `ductor_queued_tasks{state="no_room"} ${noRoom}`,
      `ductor_queued_tasks{state="no_worker"} ${noWorker}`,
    ];
    bridge.dispatch(some(3));
    clock.settle();
    expect(await queued()).toEqual(lines(0, 0, 3));
    const worker = await join();
    expect(await queued()).toEqual(lines(0, 3, 0));
    worker.send({ credits: 2 });
    expect(await queued()).toEqual(lines(0, 1, 0));
    const values = await metrics.values();
    expect(values).toMatchObject({
      queued_tasks: 1,
      attempts_out: 2,
      workers: 1,
      worker_sessions: 1,
      refused_tasks: 0,
    });
  });

  it('count what was refused since the start, however often they are read', async () => {
    const metrics = createMetrics();
    const { bridge, clock } = bridgeHarness({ queueLimits: { maxTasks: 2, maxBytes: 1e6, maxTasksPerTenant: 2 } });
    registerBridgeMetrics(metrics.registry, () => bridge.stats());
    bridge.dispatch(some(5));
    clock.settle();
    expect([(await metrics.values())['refused_tasks'], (await metrics.values())['refused_tasks']]).toEqual([3, 3]);
  });
});
