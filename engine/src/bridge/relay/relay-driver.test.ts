import { describe, expect, it } from 'vitest';
import { memoryBus } from '../../bus/index.js';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import { promises } from '../testing/harness.js';
import { tenantId } from '../testing/tasks.js';
import { KIND } from '../testing/two-nodes.js';
import type { PeerNode } from './ports.js';
import { createRelayDriver, type RelayDriver, type RelayDriverOptions } from './relay-driver.js';
import { WISH_TOPIC } from './wish.js';

const clock = manualClock();
const bus = memoryBus(clock);
const [A, B] = [
  { nodeId: 'a', address: 'a:1' },
  { nodeId: 'b', address: 'b:1' },
];
const dialer = { dial: () => expect.fail('nobody dials here'), close: () => undefined };

/** A driver of this node; notes what it is told. */
function driver(
  own: PeerNode,
  live: PeerNode[],
  parts: Partial<RelayDriverOptions['bridge']> = {},
): { readonly driver: RelayDriver; readonly lent: unknown[]; readonly looks: string[][] } {
  const [lent, looks]: [unknown[], string[][]] = [[], []];
  const bridge = {
    lacks: () => [],
    lend: (...call: readonly unknown[]) => void lent.push(call),
    lookAtRelays: (ids: ReadonlySet<string>) => void looks.push([...ids]),
    relayBy: () => undefined,
    ...parts,
  };
  const coordinator = { nodeId: () => own.nodeId, liveNodes: () => live };
  const onError = (error: unknown): never => expect.fail(String(error));
  return { driver: createRelayDriver({ bridge, clock, bus, coordinator, dialer, onError }), lent, looks };
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await promises();
  clock.settle();
}

describe('the driver of relays', () => {
  it('says what is lacking until it is not, and lends to who says so', async () => {
    const lack = { tenantId: tenantId(1), kinds: [KIND] };
    let lacks = [lack];
    const owner = driver(A, [A, B], { lacks: () => lacks });
    const lender = driver(B, [A, B]);
    for (const one of [owner, lender]) one.driver.start();
    await pass(500);
    await pass(500);
    expect(lender.lent).toEqual([
      [A, { nodeId: 'a', ...lack }],
      [A, { nodeId: 'a', ...lack }],
    ]);
    expect(owner.lent).toEqual([]);
    lacks = [];
    await pass(1_000);
    expect(lender.lent).toHaveLength(2);
    expect(lender.looks.at(-1)).toEqual(['a', 'b']);
    for (const one of [owner, lender]) await one.driver.stop();
    bus.publish(WISH_TOPIC, JSON.stringify(['a', tenantId(1), []]));
    await pass(1_000);
    expect(lender.lent).toHaveLength(2);
  });

  it('dials only where the database knows a node: a hint brings no address, and none of strangers counts', async () => {
    const lender = driver(B, [A, B]);
    lender.driver.start();
    for (const body of ['{', JSON.stringify(['c', tenantId(1), []]), JSON.stringify(['b', tenantId(1), []])]) {
      bus.publish(WISH_TOPIC, body);
    }
    await pass(10);
    expect(lender.lent).toEqual([]);
    await lender.driver.stop();
  });

  it('says nothing while it is alone', async () => {
    const said: string[] = [];
    const stop = bus.subscribe(WISH_TOPIC, (body) => said.push(body));
    const alone = driver(A, [A], { lacks: () => [{ tenantId: tenantId(1), kinds: [KIND] }] });
    alone.driver.start();
    await pass(1_000);
    expect(said).toEqual([]);
    stop();
    await alone.driver.stop();
  });
});
