/** Runs with values that stand beside the journal: committed with their tick, whole again after a takeover. */
import { describe, expect, it } from 'vitest';
import { jsonValue, type Value } from '../machine/index.js';
import { CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { edge, ITEM, outputOf, planOf, sequence } from '../testing/plan-builder.js';

const TWO_STEPS = sequence('a', 'b');
const WORKER = 'worker-1';
const LARGE = jsonValue({ text: 'x'.repeat(1_000) });
const ANSWER = jsonValue(['y'.repeat(900)]);
const OPTIONS = { payloadBytes: 200 };

/** Compared as text: a difference of bytes is printed number by number. */
const text = (value: Value | undefined): string => Buffer.from(value?.data ?? []).toString('utf8');

function payloadsOf(kit: CoordinatorKit, runId: string): number {
  return kit.db.runs.get(`${TENANT}/${runId}`)?.payloads.size ?? -1;
}

describe('large values', () => {
  it('count against the batch with all their bytes', async () => {
    const kit = new CoordinatorKit({ plans: [TWO_STEPS] });
    const node = kit.node({ ...OPTIONS, maxBatchBytes: 1_500 });
    await kit.flush();
    const starts = [1, 2, 3].map(() => node.coordinator.start(kit.request({ input: LARGE })));
    await kit.flush();
    await Promise.all(starts);
    expect(node.batches.map(({ runs }) => runs)).toEqual([1, 1, 1]);
  });

  it('are whole for the steps and for who waits, on this node and after a takeover', async () => {
    const kit = new CoordinatorKit({ plans: [TWO_STEPS] });
    const first = kit.node(OPTIONS);
    await kit.flush();
    const starting = first.coordinator.start(kit.request({ input: LARGE }));
    await kit.flush();
    const { runId } = await starting;
    expect(first.invoker.dispatched.map(({ path, input }) => [path, text(input)])).toEqual([['a', text(LARGE)]]);
    kit.settle(first, kit.take(first, WORKER), { kind: 'completed', output: ANSWER });
    await kit.flush();
    expect(payloadsOf(kit, runId)).toBe(2);
    const inRows = kit.db.runs.get(`${TENANT}/${runId}`)?.rows.reduce((sum, row) => sum + row.entries.byteLength, 0);
    expect(inRows).toBeLessThan(500);

    kit.kill(first);
    const second = kit.node(OPTIONS);
    await kit.pass(8_000);
    const [task] = second.invoker.dispatched;
    expect([task?.path, text(task?.input)]).toEqual(['b', text(ANSWER)]);
    kit.settle(second, kit.take(second, WORKER), { kind: 'completed', output: jsonValue('done') });
    await kit.flush();
    expect(second.changes.at(-1)).toMatchObject({ runId, status: 'COMPLETED' });
    const state = kit.stored(runId);
    expect([state?.status, text(state?.input)]).toEqual(['COMPLETED', text(LARGE)]);
    expect(kit.db.violations).toEqual([]);
  });

  it('are there before a run is folded: items are cut out of them, and lists put together of them', async () => {
    const post = { type: 'CALLBACK', input: ITEM } as const;
    const offer = { type: 'SCATTER', body: { steps: { post }, output: outputOf('post') } } as const;
    const look = { type: 'CALLBACK' } as const;
    const echo = { type: 'SCATTER', body: { steps: { look }, output: ITEM } } as const;
    const plan = planOf({
      steps: { echo, offer, all: { type: 'GATHER', of: 'offer' }, end: { type: 'CALLBACK' } },
      edges: [edge('echo', 'offer'), edge('offer', 'all'), edge('all', 'end')],
      output: outputOf('all'),
    });
    const kit = new CoordinatorKit({ plans: [plan] });
    const first = kit.node(OPTIONS);
    await kit.flush();
    const starting = first.coordinator.start(kit.request({ input: jsonValue(['x'.repeat(300), 'y']) }));
    await kit.flush();
    const { runId } = await starting;
    for (let scatter = 0; scatter < 2; scatter += 1) {
      kit.settle(first, kit.take(first, WORKER), { kind: 'completed', output: ANSWER });
      await kit.flush();
    }
    kit.kill(first);
    const second = kit.node(OPTIONS);
    await kit.pass(8_000);
    expect(second.invoker.dispatched.map(({ path }) => path)).toEqual(['end']);
    expect(kit.stored(runId)?.steps.get('all')?.output?.data.byteLength).toBe(2 * ANSWER.data.byteLength + 3);
  });

  it('come back with a snapshot, too, and are written no second time for it', async () => {
    const kit = new CoordinatorKit({ plans: [sequence('a', 'b', 'c')] });
    const node = kit.node({ payloadBytes: 100_000 });
    await kit.flush();
    const starting = node.coordinator.start(kit.request());
    await kit.flush();
    const { runId } = await starting;
    kit.settle(node, kit.take(node, WORKER), { kind: 'completed', output: jsonValue('o'.repeat(90_000)) });
    await kit.flush();
    const input = jsonValue('i'.repeat(150_000));
    kit.settle(node, kit.take(node, WORKER), { kind: 'completed', output: input });
    await kit.flush();
    expect(kit.db.runs.get(`${TENANT}/${runId}`)?.snapshot?.data.byteLength).toBeLessThan(1_000);
    // The output of a, too: small enough for a row, but each snapshot would write it anew.
    expect(payloadsOf(kit, runId)).toBe(2);
    kit.kill(node);
    const second = kit.node({ payloadBytes: 100_000 });
    await kit.pass(8_000);
    expect(second.invoker.dispatched.map((task) => [task.path, text(task.input)])).toEqual([['c', text(input)]]);
  });

  it('that are lost keep the run from being loaded, and it is said; other runs go on', async () => {
    const kit = new CoordinatorKit({ plans: [TWO_STEPS] });
    const first = kit.node(OPTIONS);
    await kit.flush();
    const starts = [LARGE, jsonValue(1)].map((input) => first.coordinator.start(kit.request({ input })));
    await kit.flush();
    const [lost, good] = await Promise.all(starts);
    kit.db.runs.get(`${TENANT}/${lost?.runId}`)?.payloads.clear();
    kit.kill(first);
    const second = kit.node(OPTIONS);
    await kit.pass(8_000);
    expect(second.invoker.dispatched.map(({ runId }) => runId)).toEqual([good?.runId]);
    expect(second.logs.map(({ message }) => message)).toContain('large values of a run are missing');
  });
});
