import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { bridgeHarness, HELLO, workerId } from '../testing/harness.js';
import { tasksOf } from '../testing/seen.js';
import { runId, task, tenantId } from '../testing/tasks.js';

const NAME = `${tenantId(1)}/${workerId(1)}`;

describe('hello', () => {
  it('is answered with the nodes and an outcome for each workflow', async () => {
    const { join, told } = bridgeHarness();
    const worker = await join();
    expect(worker.received[0]?.welcome).toEqual({
      nodeId: 'node',
      tenantId: tenantId(1),
      nodes: ['10.0.0.1:7400', '10.0.0.2:7400'],
      registrations: [{ familySlug: 'flow', version: 1, published: true, problems: [], code: '' }],
      heartbeatIntervalMs: 5_000,
    });
    expect(told.connected).toEqual([{ worker: NAME, holds: [] }]);
  });

  it('may bring a refused definition: the worker stays for its other workflows', async () => {
    const problem = { path: 'steps', value: '', problem: 'are missing', remedy: 'add some' };
    const { join, bridge, clock } = bridgeHarness({
      register: (_, { family_slug: slug }) =>
        slug === 'bad'
          ? Promise.reject(new DuctorError('invalid_definition', 'it is bad', { details: [problem] }))
          : Promise.resolve({ version: 3, isNew: false }),
    });
    const workflows = ['bad', 'flow'].map((familySlug) => ({ definition: { familySlug }, handlers: ['work'] }));
    const worker = await join({ workflows });
    expect(worker.received[0]?.welcome?.registrations).toEqual([
      { familySlug: 'bad', version: 0, published: false, problems: [problem], code: 'invalid_definition' },
      { familySlug: 'flow', version: 3, published: false, problems: [], code: '' },
    ]);
    worker.send({ credits: 2 });
    bridge.dispatch([task({ runId: runId(1) }), task({ runId: runId(2), familySlug: 'bad' })]);
    clock.settle();
    expect(tasksOf(worker)).toEqual([runId(1)]);
  });

  it('fails when the database does', async () => {
    const failure = new DuctorError('database_unavailable', 'gone');
    const { join, told } = bridgeHarness({ register: () => Promise.reject(failure) });
    expect((await join()).ending).toBe(failure);
    expect(told.gone).toEqual([]);
  });

  it('must come first, in time, once, and within bounds', async () => {
    const { open, join, clock } = bridgeHarness();
    const silent = open();
    clock.advance(4_999);
    expect(silent.ending).toBeUndefined();
    clock.advance(1);
    expect(silent.ending?.code).toBe('worker_unresponsive');
    const eager = open();
    eager.send({ credits: 1 });
    expect(eager.ending?.code).toBe('invalid_argument');
    const twice = await join();
    twice.send({ hello: HELLO });
    expect(twice.ending?.code).toBe('invalid_argument');
    for (const hello of [
      { slots: 0 },
      { slots: 10_001 },
      { workerId: 'me' },
      { queues: [''] },
      { queues: ['a\0b'] },
      { queues: Array.from({ length: 101 }, (_, at) => `q${at}`) },
      { workflows: [{ handlers: ['x'] }] },
      { workflows: [{ definition: {}, handlers: ['x'.repeat(129)] }] },
      { workflows: Array.from({ length: 1_001 }, () => ({ definition: {} })) },
    ]) {
      expect((await join(hello)).ending?.code).toBe('invalid_argument');
    }
    expect((await join({ slots: 10_000 })).ending).toBeUndefined();
  });

  it('is refused while the node has no coordinator or goes away', async () => {
    const { bridge, open } = bridgeHarness();
    bridge.drain();
    expect(() => open()).toThrow(/takes no workers/);
  });

  it('is refused beyond the streams of a tenant, and leaves others alone', async () => {
    const { open } = bridgeHarness();
    const streams = Array.from({ length: 1_000 }, () => open());
    expect(() => open()).toThrow(/1000 streams/);
    open(2);
    streams[0]?.events.gone();
    open();
  });
});
