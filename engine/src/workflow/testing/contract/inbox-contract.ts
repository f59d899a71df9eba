/** Messages wait for the commit that consumes them. */
import { describe, expect, it } from 'vitest';
import { shardOf } from '../../../kernel/index.js';
import { BOX_SEALED_MS, type InboxMessage, type RunKey, type TickWrite } from '../../coordinator/ports.js';
import {
  ALL_SHARDS,
  CLOSED,
  commit,
  contractKit,
  drop,
  header,
  numbers,
  seqs,
  start,
  tick,
  type ContractNode,
  type ContractKit,
  type MakeWorld,
} from './world.js';

/** A message to the run. */
function message(run: RunKey, body: number, kind: InboxMessage['kind'] = 'cancel'): Omit<InboxMessage, 'id'> {
  return { ...run, kind, body: Uint8Array.of(body) };
}

/** First bytes of all waiting messages. */
async function waiting(node: ContractNode): Promise<readonly number[]> {
  return (await node.inbox.read(ALL_SHARDS, 1_000)).map((found) => found.body[0] ?? -1);
}

/** Ids of all waiting messages. */
async function waitingIds(node: ContractNode): Promise<readonly number[]> {
  return (await node.inbox.read(ALL_SHARDS, 1_000)).map((found) => found.id);
}

/** Messages come to open runs. */
function deliveries(kit: ContractKit): void {
  it('brings a message to an open run', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    const body = kit.bytes(70_000);
    expect(await node.inbox.send([{ ...run, kind: 'result', body }])).toEqual(['sent']);
    const [found, ...more] = await node.inbox.read([shardOf(run.runId)], 10);
    expect(more).toEqual([]);
    expect(found).toMatchObject({ ...run, kind: 'result' });
    expect(Buffer.compare(found?.body ?? kit.bytes(1), body)).toBe(0);
  });

  it('keeps the kind of every message', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    const kinds = ['cancel', 'result', 'terminate', 'pause', 'resume', 'retry', 'sub_step'] as const;
    await node.inbox.send(kinds.map((kind, index) => message(run, index, kind)));
    expect((await node.inbox.read([shardOf(run.runId)], 10)).map((found) => found.kind)).toEqual(kinds);
  });

  it('says which runs are closed or unknown', async () => {
    const node = await kit.node();
    const [open, closed, unknown] = [kit.run(), kit.run(), kit.run()];
    await commit(node, start(open), start(closed, CLOSED));
    const foreign = { ...open, tenantId: kit.id() };
    expect(await node.inbox.send([closed, open, unknown, foreign, open].map((run, i) => message(run, i)))).toEqual([
      'not_open',
      'sent',
      'not_open',
      'not_open',
      'sent',
    ]);
    expect(await waiting(node)).toEqual([1, 4]);
  });
}

/** Reading in order. */
function reads(kit: ContractKit): void {
  it('reads in the order of sending, across runs and calls', async () => {
    const node = await kit.node();
    const runs = Array.from({ length: 5 }, () => kit.run());
    await commit(node, ...runs.map((run) => start(run)));
    await node.inbox.send(runs.map((run, i) => message(run, i)));
    await node.inbox.send(runs.map((run, i) => message(run, 10 + i, 'result')));
    expect(await waiting(node)).toEqual([0, 1, 2, 3, 4, 10, 11, 12, 13, 14]);
    const ids = await waitingIds(node);
    expect([...ids].sort((a, b) => a - b)).toEqual(ids);
  });

  it('reads only the shards asked for, at most the limit', async () => {
    const node = await kit.node();
    const runs = [kit.run({ shard: 7 }), kit.run({ shard: 8 }), kit.run({ shard: 255 })];
    await commit(node, ...runs.map((run) => start(run)));
    await node.inbox.send([...runs, ...runs].map((run, i) => message(run, i)));
    const read = async (shards: readonly number[], limit: number): Promise<readonly number[]> =>
      (await node.inbox.read(shards, limit)).flatMap((found) => numbers(found.body));
    expect(await read([7, 255], 10)).toEqual([0, 2, 3, 5]);
    expect(await read([7, 255], 3)).toEqual([0, 2, 3]);
    expect(await read([9], 10)).toEqual([]);
    expect(await read([], 10)).toEqual([]);
  });

  it('sends nothing when there is nothing', async () => {
    const node = await kit.node();
    expect(await node.inbox.send([])).toEqual([]);
    expect(await waiting(node)).toEqual([]);
  });
}

/** Messages go with the commit that consumed them. */
function consumptions(kit: ContractKit): void {
  it('removes exactly what a commit consumed', async () => {
    const node = await kit.node();
    const [run, other] = [kit.run(), kit.run()];
    await commit(node, start(run), start(other));
    await node.inbox.send([message(run, 0), message(other, 1), message(run, 2), message(run, 3)]);
    const [first, , third] = await waitingIds(node);
    expect(await commit(node, tick(run, 2, { consumed: [first ?? -1, third ?? -1] }))).toEqual(['written']);
    expect(await waiting(node)).toEqual([1, 3]);
  });

  it('keeps what a conflicting tick would have consumed', async () => {
    const node = await kit.node();
    const [run, other] = [kit.run(), kit.run()];
    await commit(node, start(run), start(other));
    await node.inbox.send([message(run, 0), message(other, 1)]);
    const [first, second] = await waitingIds(node);
    expect(
      await commit(node, start(run, {}, { consumed: [first ?? -1] }), tick(other, 2, { consumed: [second ?? -1] })),
    ).toEqual(['conflict', 'written']);
    expect(await waiting(node)).toEqual([0]);
  });
}

/** Messages go without a tick. */
function drops(kit: ContractKit): void {
  it('consumes without a tick, whatever is there', async () => {
    const node = await kit.node();
    const [run, unknown] = [kit.run(), kit.run()];
    await commit(node, start(run));
    await node.inbox.send([message(run, 0), message(run, 1)]);
    const [first] = await waitingIds(node);
    const batch = [drop(run, [first ?? -1]), drop(unknown, [1_000_000])];
    expect(await commit(node, ...batch)).toEqual(['written', 'written']);
    expect(await commit(node, ...batch)).toEqual(['written', 'written']);
    expect(await waiting(node)).toEqual([1]);
    expect((await node.runs.load([run]))[0]?.rows.length).toBe(1);
  });

  it('consumes without a tick beside ticks', async () => {
    const node = await kit.node();
    const [run, other] = [kit.run(), kit.run()];
    await commit(node, start(run), start(other));
    await node.inbox.send([message(run, 0), message(other, 1)]);
    const [first, second] = await waitingIds(node);
    expect(
      await commit(node, drop(run, [first ?? -1]), tick(other, 2, { consumed: [second ?? -1] }), start(kit.run())),
    ).toEqual(['written', 'written', 'written']);
    expect(await waiting(node)).toEqual([]);
  });
}

/** Who may no longer. */
function closings(kit: ContractKit): void {
  it('keeps what a fenced node would have consumed', async () => {
    const node = await kit.node([0]);
    const run = kit.run();
    await commit(node, start(run));
    await node.inbox.send([message(run, 0)]);
    const [first] = await waitingIds(node);
    await node.cluster.leave(node.nodeId);
    expect(await commit(node, drop(run, [first ?? -1]))).toBe('fenced');
    expect(await waiting(node)).toEqual([0]);
  });

  it('refuses a run from its closing on', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    expect(await node.inbox.send([message(run, 0)])).toEqual(['sent']);
    await commit(node, tick(run, 2, { header: header(run, CLOSED) }));
    expect(await node.inbox.send([message(run, 1)])).toEqual(['not_open']);
  });
}

/** A tick that ends the run when its box holds nothing but these messages. */
function end(run: RunKey, seq: number, consumed: readonly number[]): TickWrite {
  return tick(run, seq, { header: header(run, CLOSED), needsEmptyBox: true, consumed });
}

/** Ends that have to see every message. */
function carefulEnds(kit: ContractKit): void {
  it('ends a run that needs an empty box once every message is consumed', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    await node.inbox.send([message(run, 0), message(run, 1)]);
    const [first, second] = await waitingIds(node);
    expect(await commit(node, end(run, 2, [first ?? -1]))).toEqual(['unread']);
    expect(await waiting(node)).toEqual([0, 1]);
    expect(await seqs(node, run)).toEqual([1]);
    expect(await commit(node, end(run, 2, [first ?? -1, second ?? -1]))).toEqual(['written']);
    expect(await waiting(node)).toEqual([]);
    expect(await node.inbox.send([message(run, 2)])).toEqual(['not_open']);
  });

  it('seals a box that kept its run from ending, for a moment', async () => {
    const node = await kit.node();
    const [run, other] = [kit.run(), kit.run()];
    await commit(node, start(run), start(other));
    await node.inbox.send([message(run, 0)]);
    expect(await commit(node, end(run, 2, []))).toEqual(['unread']);
    expect(await node.inbox.send([message(run, 1), message(other, 2)])).toEqual(['busy', 'sent']);
    expect(await waiting(node)).toEqual([0, 2]);
    await kit.world.advance(BOX_SEALED_MS + 1);
    expect(await node.inbox.send([message(run, 3)])).toEqual(['sent']);
  });

  it('holds up nothing else of its batch', async () => {
    const node = await kit.node();
    const [unread, empty, other] = [kit.run(), kit.run(), kit.run()];
    await commit(node, start(unread), start(empty), start(other));
    await node.inbox.send([message(unread, 0), message(other, 1)]);
    const batch = [end(unread, 2, []), end(empty, 2, []), tick(other, 2), start(kit.run())];
    expect(await commit(node, ...batch)).toEqual(['unread', 'written', 'written', 'written']);
    expect(await node.inbox.send([message(empty, 2)])).toEqual(['not_open']);
    expect(await commit(node, end(empty, 2, []))).toEqual(['conflict']);
  });
}

/** What a tick says to other runs. */
function sentWithTicks(kit: ContractKit): void {
  it('puts messages of a tick in boxes of runs that need not exist, in order, with it or not at all', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [run, child, parent] = [kit.run({ tenantId }), kit.run({ tenantId }), kit.run({ tenantId })];
    await commit(node, start(run), start(parent));
    const kinds = ['start', 'cancel', 'child_closed'] as const;
    const messages = [message(child, 0, 'start'), message(child, 1), message(parent, 2, 'child_closed')];
    expect(await commit(node, tick(run, 2, { messages }))).toEqual(['written']);
    expect(await commit(node, tick(run, 2, { messages }))).toEqual(['conflict']);
    const found = await node.inbox.read(ALL_SHARDS, 10);
    expect(found.map(({ kind, runId, body }) => [kind, runId, body[0]])).toEqual([
      ...[0, 1, 2].map((at) => [kinds[at], at === 2 ? parent.runId : child.runId, at]),
    ]);
    expect(await node.inbox.read([shardOf(child.runId)], 10)).toHaveLength(
      shardOf(child.runId) === shardOf(parent.runId) ? 3 : 2,
    );
  });

  it('keeps who started a run', async () => {
    const node = await kit.node();
    const [root, child] = [kit.run(), kit.run()];
    const links = { rootId: root.runId, parentId: root.runId };
    await commit(node, start(root), { ...start(child), header: header(child, links) });
    const [stored] = await node.runs.load([child]);
    expect(stored?.header).toMatchObject(links);
    expect((await node.runs.load([root]))[0]?.header).toMatchObject({ rootId: null, parentId: null, chain: null });
  });
}

/** The mailbox. */
export function inboxContract(makeWorld: MakeWorld): void {
  describe('inbox', () => {
    const kit = contractKit(makeWorld);
    deliveries(kit);
    reads(kit);
    consumptions(kit);
    drops(kit);
    closings(kit);
    carefulEnds(kit);
    sentWithTicks(kit);
  });
}
