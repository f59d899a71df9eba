/** Runs that continue others: started with their end, and one mailbox for all runs of a chain. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { shardOf } from '../../../kernel/index.js';
import type { InboxMessage, MessageKind, RunKey, Successor, TickWrite } from '../../coordinator/ports.js';
import {
  ALL_SHARDS,
  CLOSED,
  commit,
  contractKit,
  header,
  numbers,
  seqs,
  start,
  stored,
  tick,
  type ContractKit,
  type ContractNode,
  type MakeWorld,
} from './world.js';

const ENDED = { ...CLOSED, status: 'CONTINUED' } as const;

/** A chain whose runs are drawn in order. */
class Chain {
  readonly runs: RunKey[];

  constructor(
    readonly kit: ContractKit,
    first: RunKey,
  ) {
    this.runs = [first];
  }

  get last(): RunKey {
    return this.runs.at(-1) ?? this.first;
  }

  get first(): RunKey {
    return this.runs[0] ?? this.kit.run();
  }

  /** What the last run's next row says when it continues; the successor becomes the last run when asked to. */
  next(seq: number, more: Partial<TickWrite> = {}, payloads: Successor['payloads'] = []): TickWrite {
    const { tenantId, runId } = this.last;
    const next = this.kit.run({ tenantId, shard: shardOf(runId) });
    const chain = { chainId: this.first.runId, no: this.runs.length + 1 };
    const own = this.runs.length === 1 ? null : { chainId: this.first.runId, no: this.runs.length };
    const of = header(next, { active: false, wakeAtUs: 5, chain, attributes: { a: 'b' } });
    const startedAtUs = tick(this.last, seq).atUs;
    const successor = { runId: next.runId, entries: Uint8Array.of(7), header: { ...of, startedAtUs }, payloads };
    const write = tick(this.last, seq, { header: header(this.last, { ...ENDED, chain: own }), successor, ...more });
    this.runs.push(next);
    return write;
  }
}

async function chainOf(kit: ContractKit, node: ContractNode, length: number): Promise<Chain> {
  const chain = new Chain(kit, kit.run());
  await commit(node, start(chain.first));
  while (chain.runs.length < length) expect(await commit(node, chain.next(2))).toEqual(['written']);
  return chain;
}

function message(run: RunKey, body: number, kind: MessageKind = 'cancel'): Omit<InboxMessage, 'id'> {
  return { ...run, kind, body: Uint8Array.of(body) };
}

/** Waiting messages: their first byte and the run they are for. */
async function waiting(node: ContractNode): Promise<readonly (readonly [number, string])[]> {
  return (await node.inbox.read(ALL_SHARDS, 100)).map(({ body, runId }) => [body[0] ?? -1, runId]);
}

function successors(kit: ContractKit): void {
  it('starts with the row that ends the run before it, with attributes and large values', async () => {
    const node = await kit.node();
    const chain = new Chain(kit, kit.run());
    await commit(node, start(chain.first));
    const data = kit.bytes(70_000);
    const digest = createHash('sha256').update(data).digest();
    const write = chain.next(2, {}, [{ digest, data }]);
    expect(await commit(node, write, start(kit.run()))).toEqual(['written', 'written']);
    const found = await stored(node, chain.last);
    expect(found?.header).toEqual(write.successor?.header);
    expect(found?.header.chain).toEqual({ chainId: chain.first.runId, no: 2 });
    expect(found?.rows.map((row) => [row.seq, row.atUs, ...numbers(row.entries)])).toEqual([[1, write.atUs, 7]]);
    const key = { ...chain.last, digest: digest.toString('hex'), size: data.length };
    const [payload] = await node.runs.payloads([key]);
    expect(Buffer.compare(payload?.data ?? kit.bytes(1), data)).toBe(0);
    expect((await stored(node, chain.first))?.header).toMatchObject({ status: 'CONTINUED', chain: null });
    expect(await node.runs.listDue([shardOf(chain.first.runId)], 10, 10)).toEqual([{ ...chain.last, wakeAtUs: 5 }]);
  });

  it('does not start when that row is not written', async () => {
    const node = await kit.node();
    const chain = new Chain(kit, kit.run());
    await commit(node, start(chain.first));
    await commit(node, tick(chain.first, 2));
    const write = chain.next(2);
    expect(await commit(node, write, start(kit.run()))).toEqual(['conflict', 'written']);
    expect(await stored(node, chain.last)).toBeUndefined();
    expect(await seqs(node, chain.first)).toEqual([1, 2]);
  });

  it('goes on like any run', async () => {
    const node = await kit.node();
    const chain = await chainOf(kit, node, 3);
    expect(await commit(node, tick(chain.last, 2))).toEqual(['written']);
    expect(await seqs(node, chain.last)).toEqual([1, 2]);
    expect((await stored(node, chain.last))?.header.chain).toEqual({ chainId: chain.first.runId, no: 3 });
  });
}

function mailboxes(kit: ContractKit): void {
  it('gives the last run what was sent to any run of the chain, before and after it began', async () => {
    const node = await kit.node();
    const chain = new Chain(kit, kit.run());
    await commit(node, start(chain.first));
    expect(await node.inbox.send([message(chain.first, 0)])).toEqual(['sent']);
    await commit(node, chain.next(2));
    await commit(node, chain.next(2));
    const [first, second, third] = chain.runs;
    if (first === undefined || second === undefined || third === undefined) throw new RangeError('no chain');
    expect(await node.inbox.send([message(first, 1), message(second, 2), message(third, 3)])).toEqual([
      ...['sent', 'sent', 'sent'],
    ]);
    expect(await waiting(node)).toEqual([0, 1, 2, 3].map((body) => [body, third.runId]));
  });

  it('keeps results and ends of children for the very run they name', async () => {
    const node = await kit.node();
    const chain = new Chain(kit, kit.run());
    const { first } = chain;
    await commit(node, start(first));
    expect(await node.inbox.send([message(first, 0, 'result')])).toEqual(['sent']);
    await commit(node, chain.next(2, { messages: [message(first, 1, 'child_closed')] }));
    expect(await node.inbox.send([message(first, 2, 'result'), message(chain.last, 3, 'result')])).toEqual([
      ...['not_open', 'sent'],
    ]);
    expect(await waiting(node)).toEqual([
      [0, first.runId],
      [1, first.runId],
      [3, chain.last.runId],
    ]);
  });

  it('refuses what is sent to a chain that has ended', async () => {
    const node = await kit.node();
    const chain = await chainOf(kit, node, 3);
    const place = { chainId: chain.first.runId, no: 3 };
    await commit(node, tick(chain.last, 2, { header: header(chain.last, { ...CLOSED, chain: place }) }));
    expect(await node.inbox.send(chain.runs.map((run) => message(run, 1)))).toEqual([
      ...['not_open', 'not_open', 'not_open'],
    ]);
  });

  it('lets the last run end only with an empty box of the chain', async () => {
    const node = await kit.node();
    const chain = await chainOf(kit, node, 2);
    const end = (consumed: readonly number[]): TickWrite => {
      const place = { chainId: chain.first.runId, no: 2 };
      const closed = header(chain.last, { ...CLOSED, chain: place });
      return tick(chain.last, 2, { header: closed, needsEmptyBox: true, consumed });
    };
    await node.inbox.send([message(chain.first, 1)]);
    expect(await commit(node, end([]))).toEqual(['unread']);
    expect(await node.inbox.send([message(chain.first, 2)])).toEqual(['busy']);
    const ids = (await node.inbox.read(ALL_SHARDS, 10)).map(({ id }) => id);
    expect(await commit(node, end(ids))).toEqual(['written']);
    expect(await waiting(node)).toEqual([]);
  });
}

/** Runs that continue others. */
export function chainContract(makeWorld: MakeWorld): void {
  describe('chains', () => {
    const kit = contractKit(makeWorld);
    successors(kit);
    mailboxes(kit);
  });
}
