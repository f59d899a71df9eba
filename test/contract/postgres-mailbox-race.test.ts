/** Senders race the ends of runs: every message that was sent is seen by the chain, every other one is refused. */
import { describe, expect, it } from 'vitest';
import { seededRandom, shardOf, type Random } from '../../engine/src/kernel/index.js';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import type { InboxMessage, RunKey, TickWrite } from '../../engine/src/workflow/coordinator/ports.js';
import {
  ALL_SHARDS,
  CLOSED,
  commit,
  contractKit,
  header,
  start,
  tick,
  type ContractNode,
} from '../../engine/src/workflow/testing/contract/world.js';
import { postgresWorld } from '../support/postgres-world.js';

const kit = contractKit(() => postgresWorld());
const SENDERS = 16;
/** Two ends each: the first run is continued by a second one, and that one is closed. */
const CHAINS = cases(1_000, 5_000);
/** Chains that are raced at a time. */
const GROUP = 250;
/** Of the chains that are open to it a sender speaks to one in so many at a time. */
const SPEAKS_TO = 12;
const PAGE = 10_000;

/** A chain under fire. */
interface Chain {
  /** One run, or two once it was continued. */
  readonly runs: RunKey[];
  /** Number of the last row of the run that is open. */
  seq: number;
  isEnded: boolean;
  /** Numbers of messages: those that were sent, by what the senders were told, and those that the chain has seen. */
  readonly accepted: number[];
  readonly seen: number[];
  refused: number;
}

const lastOf = (chain: Chain): RunKey => chain.runs.at(-1) ?? kit.run();

function messageTo(run: RunKey, id: number): Omit<InboxMessage, 'id'> {
  const body = new Uint8Array(4);
  new DataView(body.buffer).setUint32(0, id);
  return { ...run, kind: 'cancel', body };
}

/** Speaks to some of the chains at a time, by the id of either run, until each of them has refused. */
async function sendUntilRefused(
  node: ContractNode,
  chains: readonly Chain[],
  sender: number,
  random: Random,
): Promise<void> {
  let open = [...chains];
  for (let n = sender; open.length > 0;) {
    const chosen = open.filter(() => random.uint32() % SPEAKS_TO === 0);
    const letters = chosen.map((chain) => {
      const run = chain.runs[random.uint32() % chain.runs.length] ?? lastOf(chain);
      return { chain, run, id: (n += SENDERS) };
    });
    const answers = await node.inbox.send(letters.map(({ run, id }) => messageTo(run, id)));
    const closed = new Set<Chain>();
    for (const [at, { chain, id }] of letters.entries()) {
      if (answers[at] === 'sent') chain.accepted.push(id);
      if (answers[at] !== 'not_open') continue;
      closed.add(chain);
      chain.refused += 1;
    }
    open = open.filter((chain) => !closed.has(chain));
    if (answers.includes('busy')) await kit.world.moment();
  }
}

/** The row that ends the open run of a chain: the first one with a successor. */
function endOf(chain: Chain, seq: number, consumed: readonly number[]): TickWrite {
  const run = lastOf(chain);
  const chainId = chain.runs[0]?.runId ?? run.runId;
  if (chain.runs.length > 1) {
    const closed = header(run, { ...CLOSED, chain: { chainId, no: 2 } });
    return tick(run, seq, { consumed, header: closed, needsEmptyBox: true });
  }
  const next = kit.run({ tenantId: run.tenantId, shard: shardOf(run.runId) });
  const startedAtUs = tick(run, seq).atUs;
  const begun = { ...header(next, { active: false, chain: { chainId, no: 2 } }), startedAtUs };
  const successor = { runId: next.runId, entries: Uint8Array.of(7), header: begun, payloads: [] };
  return tick(run, seq, { consumed, header: header(run, { ...CLOSED, status: 'CONTINUED' }), successor });
}

/** Reads the boxes of chains and writes a row of each, until all have ended. */
async function endAll(node: ContractNode, chains: readonly Chain[], random: Random): Promise<void> {
  for (let open = chains; open.length > 0; open = open.filter(({ isEnded }) => !isEnded)) {
    const boxes = new Map(open.map((chain): [string, InboxMessage[]] => [lastOf(chain).runId, []]));
    for (const message of await node.inbox.read(ALL_SHARDS, PAGE)) boxes.get(message.runId)?.push(message);
    const writes = open.map((chain) => {
      const mine = boxes.get(lastOf(chain).runId) ?? [];
      const consumed = mine.map(({ id }) => id);
      const isEnd = chain.seq > 1 && random.uint32() % 2 === 0;
      const seq = chain.seq + 1;
      const write = isEnd ? endOf(chain, seq, consumed) : tick(lastOf(chain), seq, { consumed });
      return { chain, write, saw: mine.map(({ body }) => new DataView(body.buffer, body.byteOffset).getUint32(0)) };
    });
    const answers = await commit(node, ...writes.map(({ write }) => write));
    for (const [at, { chain, write, saw }] of writes.entries()) {
      if (answers[at] === 'unread') continue;
      expect(answers[at]).toBe('written');
      chain.seen.push(...saw);
      chain.seq = write.seq;
      chain.isEnded = write.header?.closedAtUs !== undefined && write.successor === undefined && write.header !== null;
      if (write.successor === undefined) continue;
      chain.runs.push({ tenantId: write.tenantId, runId: write.successor.runId });
      chain.seq = 1;
    }
  }
}

/** Begins chains and ends them under fire. */
async function race(nodes: readonly ContractNode[], random: Random): Promise<readonly Chain[]> {
  const [owner, ...others] = nodes;
  if (owner === undefined) throw new RangeError('no node');
  const chains = Array.from({ length: GROUP }, (): Chain => ({
    ...{ runs: [kit.run()], seq: 1, isEnded: false, accepted: [], seen: [], refused: 0 },
  }));
  await commit(owner, ...chains.map((chain) => start(lastOf(chain))));
  await Promise.all([
    endAll(owner, chains, random),
    ...Array.from({ length: SENDERS }, (_, n) =>
      sendUntilRefused(others[n % others.length] ?? owner, chains, n, random),
    ),
  ]);
  return chains;
}

const ascending = (ids: readonly number[]): readonly number[] => [...ids].sort((a, b) => a - b);

describe('the end of a run under fire', () => {
  it(
    `${2 * CHAINS} times: the chain sees every message that was sent, exactly once`,
    { timeout: 600_000 },
    async () => {
      const random = seededRandom(16);
      const nodes = await Promise.all(Array.from({ length: 6 }, () => kit.node()));
      let [ends, sent] = [0, 0];
      for (let round = 0; round < CHAINS / GROUP; round += 1) {
        for (const { runs, accepted, seen, refused } of await race(nodes, random)) {
          expect(ascending(seen)).toEqual(ascending(accepted));
          expect(refused).toBe(SENDERS);
          ends += runs.length;
          sent += accepted.length;
        }
      }
      expect(ends).toBe(2 * CHAINS);
      // Enough of them for some to meet each end.
      expect(sent).toBeGreaterThan(4 * CHAINS);
      expect(await nodes[0]?.inbox.read(ALL_SHARDS, 1)).toEqual([]);
    },
  );
});
