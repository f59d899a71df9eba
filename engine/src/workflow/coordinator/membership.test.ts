import { describe, expect, it } from 'vitest';
import { jsonValue } from '../machine/index.js';
import { codeOf, CoordinatorKit, TENANT, type TestNode } from '../testing/coordinator-kit.js';
import { sequence } from '../testing/plan-builder.js';

const ONE_STEP = sequence('a');
const WORKER = 'worker-1';

/** Shards of each node, and whether each shard has exactly one of them as its owner. */
function owned(...nodes: readonly TestNode[]): readonly number[] {
  const all = nodes.flatMap((node) => node.coordinator.ownedShards());
  expect(new Set(all).size).toBe(all.length);
  return nodes.map((node) => node.coordinator.ownedShards().length);
}

describe('shards', () => {
  it('all go to a node that is alone', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    expect(owned(node)).toEqual([256]);
    expect(node.coordinator.liveAddresses().length).toBe(1);
  });

  it('are shared fairly as nodes come, and given back as they leave', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const nodes = [kit.node()];
    await kit.pass(1_500);
    nodes.push(kit.node());
    await kit.pass(3_000);
    expect(owned(...nodes)).toEqual([128, 128]);
    nodes.push(kit.node());
    await kit.pass(5_000);
    expect([...owned(...nodes)].sort((a, b) => a - b)).toEqual([84, 86, 86]);
    await nodes[1]?.coordinator.stop();
    await kit.pass(3_000);
    const [first, , third] = nodes;
    if (first === undefined || third === undefined) expect.unreachable();
    expect(owned(first, third)).toEqual([128, 128]);
    expect(first.coordinator.liveAddresses().length).toBe(2);
  });

  it('of a killed node are taken after two heartbeats, and its runs go on', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const [dying, heir] = [kit.node(), kit.node()];
    await kit.pass(3_000);
    const runs = await kit.start(dying, 20);
    kit.kill(dying);
    await kit.pass(2_500);
    expect(heir.coordinator.ownedShards().length).toBe(256);
    expect(heir.invoker.dispatched.map((task) => task.runId).sort()).toEqual(runs.map((run) => run.runId).sort());
    heir.coordinator.workerConnected(WORKER, []);
    const acks = kit.settle(heir, kit.take(heir, WORKER));
    await kit.flush();
    expect(acks.length).toBe(20);
    expect(runs.every((run) => kit.stored(run.runId)?.status === 'COMPLETED')).toBe(true);
  });

  it('of a node that hangs are taken when its lease has run out, not before', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const [hanging, heir] = [kit.node(), kit.node()];
    await kit.pass(3_000);
    hanging.hold = new Promise(() => undefined);
    await kit.pass(3_900);
    expect(heir.coordinator.ownedShards().length).toBe(128);
    // The lease is over 5 s after the node's last heartbeat; the look right behind its end is one more than usual.
    await kit.pass(1_150);
    expect(heir.coordinator.ownedShards().length).toBe(256);
  });

  it('of the last process at the same address are taken at once', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const old = kit.node({}, 'same:7233');
    await kit.flush();
    kit.kill(old);
    const young = kit.node({}, 'same:7233');
    await kit.flush();
    await kit.flush();
    expect(young.coordinator.ownedShards().length).toBe(256);
  });

  it('are handed over with their runs: what waited goes through the mailbox', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const giver = kit.node();
    await kit.flush();
    giver.coordinator.workerConnected(WORKER, []);
    const runs = await kit.start(giver, 64);
    const refs = kit.take(giver, WORKER);
    const taker = kit.node();
    taker.coordinator.workerConnected(WORKER, refs);
    await kit.pass(3_000);
    expect(owned(giver, taker)).toEqual([128, 128]);
    const acks = kit.settle(giver, refs);
    await kit.pass(200);
    expect(acks.length).toBe(64);
    expect(new Set(acks)).toEqual(new Set(['recorded']));
    expect(runs.every((run) => kit.stored(run.runId)?.status === 'COMPLETED')).toBe(true);
    expect(kit.db.inbox.size).toBe(0);
    expect(taker.invoker.dispatched).toEqual([]);
    expect(kit.db.violations).toEqual([]);
  });

  it('that a heartbeat lost are let go', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const [one, two] = [kit.node(), kit.node()];
    await kit.pass(3_000);
    const [first] = one.coordinator.ownedShards();
    const ids = [...kit.db.nodes.keys()];
    const owner = kit.db.ownerOf(first ?? -1) ?? '';
    kit.db.handOver(owner, ids.find((id) => id !== owner) ?? '', [first ?? -1]);
    await kit.pass(1_100);
    expect(one.coordinator.ownedShards()).not.toContain(first);
    expect(two.coordinator.ownedShards()).toContain(first);
  });
});

describe('the mailbox', () => {
  it('carries a cancel to the node that owns the run', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const [one, two] = [kit.node(), kit.node()];
    await kit.pass(3_000);
    const [run] = await kit.start(one, 1);
    const cancelled = two.coordinator.cancel({ tenantId: TENANT, runId: run?.runId ?? '' }, 'enough', 'me');
    await kit.flush();
    await cancelled;
    await kit.flush();
    expect(kit.stored(run?.runId ?? '')?.status).toBe('CANCELLED');
    expect(kit.db.inbox.size).toBe(0);
    expect(one.invoker.queued.size).toBe(0);
    expect(one.changes.at(-1)?.status).toBe('CANCELLED');
  });

  it('answers not_found and run_closed', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const key = { tenantId: TENANT, runId: run?.runId ?? '' };
    kit.settle(node, kit.take(node, WORKER));
    await kit.flush();
    const answers = [
      node.coordinator.cancel(key, '', ''),
      node.coordinator.cancel({ ...key, tenantId: 'other' }, '', ''),
      node.coordinator.cancel({ ...key, runId: 'x' }, '', ''),
    ].map(codeOf);
    await kit.flush();
    expect(await Promise.all(answers)).toEqual(['run_closed', 'not_found', 'not_found']);
  });

  it('is emptied of messages the machine ignores', async () => {
    const kit = new CoordinatorKit({ plans: [sequence('a', 'b')] });
    const node = kit.node();
    await kit.flush();
    const [run] = await kit.start(node, 1);
    const key = { tenantId: TENANT, runId: run?.runId ?? '' };
    for (let i = 0; i < 3; i += 1) void node.coordinator.cancel(key, 'again', 'me');
    await kit.flush();
    expect(kit.db.inbox.size).toBe(0);
    expect(kit.rows(run?.runId ?? '')).toBe(3);
  });

  it('is swept when a hint was lost', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.coordinator.workerConnected(WORKER, []);
    const [run] = await kit.start(node, 1);
    const refs = kit.take(node, WORKER);
    const { encodeInput } = await import('../journal/index.js');
    const body = encodeInput({
      kind: 'result',
      path: 'a',
      attempt: 1,
      outcome: { kind: 'completed', output: jsonValue(1) },
    });
    kit.db.send(refs.map(({ tenantId, runId }) => ({ tenantId, runId, kind: 'result', body })));
    await kit.pass(1_200);
    expect(kit.stored(run?.runId ?? '')?.status).toBe('COMPLETED');
  });

  it('leaves messages it cannot read', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    const [run] = await kit.start(node, 1);
    kit.db.send([{ tenantId: TENANT, runId: run?.runId ?? '', kind: 'cancel', body: Uint8Array.of(255, 255) }]);
    await kit.pass(3_000);
    expect(kit.db.inbox.size).toBe(1);
    expect(node.logs.filter((log) => log.message === 'a message of the mailbox cannot be read').length).toBe(1);
  });
});

describe('stop', () => {
  it('finishes what waits, gives the shards back and takes nothing more', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    const starts = [1, 2, 3].map(() => node.coordinator.start(kit.request()));
    const stopped = node.coordinator.stop();
    await kit.flush();
    expect((await Promise.all(starts)).length).toBe(3);
    await stopped;
    expect(kit.db.nodes.size).toBe(0);
    expect(node.invoker.queued.size).toBe(0);
    await expect(node.coordinator.start(kit.request())).rejects.toMatchObject({ code: 'node_starting' });
    const calls: string[] = [];
    node.fault = ({ method }) => {
      calls.push(method);
      return null;
    };
    await kit.pass(5_000);
    expect(calls).toEqual([]);
    await node.coordinator.stop();
  });

  it('does not wait for ever for a database that is away', async () => {
    const kit = new CoordinatorKit({ plans: [ONE_STEP] });
    const node = kit.node();
    await kit.flush();
    node.fault = () => ({ kind: 'lost_before' });
    const code = codeOf(node.coordinator.start(kit.request()));
    let isStopped = false;
    void node.coordinator.stop().then(() => (isStopped = true));
    await kit.pass(10_000);
    expect(isStopped).toBe(true);
    expect(await code).toBe('node_starting');
  });
});
