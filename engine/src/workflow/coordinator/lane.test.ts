import { describe, expect, it } from 'vitest';
import { encodeInput } from '../journal/index.js';
import { jsonValue } from '../machine/index.js';
import { codeOf, CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { edge, planOf, sequence } from '../testing/plan-builder.js';

const ONE_STEP = sequence('a');
const WORKER = 'worker-1';

/** A key for starts. */
function key(text: string, fill = 1): { readonly key: string; readonly fingerprint: Uint8Array } {
  return { key: text, fingerprint: new Uint8Array(32).fill(fill) };
}

describe('group commit', () => {
  it('starts a hundred runs in one statement, and answers after it', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    const outcomes = await kit.start(node, 100);
    expect(new Set(outcomes.map((outcome) => outcome.runId)).size).toBe(100);
    expect(node.batches.map((batch) => batch.runs)).toEqual([100]);
    expect(node.invoker.dispatched.length).toBe(100);
    expect(kit.db.violations).toEqual([]);
  });

  it('gathers what comes while a statement is in flight', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    let release = (): void => undefined;
    node.hold = new Promise((resolve) => {
      release = () => resolve();
    });
    const first = node.coordinator.start(kit.request());
    await kit.flush();
    const others = Array.from({ length: 50 }, () => node.coordinator.start(kit.request()));
    await kit.flush();
    expect(node.batches).toEqual([]);
    node.hold = null;
    release();
    await kit.flush();
    await Promise.all([first, ...others]);
    expect(node.batches.map((batch) => batch.runs)).toEqual([1, 50]);
  });

  it('bounds a batch by runs and by bytes', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node({ maxBatchRuns: 10, maxBatchBytes: 4_000 });
    await kit.flush();
    const small = Array.from({ length: 25 }, () => node.coordinator.start(kit.request()));
    await kit.flush();
    await Promise.all(small);
    expect(node.batches.map((batch) => batch.runs)).toEqual([10, 10, 5]);
    const input = jsonValue('x'.repeat(2_500));
    const large = Array.from({ length: 3 }, () => node.coordinator.start(kit.request({ input })));
    await kit.flush();
    await Promise.all(large);
    expect(node.batches.slice(3).map((batch) => batch.runs)).toEqual([1, 1, 1]);
  });

  it('runs a workflow to its end and says so once', async () => {
    const kit = new CoordinatorKit({ plans: [sequence('a', 'b')] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    for (let step = 0; step < 2; step += 1) {
      const acks = kit.settle(node, kit.take(node, WORKER));
      expect(acks).toEqual([]);
      await kit.flush();
      expect(acks).toEqual(['recorded']);
    }
    const closed = node.changes.filter((change) => change.closed !== null);
    expect(closed).toMatchObject([{ runId: run?.runId, tenantId: TENANT, status: 'COMPLETED' }]);
    expect(kit.stored(run?.runId ?? '')?.status).toBe('COMPLETED');
  });

  it('acknowledges a doubled result as settled, without a row', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const refs = kit.take(node, WORKER);
    const acks = kit.settle(node, [...refs, ...refs]);
    await kit.flush();
    acks.push(...kit.settle(node, refs));
    await kit.flush();
    expect(acks.slice(0, 2)).toEqual(['recorded', 'already_settled']);
    expect(kit.rows(run?.runId ?? '')).toBe(2);
  });
});

describe('starts', () => {
  it('refuses an input, an unknown version, and a node without shards', async () => {
    const strict = { ...ONE_STEP, checkInput: () => ['input.n is missing'] };
    const kit = new CoordinatorKit({ plans: [strict] });
    const node = kit.node();
    await expect(node.coordinator.start(kit.request())).rejects.toMatchObject({ code: 'node_starting' });
    await kit.flush();
    await expect(node.coordinator.start(kit.request())).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(node.coordinator.start(kit.request({ version: 9 }))).rejects.toMatchObject({
      code: 'workflow_not_published',
    });
  });

  it('bounds the starts that wait', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node({ maxWaitingStarts: 2 });
    await kit.flush();
    const starts = [1, 2, 3].map(() => node.coordinator.start(kit.request()));
    const settled = Promise.allSettled(starts);
    await kit.flush();
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await expect(starts[2]).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect((await kit.start(node, 2)).length).toBe(2);
  });

  it('gives the first run for a key used again, and an error for another input', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    const together = [1, 2, 3].map(() => node.coordinator.start(kit.request({ startKey: key('k') })));
    await kit.flush();
    const outcomes = await Promise.all(together);
    expect(new Set(outcomes.map((outcome) => outcome.runId)).size).toBe(1);
    expect(outcomes.filter((outcome) => outcome.existing).length).toBe(2);
    const other = node.coordinator.start(kit.request({ startKey: key('k', 2) }));
    const code = codeOf(other);
    await kit.flush();
    expect(await code).toBe('idempotency_conflict');
    expect(kit.db.runs.size).toBe(1);
  });

  it('starts again when the key turns out to be free', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.commitFaults.push({ kind: 'answer', outcome: { kind: 'committed', ticks: ['key_taken'] } });
    const start = node.coordinator.start(kit.request({ startKey: key('k') }));
    await kit.flush();
    expect(await start).toMatchObject({ existing: false });
    expect(kit.db.runs.size).toBe(1);
  });
});

describe('isolation inside a batch', () => {
  it('commits 99 of 100 when one conflicts, and the hundredth after a reload', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const runs = await kit.start(node, 100);
    const refs = kit.take(node, WORKER);
    const ticks = Array.from({ length: 100 }, (_, index) =>
      index === 41 ? ('conflict' as const) : ('written' as const),
    );
    // Another writer appends to run 41 behind the coordinator's back: the same result, as a lost commit would have.
    const victim = kit.db.runs.get(`${TENANT}/${runs[41]?.runId}`);
    const acks = kit.settle(node, refs);
    const first = victim?.rows[0];
    if (victim === undefined || first === undefined) expect.unreachable();
    node.fault = ({ method, ticks: writes }) => {
      const write = writes.find((candidate) => candidate.runId === runs[41]?.runId);
      if (method === 'commit' && write !== undefined && victim.rows.length === 1) {
        victim.rows.push({ seq: 2, atUs: write.atUs, entries: write.entries });
        if (write.header !== null) victim.header = write.header;
      }
      return null;
    };
    await kit.flush();
    expect(node.batches[1]?.runs).toBe(100);
    expect(acks.filter((ack) => ack === 'recorded').length).toBe(ticks.filter((tick) => tick === 'written').length);
    expect(acks.filter((ack) => ack === 'already_settled').length).toBe(1);
    expect(runs.every((run) => kit.stored(run.runId)?.status === 'COMPLETED')).toBe(true);
    expect(kit.db.violations).toEqual([]);
  });

  it('commits 99 of 100 beside a poison payload and parks its run with the reason', async () => {
    const bad = Buffer.from('venom');
    const refuses = ({ entries }: { readonly entries: Uint8Array }): string | null =>
      Buffer.from(entries).includes(bad) ? '22P05' : null;
    const kit = new CoordinatorKit({ plans: [ONE_STEP], refuses });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const runs = await kit.start(node, 100);
    const refs = kit.take(node, WORKER);
    const good = kit.settle(
      node,
      refs.filter((_, index) => index !== 57),
    );
    const poison = kit.settle(node, refs.slice(57, 58), { kind: 'completed', output: jsonValue('venom') });
    await kit.flush();
    await kit.flush();
    expect(good.length).toBe(99);
    expect(poison).toEqual(['already_settled']);
    const parked = runs.map((run) => kit.stored(run.runId)).filter((state) => state?.status !== 'COMPLETED');
    expect(parked.map((state) => [state?.runId, state?.status, state?.parked?.code])).toEqual([
      [refs[57]?.runId, 'PARKED', 'poison_commit'],
    ]);
    expect(parked[0]?.parked?.message).toMatch(/^SQLSTATE 22P05 for entries with SHA-256 [0-9a-f]{64}$/);
    // Halving 100 down to one takes at most 2 × log2(100) statements more.
    expect(node.batches.length).toBeLessThan(20);
  });

  it('drops the poison input only; others of the same run are applied', async () => {
    const bad = Buffer.from('venom');
    const refuses = ({ entries }: { readonly entries: Uint8Array }): string | null =>
      Buffer.from(entries).includes(bad) ? '22P05' : null;
    const plan = planOf({ steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' } } });
    const kit = new CoordinatorKit({ plans: [plan], refuses });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const [a, b] = kit.take(node, WORKER);
    if (a === undefined || b === undefined) expect.unreachable();
    const poison = kit.settle(node, [a], { kind: 'completed', output: jsonValue('venom') });
    const good = kit.settle(node, [b]);
    await kit.flush();
    await kit.flush();
    expect([poison, good]).toEqual([['already_settled'], ['recorded']]);
    const state = kit.stored(run?.runId ?? '');
    expect(state?.status).toBe('PARKED');
    expect(state?.steps.get('b')?.status).toBe('COMPLETED');
  });

  it('refuses a start that the database refuses', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP], refuses: ({ seq }) => (seq === 1 ? '22P05' : null) });
    const node = kit.node();
    await kit.flush();
    const code = codeOf(node.coordinator.start(kit.request()));
    await kit.flush();
    expect(await code).toBe('invalid_argument');
    expect(kit.db.runs.size).toBe(0);
  });

  it('parks a run whose plan throws; its results stay recorded and the others commit', async () => {
    const throwing = planOf({
      steps: {
        a: { type: 'CALLBACK' },
        b: {
          type: 'DATAFLOW',
          transform: (scope) => {
            if (scope.stepOutput('a') === 'bad') throw new RangeError('out of memory');
            return 1;
          },
        },
      },
      edges: [edge('a', 'b')],
    });
    const kit = new CoordinatorKit({ plans: [throwing] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const runs = await kit.start(node, 10);
    const refs = kit.take(node, WORKER);
    const bad = kit.settle(node, refs.slice(0, 1), { kind: 'completed', output: jsonValue('bad') });
    const good = kit.settle(node, refs.slice(1));
    await kit.flush();
    expect(bad).toEqual(['recorded']);
    expect(good.length).toBe(9);
    const states = runs.map((run) => kit.stored(run.runId));
    expect(states.filter((state) => state?.status === 'COMPLETED').length).toBe(9);
    const parked = states.find((state) => state?.status === 'PARKED');
    expect(parked?.parked).toEqual({ code: 'machine_error', step: '', message: 'out of memory' });
    expect(parked?.steps.get('a')?.status).toBe('COMPLETED');
  });

  it('parks a run whose plan throws at its start, and acknowledges the start', async () => {
    const throwing = planOf({
      steps: {
        a: {
          type: 'DATAFLOW',
          transform: () => {
            throw new RangeError('at once');
          },
        },
      },
    });
    const kit = new CoordinatorKit({ plans: [throwing] });
    const node = kit.node();
    await kit.flush();
    const [run] = await kit.start(node, 1);
    expect(kit.stored(run?.runId ?? '')).toMatchObject({ status: 'PARKED', parked: { message: 'at once' } });
    expect(node.changes.map((change) => change.status)).toEqual(['PARKED']);
  });

  it('repeats a batch the database wants repeated', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    const repeat = { kind: 'answer', outcome: { kind: 'repeat', sqlState: '40001' } } as const;
    node.commitFaults.push(repeat, repeat, repeat, repeat);
    const starts = [1, 2].map(() => node.coordinator.start(kit.request()));
    await kit.pass(500);
    expect((await Promise.all(starts)).length).toBe(2);
    expect(node.batches.map((batch) => batch.outcome)).toEqual(['repeat', 'repeat', 'repeat', 'repeat', 'committed']);
  });
});

describe('the end of a run that may not lose a message', () => {
  const RECEIVING = { ...ONE_STEP, receives: true };
  const CANCEL = encodeInput({ kind: 'cancel', reason: 'in time', requestedBy: 'ada' });

  it('waits for messages that came beside it, and takes them first', async () => {
    const kit = new CoordinatorKit({ plans: [RECEIVING] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const key = { tenantId: TENANT, runId: run?.runId ?? '' };
    // Nobody hints at it: only the end of the run finds it.
    expect(kit.db.send([{ ...key, kind: 'cancel', body: CANCEL }])).toEqual(['sent']);
    const acks = kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    expect(acks).toEqual(['recorded']);
    expect(kit.stored(key.runId)).toMatchObject({ status: 'CANCELLED', cancel: { reason: 'in time' } });
    expect(kit.db.inbox.size).toBe(0);
    expect(kit.rows(key.runId)).toBe(2);
  });

  it('takes all there is, where a tick takes but a few inputs', async () => {
    const kit = new CoordinatorKit({ plans: [RECEIVING] });
    const node = kit.node({ maxTickInputs: 1 });
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const key = { tenantId: TENANT, runId: run?.runId ?? '' };
    // The end alone fills a tick: without more room it would meet the same mail for ever.
    expect(kit.db.send([CANCEL, CANCEL].map((body) => ({ ...key, kind: 'cancel', body })))).toEqual(['sent', 'sent']);
    const acks = kit.settle(node, kit.take(node, WORKER));
    await kit.pass(1_000);
    expect(acks).toEqual(['recorded']);
    expect(kit.stored(key.runId)).toMatchObject({ status: 'CANCELLED', cancel: { reason: 'in time' } });
    expect(kit.db.inbox.size).toBe(0);
  });

  it('lets a sender wait while the box is sealed, and tells it that the run has ended', async () => {
    const kit = new CoordinatorKit({ plans: [RECEIVING] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const key = { tenantId: TENANT, runId: run?.runId ?? '' };
    kit.db.send([{ ...key, kind: 'cancel', body: CANCEL }]);
    const readings: string[] = [];
    let refuse = true;
    node.fault = ({ store, method }) => {
      if (store === 'inbox') readings.push(method);
      return refuse && store === 'inbox' && method === 'read' ? { kind: 'lost_before' } : null;
    };
    kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    const late = codeOf(node.coordinator.cancel(key, 'late', 'bob'));
    await kit.flush();
    expect(kit.stored(key.runId)?.status).toBe('RUNNING');
    refuse = false;
    await kit.pass(1_000);
    expect(await late).toBe('run_closed');
    expect(readings.filter((method) => method === 'send').length).toBeGreaterThan(1);
    expect(kit.stored(key.runId)).toMatchObject({ status: 'CANCELLED', cancel: { reason: 'in time' } });
  });
});
