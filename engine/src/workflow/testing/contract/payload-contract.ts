/** Large values go in with their tick and come out by their digest. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { RunKey } from '../../coordinator/ports.js';
import { commit, contractKit, start, tick, type ContractKit, type ContractProcess, type MakeWorld } from './world.js';

const MIB = 1024 * 1024;

const payload = (data: Uint8Array) => ({ digest: createHash('sha256').update(data).digest(), data });
const nameOf = (data: Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** Which of these values the run has. */
async function found(node: ContractProcess, run: RunKey, values: readonly Uint8Array[]): Promise<readonly boolean[]> {
  const keys = values.map((data) => ({ ...run, digest: nameOf(data), size: data.byteLength }));
  const stored = await node.runs.payloads(keys);
  return values.map((data) => {
    const one = stored.find(({ runId, digest }) => runId === run.runId && digest === nameOf(data));
    return one !== undefined && Buffer.compare(one.data, data) === 0;
  });
}

function keeps(kit: ContractKit): void {
  it('are stored with the tick that carries them, and read many at once', async () => {
    const node = await kit.node();
    const [one, two] = [kit.run(), kit.run()];
    const values = [kit.bytes(1), kit.bytes(70_000), kit.bytes(2 * MIB)];
    await commit(node, start(one, {}, { payloads: values.map(payload) }), start(two));
    expect(await found(node, one, values)).toEqual([true, true, true]);
    expect(await found(node, two, values)).toEqual([false, false, false]);
    expect(await node.runs.payloads([])).toEqual([]);
  });

  it('come in answers larger than one query', async () => {
    const node = await kit.node();
    const run = kit.run();
    const values = Array.from({ length: 3 }, () => kit.bytes(2 * MIB));
    await commit(node, start(run));
    for (const [index, data] of values.entries()) {
      await commit(node, tick(run, index + 2, { payloads: [payload(data)] }));
    }
    expect(await found(node, run, values)).toEqual(values.map(() => true));
  });

  it('may come again, in one tick and in later ones, and belong to each run by itself', async () => {
    const node = await kit.node();
    const [one, two] = [kit.run(), kit.run()];
    const data = kit.bytes(100);
    const twice = [payload(data), payload(data)];
    expect(await commit(node, start(one, {}, { payloads: twice }), start(two, {}, { payloads: twice }))).toEqual([
      'written',
      'written',
    ]);
    expect(await commit(node, tick(one, 2, { payloads: twice }))).toEqual(['written']);
    expect([await found(node, one, [data]), await found(node, two, [data])]).toEqual([[true], [true]]);
  });
}

function dropsUnwritten(kit: ContractKit): void {
  it('of a tick that met a conflict are not stored', async () => {
    const node = await kit.node();
    const [run, other] = [kit.run(), kit.run()];
    await commit(node, start(run), start(other));
    await commit(node, tick(run, 2));
    const [late, good] = [kit.bytes(100), kit.bytes(101)];
    const batch = [tick(run, 2, { payloads: [payload(late)] }), tick(other, 2, { payloads: [payload(good)] })];
    expect(await commit(node, ...batch)).toEqual(['conflict', 'written']);
    expect([await found(node, run, [late, good]), await found(node, other, [late, good])]).toEqual([
      [false, false],
      [false, true],
    ]);
  });

  it('of a start whose key is taken are not stored', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second] = [kit.run({ tenantId }), kit.run({ tenantId })];
    const startKey = { key: 'k', fingerprint: kit.bytes(32) };
    const data = kit.bytes(100);
    await commit(node, start(first, {}, { startKey }));
    expect(await commit(node, start(second, {}, { startKey, payloads: [payload(data)] }))).toEqual(['key_taken']);
    expect(await found(node, second, [data])).toEqual([false]);
  });
}

/** The tests. */
export function payloadContract(makeWorld: MakeWorld): void {
  describe('payloads', () => {
    const kit = contractKit(makeWorld);
    keeps(kit);
    dropsUnwritten(kit);
  });
}
