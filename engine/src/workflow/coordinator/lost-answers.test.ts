import { describe, expect, it } from 'vitest';
import { codeOf, CoordinatorKit } from '../testing/coordinator-kit.js';
import { planOf, sequence } from '../testing/plan-builder.js';

const ONE_STEP = sequence('a');
const WORKER = 'worker-1';

describe('an answer that was lost', () => {
  it.each(['lost_before', 'lost_after'] as const)('of a start (%s): one run, answered after a reload', async (kind) => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.commitFaults.push({ kind });
    let isAnswered = false;
    const start = node.coordinator.start(kit.request({ startKey: { key: 'k', fingerprint: new Uint8Array(32) } }));
    void start.then(() => (isAnswered = true));
    const settles: string[] = [];
    node.fault = ({ method }) => {
      if (method === 'settle') settles.push(`answered ${String(isAnswered)}, sent ${node.invoker.dispatched.length}`);
      return null;
    };
    await kit.flush();
    expect(await start).toMatchObject({ existing: false });
    expect(settles).toEqual(['answered false, sent 0']);
    expect(kit.db.runs.size).toBe(1);
    expect(node.invoker.dispatched.length).toBe(1);
    expect(node.changes.some((change) => change.status === 'RUNNING')).toBe(true);
  });

  it.each(['lost_before', 'lost_after'] as const)('of a result (%s): acknowledged once, applied once', async (kind) => {
    const kit = new CoordinatorKit({ plans: [sequence('a', 'b')] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    node.commitFaults.push({ kind });
    const acks = kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    expect(acks.length).toBe(1);
    expect(node.invoker.dispatched.map((task) => task.path)).toEqual(['a', 'b']);
    expect(kit.rows(run?.runId ?? '')).toBe(2);
    const last = kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    expect(last).toEqual(['recorded']);
    expect(kit.stored(run?.runId ?? '')?.status).toBe('COMPLETED');
    expect(node.changes.at(-1)?.status).toBe('COMPLETED');
  });

  it('tells the end of a run whose last commit was lost', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    await kit.start(node, 1);
    node.commitFaults.push({ kind: 'lost_after' });
    kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    expect(node.changes.at(-1)).toMatchObject({ status: 'COMPLETED', closed: { error: null } });
  });

  it('takes part with a hundred runs and loses none', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const runs = await kit.start(node, 100);
    node.commitFaults.push({ kind: 'lost_late', when: kit.flush() });
    const acks = kit.settle(node, kit.take(node, WORKER));
    await kit.pass(200);
    expect(acks.length).toBe(100);
    expect(runs.every((run) => kit.stored(run.runId)?.status === 'COMPLETED')).toBe(true);
    expect(runs.every((run) => kit.rows(run.runId) === 2)).toBe(true);
    expect(kit.db.violations).toEqual([]);
  });

  it('keeps a run from being loaded until the lost transaction has ended, whatever comes meanwhile', async () => {
    const plan = planOf({ steps: { a: { type: 'CALLBACK' }, b: { type: 'CALLBACK' } } });
    const kit = new CoordinatorKit({ plans: [plan] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const [a, b] = kit.take(node, WORKER);
    if (a === undefined || b === undefined) expect.unreachable();
    const calls: string[] = [];
    node.fault = ({ method }) => {
      const isFirst = !calls.includes(method);
      if (method === 'settle' || method === 'load') calls.push(method);
      return method === 'settle' && isFirst ? { kind: 'lost_before' } : null;
    };
    node.commitFaults.push({ kind: 'lost_after' });
    kit.settle(node, [a]);
    await kit.flush();
    kit.settle(node, [b]);
    await kit.flush();
    expect(calls).toEqual(['settle']);
    await kit.pass(5_000);
    expect(calls).toEqual(['settle', 'settle', 'load']);
    expect(kit.stored(run?.runId ?? '')?.status).toBe('COMPLETED');
  });

  it('waits while the database is away, and loses nothing', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    await kit.start(node, 5);
    const refs = kit.take(node, WORKER);
    node.fault = () => ({ kind: 'lost_before' });
    const acks = kit.settle(node, refs);
    await kit.pass(4_000);
    expect(acks).toEqual([]);
    node.fault = null;
    await kit.pass(3_000);
    expect(acks).toEqual(['recorded', 'recorded', 'recorded', 'recorded', 'recorded']);
    expect(node.fencedCount).toBe(0);
  });
});

describe('the lease', () => {
  it('stops commits and tasks by the own clock, and goes on after the renewal', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node({ leaseMs: 2_000 });
    await kit.flush();
    node.fault = ({ method }) => (method === 'heartbeat' ? { kind: 'lost_before' } : null);
    await kit.pass(2_500);
    const commits = kit.db.commits;
    const start = node.coordinator.start(kit.request());
    await kit.pass(500);
    expect(kit.db.commits).toBe(commits);
    node.fault = null;
    await kit.pass(1_500);
    await start;
    expect(kit.db.commits).toBe(commits + 1);
    expect(node.invoker.dispatched.length).toBe(1);
  });

  it('holds back the tasks of a commit that outlived it', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node({ leaseMs: 2_000 });
    await kit.flush();
    let release = (): void => undefined;
    node.hold = new Promise((resolve) => {
      release = () => resolve();
    });
    const start = node.coordinator.start(kit.request());
    await kit.pass(2_500);
    node.hold = null;
    // The heartbeat that was held is answered with the commit; only a later one may renew.
    node.fault = ({ method }) => (method === 'heartbeat' ? { kind: 'lost_before' } : null);
    release();
    await kit.pass(50);
    await start;
    expect(node.invoker.dispatched.length).toBe(0);
    node.fault = null;
    await kit.pass(2_000);
    expect(node.invoker.dispatched.length).toBe(1);
  });
});

describe('a fence', () => {
  it('ends the incarnation; a new one takes over and hands on what waited', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const refs = kit.take(node, WORKER);
    const [old] = [...kit.db.nodes.values()];
    if (old === undefined) expect.unreachable();
    old.isFenced = true;
    const acks = kit.settle(node, refs);
    await kit.pass(1_500);
    expect(node.fencedCount).toBe(1);
    expect(acks).toEqual(['recorded']);
    expect(kit.stored(run?.runId ?? '')?.status).toBe('COMPLETED');
    expect(node.coordinator.ownedShards().length).toBe(256);
    expect(node.invoker.dispatched.length).toBe(1);
  });

  it('refuses starts that were under way', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    const [old] = [...kit.db.nodes.values()];
    if (old === undefined) expect.unreachable();
    old.isFenced = true;
    const code = codeOf(node.coordinator.start(kit.request()));
    await kit.pass(100);
    expect(await code).toBe('node_fenced');
    expect(kit.db.runs.size).toBe(0);
  });

  it('lets a zombie change nothing after the takeover', async () => {
    const kit = new CoordinatorKit({ plans: [sequence('a', 'b')] });
    const zombie = kit.node();
    await kit.flush();
    zombie.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(zombie, 1);
    const refs = kit.take(zombie, WORKER);
    let wakeUp = (): void => undefined;
    zombie.hold = new Promise((resolve) => {
      wakeUp = () => resolve();
    });
    const acks = kit.settle(zombie, refs);
    const other = kit.node();
    other.coordinator.workerConnected(WORKER, refs);
    await kit.pass(7_000);
    expect(other.coordinator.ownedShards().length).toBe(256);
    const again = kit.settle(other, refs);
    await kit.flush();
    expect(again).toEqual(['recorded']);
    const rows = kit.rows(run?.runId ?? '');
    zombie.hold = null;
    wakeUp();
    await kit.pass(1_000);
    expect(zombie.fencedCount).toBe(1);
    expect(acks.every((ack) => ack === 'already_settled' || ack === 'recorded')).toBe(true);
    expect(kit.rows(run?.runId ?? '')).toBe(rows);
    expect(zombie.invoker.dispatched.map((task) => task.path)).toEqual(['a']);
    expect(kit.db.violations).toEqual([]);
  });
});
