/** Senders race the end of runs: every message that was sent is seen by the run, every other one is refused. */
import { describe, expect, it } from 'vitest';
import { shardOf } from '../../engine/src/kernel/index.js';
import type { RunKey } from '../../engine/src/workflow/coordinator/ports.js';
import {
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
/** The full race has 10,000 rounds; a few dozen find an end that does not look within seconds. */
const RUNS = Number(process.env['DUCTOR_RACE_RUNS'] ?? 40);

/** What the senders of a run saw. */
interface Sent {
  readonly accepted: Set<number>;
  refused: number;
}

/** Sends to the run until it refuses; each message has a number of its own. */
async function sendUntilRefused(node: ContractNode, run: RunKey, sender: number, sent: Sent): Promise<void> {
  for (let n = 0; ;) {
    const id = sender * 65_536 + n;
    const body = new Uint8Array(4);
    new DataView(body.buffer).setUint32(0, id);
    const [answer] = await node.inbox.send([{ ...run, kind: 'cancel', body }]);
    if (answer === 'not_open') {
      sent.refused += 1;
      return;
    }
    if (answer === 'busy') await kit.world.moment();
    else {
      sent.accepted.add(id);
      n += 1;
    }
  }
}

/** Reads the run's box and ends the run with what it found, until that is written. Gives what the run saw. */
async function endRun(node: ContractNode, run: RunKey, isCareful: boolean): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let seq = 2; ; seq += 1) {
    const box = (await node.inbox.read([shardOf(run.runId)], 1_000)).filter(({ runId }) => runId === run.runId);
    const consumed = box.map(({ id }) => id);
    const saw = box.map(({ body }) => new DataView(body.buffer, body.byteOffset).getUint32(0));
    const isEnd = seq > 4;
    const change = isEnd ? { header: header(run, CLOSED), needsEmptyBox: isCareful } : {};
    const answer = await commit(node, tick(run, seq, { consumed, ...change }));
    if (answer[0] === 'unread') seq -= 1;
    else seen.push(...saw);
    if (isEnd && answer[0] === 'written') return seen;
  }
}

/** Ends a run under fire. Returns what was sent and what was seen. */
async function race(nodes: readonly ContractNode[], isCareful: boolean) {
  const run = kit.run();
  const owner = nodes[0];
  if (owner === undefined) throw new RangeError('no node');
  await commit(owner, start(run));
  const sent: Sent = { accepted: new Set(), refused: 0 };
  const senders = Array.from({ length: SENDERS }, (_, n) =>
    sendUntilRefused(nodes[1 + (n % (nodes.length - 1))] ?? owner, run, n, sent),
  );
  const seen = await endRun(owner, run, isCareful);
  await Promise.all(senders);
  return { sent, seen };
}

describe('the end of a run under fire', () => {
  it('sees every message that was sent, exactly once', { timeout: 60_000 + RUNS * 1_000 }, async () => {
    const nodes = await Promise.all(Array.from({ length: 6 }, () => kit.node()));
    for (let round = 0; round < RUNS; round += 1) {
      const { sent, seen } = await race(nodes, true);
      expect([...seen].sort((a, b) => a - b)).toEqual([...sent.accepted].sort((a, b) => a - b));
      expect(sent.refused).toBe(SENDERS);
    }
    const left = await nodes[0]?.inbox.read([...Array(256).keys()], 1_000);
    expect(left).toEqual([]);
  });
});
