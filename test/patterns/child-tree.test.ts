import { describe, expect, it } from 'vitest';
import { orderTree } from '../../docs/patterns/child-tree.js';
import { patternWorld } from '../support/pattern-world.js';
import { until } from '../support/wait.js';

const packing: string[] = [];
const stopped: string[] = [];

const { order, shipment, parcel } = orderTree(async (name, signal) => {
  packing.push(name);
  if (name.startsWith('slow')) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    stopped.push(name);
    signal.throwIfAborted();
  }
  return { label: `L-${name}` };
});
const client = await patternWorld([order, shipment, parcel]);

describe('the child tree', () => {
  it('answers what its grandchildren answered, in order', async () => {
    const run = await client.trigger(order, { shipments: [{ parcels: ['a', 'b'] }, { parcels: ['c'] }] });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toEqual({
      shipments: [{ labels: [{ label: 'L-a' }, { label: 'L-b' }] }, { labels: [{ label: 'L-c' }] }],
    });
  });

  it('is cancelled as a whole: every parcel is told to stop, and every run of the family ends', async () => {
    const run = await client.trigger(order, {
      shipments: [{ parcels: ['slow-1', 'slow-2'] }, { parcels: ['slow-3'] }],
    });
    await until('all to be packed', () => ['slow-1', 'slow-2', 'slow-3'].every((name) => packing.includes(name)));
    await run.cancel('the customer left');
    await expect(run.result({ timeoutMs: 20_000 })).rejects.toMatchObject({ state: 'CANCELLED' });
    expect([...stopped].sort()).toEqual(['slow-1', 'slow-2', 'slow-3']);
    const parcels = await client.list({ workflow: 'parcel', state: 'CANCELLED' });
    const shipments = await client.list({ workflow: 'shipment', state: 'CANCELLED' });
    expect([parcels.runs.length, shipments.runs.length]).toEqual([3, 2]);
  });
});
