/** An idempotency key belongs to one run. */
import { describe, expect, it } from 'vitest';
import { runKeyAsStartKey, type RunHeader, type RunKey, type TickWrite } from '../../coordinator/ports.js';
import { CLOSED, commit, contractKit, header, numbers, start, stored, tick } from './world.js';
import type { ContractKit, MakeWorld } from './world.js';

const FAMILY = 'lead-intake';
const DAY_MS = 24 * 3600 * 1000;

/** A start under a key. */
function keyed(run: RunKey, key: string, familySlug = FAMILY): TickWrite {
  return start(run, { familySlug }, { startKey: { key, fingerprint: new Uint8Array(32).fill(key.length) } });
}

/** A key goes to one run. */
function claims(kit: ContractKit): void {
  it('remembers the run, its version and the fingerprint', async () => {
    const node = await kit.node();
    const run = kit.run();
    expect(await commit(node, keyed(run, 'key'))).toEqual(['written']);
    const [found] = await node.runs.findStarts([{ tenantId: run.tenantId, familySlug: FAMILY, key: 'key' }]);
    expect(found).toMatchObject({ runId: run.runId, version: 3 });
    expect(numbers(found?.fingerprint)).toEqual(Array.from({ length: 32 }, () => 3));
  });

  it('refuses a second run, and only that', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second, other] = [kit.run({ tenantId }), kit.run({ tenantId }), kit.run({ tenantId })];
    await commit(node, keyed(first, 'key'));
    expect(await commit(node, start(other), keyed(second, 'key'))).toEqual(['written', 'key_taken']);
    expect(await stored(node, second)).toBeUndefined();
    const [found] = await node.runs.findStarts([{ tenantId, familySlug: FAMILY, key: 'key' }]);
    expect(found?.runId).toBe(first.runId);
  });

  it('gives a key to one of two runs of a batch', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second] = [kit.run({ tenantId }), kit.run({ tenantId })];
    expect(await commit(node, keyed(first, 'key'), keyed(second, 'key'))).toEqual(['written', 'key_taken']);
    expect(await stored(node, second)).toBeUndefined();
  });

  it('keeps the keys of workflows and tenants apart', async () => {
    const node = await kit.node();
    const [first, second, third] = [kit.run(), kit.run(), kit.run()];
    const sibling = { ...second, tenantId: first.tenantId };
    expect(await commit(node, keyed(first, 'key'), keyed(sibling, 'key', 'other'), keyed(third, 'key'))).toEqual([
      'written',
      'written',
      'written',
    ]);
  });
}

/** A start that conflicts holds nothing. */
function conflictsWithKeys(kit: ContractKit): void {
  it('answers conflict to the start of a run that holds its key already', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, keyed(run, 'key'));
    expect(await commit(node, keyed(run, 'key'))).toEqual(['conflict']);
  });

  it('gives no key to a start that conflicts', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    expect(await commit(node, keyed(run, 'key'))).toEqual(['conflict']);
    expect(await node.runs.findStarts([{ tenantId: run.tenantId, familySlug: FAMILY, key: 'key' }])).toEqual([
      undefined,
    ]);
    expect(await commit(node, keyed({ ...run, runId: kit.id() }, 'key'))).toEqual(['written']);
  });
}

/** Keys are found again, whatever they look like. */
function lookups(kit: ContractKit): void {
  it('answers for each key, in order', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const runs = [kit.run({ tenantId }), kit.run({ tenantId })];
    await commit(node, ...runs.map((run, i) => keyed(run, `key ${i}`)));
    const asked = ['key 1', 'none', 'key 0'].map((key) => ({ tenantId, familySlug: FAMILY, key }));
    expect((await node.runs.findStarts(asked)).map((found) => found?.runId)).toEqual([
      runs[1]?.runId,
      undefined,
      runs[0]?.runId,
    ]);
    expect(await node.runs.findStarts([])).toEqual([]);
  });

  it.each(['', ' ', 'NULL', '{}', '{a,b}', 'a,b', '"', "'", '\\', '\\"', 'ключ 🔑', 'a\nb', '%_'])(
    'takes %j for a key',
    async (key) => {
      const node = await kit.node();
      const run = kit.run();
      expect(await commit(node, keyed(run, key))).toEqual(['written']);
      const [found] = await node.runs.findStarts([{ tenantId: run.tenantId, familySlug: FAMILY, key }]);
      expect(found?.runId).toBe(run.runId);
      expect(await commit(node, keyed(kit.run({ tenantId: run.tenantId }), key))).toEqual(['key_taken']);
    },
  );
}

/** Time and rivals. */
function expiry(kit: ContractKit): void {
  it('forgets a key after 30 days and gives it to the next run', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second] = [kit.run({ tenantId }), kit.run({ tenantId })];
    const ref = { tenantId, familySlug: FAMILY, key: 'key' };
    await commit(node, keyed(first, 'key'));
    await kit.world.advance(29 * DAY_MS);
    expect((await node.runs.findStarts([ref]))[0]?.runId).toBe(first.runId);
    await kit.world.advance(DAY_MS + 1);
    expect(await node.runs.findStarts([ref])).toEqual([undefined]);
    expect(await commit(node, keyed(second, 'key'))).toEqual(['written']);
    expect((await node.runs.findStarts([ref]))[0]?.runId).toBe(second.runId);
  });

  it('gives a key that two nodes want at once to one of them', async () => {
    const nodes = [await kit.node(), await kit.node()];
    const tenantId = kit.id();
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        nodes.map((node) => commit(node, keyed(kit.run({ tenantId }), `key ${round}`))),
      );
      expect(answers.flat().sort()).toEqual(['key_taken', 'written']);
    }
  });
}

/** A start under a run key. */
function started(run: RunKey, key: string, closes = false): TickWrite {
  const change = { familySlug: FAMILY, ...(closes ? CLOSED : {}) };
  return start(run, change, { startKey: runKeyAsStartKey(key) });
}

/** The last row of a run that was started so. */
function ended(run: RunKey, key: string, change: Partial<RunHeader> = {}): TickWrite {
  const closed = header(run, { familySlug: FAMILY, ...CLOSED, ...change });
  return tick(run, 2, { header: closed, frees: runKeyAsStartKey(key).key });
}

/** A run key is held until its chain ends. */
function runKeys(kit: ContractKit): void {
  it('holds a run key until the run ends, however long that takes', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second] = [kit.run({ tenantId }), kit.run({ tenantId })];
    const ref = { tenantId, familySlug: FAMILY, key: runKeyAsStartKey('ada').key };
    expect(await commit(node, started(first, 'ada'))).toEqual(['written']);
    await kit.world.advance(40 * DAY_MS);
    expect(await commit(node, started(second, 'ada'))).toEqual(['key_taken']);
    expect((await node.runs.findStarts([ref]))[0]?.runId).toBe(first.runId);
    expect(await commit(node, ended(first, 'ada'))).toEqual(['written']);
    expect(await node.runs.findStarts([ref])).toEqual([undefined]);
    expect(await commit(node, started(second, 'ada'))).toEqual(['written']);
  });

  it('frees a run key with the end that was written, not with one that was not', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second] = [kit.run({ tenantId }), kit.run({ tenantId })];
    await commit(node, started(first, 'ada'), started(kit.run({ tenantId }), 'bob'));
    expect(await commit(node, { ...ended(first, 'ada'), seq: 1 })).toEqual(['conflict']);
    expect(await commit(node, started(second, 'ada'))).toEqual(['key_taken']);
    await commit(node, ended(first, 'ada'));
    expect(await commit(node, started(second, 'ada'))).toEqual(['written']);
    // A late end of the first does not take the key of the second.
    expect(await commit(node, { ...ended(first, 'ada'), seq: 3 })).toEqual(['written']);
    expect(await commit(node, started(kit.run({ tenantId }), 'ada'))).toEqual(['key_taken']);
  });

  it('gives the key of a run that ends as it starts to the next', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, second] = [kit.run({ tenantId }), kit.run({ tenantId })];
    expect(await commit(node, started(first, 'ada', true))).toEqual(['written']);
    expect(await commit(node, started(second, 'ada'))).toEqual(['written']);
  });

  it('frees the key of a chain with the end of its last run', async () => {
    const node = await kit.node();
    const tenantId = kit.id();
    const [first, last] = [kit.run({ tenantId }), kit.run({ tenantId })];
    await commit(node, started(first, 'ada'));
    const chain = { chainId: first.runId, no: 2 };
    await commit(node, start(last, { familySlug: FAMILY, chain }));
    expect(await commit(node, ended(last, 'ada', { chain }))).toEqual(['written']);
    expect(await commit(node, started(kit.run({ tenantId }), 'ada'))).toEqual(['written']);
  });
}

/** Start keys. */
export function startKeyContract(makeWorld: MakeWorld): void {
  describe('start keys', () => {
    const kit = contractKit(makeWorld, 'block');
    claims(kit);
    conflictsWithKeys(kit);
    lookups(kit);
    expiry(kit);
    runKeys(kit);
  });
}
