/** Ticks go in, all of each or nothing of it. */
import { describe, expect, it } from 'vitest';
import {
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
  type MakeWorld,
} from './world.js';

/** Rows are appended, headers change. */
function appends(kit: ContractKit): void {
  it('starts a run', async () => {
    const node = await kit.node();
    const run = kit.run();
    expect(await commit(node, start(run))).toEqual(['written']);
    const found = await stored(node, run);
    expect(found?.header).toEqual(header(run));
    expect(found?.snapshot).toBeNull();
    expect(found?.rows.map((row) => ({ ...row, entries: numbers(row.entries) }))).toEqual([
      { seq: 1, atUs: tick(run, 1).atUs, entries: [10, 1] },
    ]);
  });

  it('appends rows and loads them in order', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    for (const seq of [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) expect(await commit(node, tick(run, seq))).toEqual(['written']);
    expect(await seqs(node, run)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('leaves the header as it is without one', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run, { status: 'WAITING', wakeAtUs: 77 }));
    await commit(node, tick(run, 2));
    expect((await stored(node, run))?.header).toEqual(header(run, { status: 'WAITING', wakeAtUs: 77 }));
  });

  it('changes status, activity, wake time and close time', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    const waiting = header(run, { status: 'WAITING', active: false, wakeAtUs: 1_900_000_000_000_001 });
    await commit(node, tick(run, 2, { header: waiting }));
    expect((await stored(node, run))?.header).toEqual(waiting);
    await commit(node, tick(run, 3, { header: header(run, CLOSED) }));
    expect((await stored(node, run))?.header).toEqual(header(run, CLOSED));
  });
}

/** What goes in comes out. */
function keepsValues(kit: ContractKit): void {
  it('keeps attributes through a change of the header', async () => {
    const node = await kit.node();
    const run = kit.run();
    const attributes = {
      region: 'eu',
      'quo"te': "it's",
      'back\\slash': '{a,"b"}',
      empty: '',
      NULL: 'NULL',
      ü: '日本 🚀',
    };
    await commit(node, start(run, { attributes }));
    expect((await stored(node, run))?.header.attributes).toEqual(attributes);
    await commit(node, tick(run, 2, { header: header(run, { ...CLOSED, attributes }) }));
    expect((await stored(node, run))?.header.attributes).toEqual(attributes);
  });

  it.each([
    'PENDING',
    'PAUSED',
    'PARKED',
    'CANCELLING',
    'FAILED',
    'CANCELLED',
    'TIMED_OUT',
    'TERMINATED',
    'CONTINUED',
  ] as const)('keeps the status %s', async (status) => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run, { status }));
    expect((await stored(node, run))?.header.status).toBe(status);
  });

  it('keeps every byte', async () => {
    const node = await kit.node();
    const values = [
      Uint8Array.from({ length: 256 }, (_, i) => i),
      Uint8Array.of(0),
      kit.bytes(300_000),
      new Uint8Array(9_000),
    ];
    const runs = values.map(() => kit.run());
    expect(await commit(node, ...runs.map((run, i) => start(run, {}, { entries: values[i] ?? kit.bytes(1) })))).toEqual(
      values.map(() => 'written'),
    );
    for (const [i, run] of runs.entries()) {
      expect(
        Buffer.compare(values[i] ?? kit.bytes(1), (await stored(node, run))?.rows[0]?.entries ?? kit.bytes(1)),
      ).toBe(0);
    }
  });
}

/** Batches of many runs. */
function batches(kit: ContractKit): void {
  it('commits a batch of many runs', async () => {
    const node = await kit.node();
    const runs = Array.from({ length: 300 }, () => kit.run());
    expect(await commit(node, ...runs.map((run) => start(run)))).toEqual(runs.map(() => 'written'));
    expect(await commit(node, ...runs.map((run) => tick(run, 2)))).toEqual(runs.map(() => 'written'));
    const found = await node.runs.load(runs);
    expect(new Set(found.map((run) => run.runId))).toEqual(new Set(runs.map((run) => run.runId)));
    expect(found.every((run) => run.rows.length === 2)).toBe(true);
  });

  it('commits an empty batch', async () => {
    const node = await kit.node();
    expect(await commit(node)).toEqual([]);
  });
}

/** A seq is written once. */
function conflicts(kit: ContractKit): void {
  it('answers conflict for a seq that is there, and keeps the first', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run));
    await commit(node, tick(run, 2, { entries: Uint8Array.of(1) }));
    expect(await commit(node, tick(run, 2, { entries: Uint8Array.of(2) }))).toEqual(['conflict']);
    expect(numbers((await stored(node, run))?.rows[1]?.entries)).toEqual([1]);
  });

  it('commits four of a batch of five with one conflict', async () => {
    const node = await kit.node();
    const runs = Array.from({ length: 5 }, () => kit.run());
    const [, , third] = runs;
    await commit(node, ...runs.map((run) => start(run)));
    if (third !== undefined) await commit(node, tick(third, 2));
    const batch = runs.map((run) => tick(run, 2, { header: header(run, CLOSED), snapshot: Uint8Array.of(1) }));
    expect(await commit(node, ...batch)).toEqual(['written', 'written', 'conflict', 'written', 'written']);
    const found = new Map((await node.runs.load(runs)).map((run) => [run.runId, run]));
    expect(runs.map((run) => found.get(run.runId)?.header.status)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'RUNNING',
      'COMPLETED',
      'COMPLETED',
    ]);
    expect(runs.map((run) => found.get(run.runId)?.snapshot === null)).toEqual([false, false, true, false, false]);
  });

  it('does not touch a run that is started a second time', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run, { familySlug: 'first', attributes: { a: '1' } }));
    expect(await commit(node, start(run, { familySlug: 'second', attributes: { b: '2' } }))).toEqual(['conflict']);
    expect((await stored(node, run))?.header).toMatchObject({ familySlug: 'first', attributes: { a: '1' } });
  });

  it('keeps tenants apart, also under one run id', async () => {
    const node = await kit.node();
    const run = kit.run();
    const twin = { ...run, tenantId: kit.id() };
    expect(await commit(node, start(run), start(twin, { familySlug: 'other' }))).toEqual(['written', 'written']);
    expect(await commit(node, tick(run, 2))).toEqual(['written']);
    expect(await seqs(node, run)).toEqual([1, 2]);
    expect(await seqs(node, twin)).toEqual([1]);
    expect((await stored(node, twin))?.header.familySlug).toBe('other');
  });
}

/** What a load gives. */
function loads(kit: ContractKit): void {
  it('loads what exists and nothing else', async () => {
    const node = await kit.node();
    const [here, gone] = [kit.run(), kit.run()];
    await commit(node, start(here));
    const found = await node.runs.load([gone, here, { ...here, tenantId: kit.id() }]);
    expect(found.map((run) => run.runId)).toEqual([here.runId]);
    expect(await node.runs.load([])).toEqual([]);
  });

  it('starts runs and carries others on in one batch', async () => {
    const node = await kit.node();
    const [old, young] = [kit.run(), kit.run()];
    await commit(node, start(old));
    expect(await commit(node, tick(old, 2, { header: header(old, CLOSED) }), start(young))).toEqual([
      'written',
      'written',
    ]);
    expect((await stored(node, old))?.header.status).toBe('COMPLETED');
    expect((await stored(node, young))?.header.status).toBe('RUNNING');
  });
}

/** A load begins at the newest snapshot. */
function snapshots(kit: ContractKit): void {
  it('gives the rows after the snapshot only', async () => {
    const node = await kit.node();
    const run = kit.run();
    const snapshot = kit.bytes(5_000);
    await commit(node, start(run));
    await commit(node, tick(run, 2, { snapshot }));
    await commit(node, tick(run, 3));
    const found = await stored(node, run);
    expect(found?.snapshot?.seq).toBe(2);
    expect(numbers(found?.snapshot?.data)).toEqual(numbers(snapshot));
    expect(found?.rows.map((row) => row.seq)).toEqual([3]);
  });

  it('gives no rows when the snapshot is of the last one', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run, {}, { snapshot: Uint8Array.of(7) }));
    expect((await stored(node, run))?.rows).toEqual([]);
  });

  it('gives the newest snapshot', async () => {
    const node = await kit.node();
    const run = kit.run();
    await commit(node, start(run, {}, { snapshot: Uint8Array.of(1) }));
    await commit(node, tick(run, 2, { snapshot: Uint8Array.of(2) }));
    await commit(node, tick(run, 3));
    const found = await stored(node, run);
    expect(found?.snapshot?.seq).toBe(2);
    expect(numbers(found?.snapshot?.data)).toEqual([2]);
    expect(found?.rows.map((row) => row.seq)).toEqual([3]);
  });
}

/** Journal, headers and snapshots. */
export function commitContract(makeWorld: MakeWorld): void {
  describe('commit and load', () => {
    const kit = contractKit(makeWorld, 'block');
    appends(kit);
    keepsValues(kit);
    batches(kit);
    conflicts(kit);
    loads(kit);
  });
  describe('snapshots', () => {
    const kit = contractKit(makeWorld, 'block');
    snapshots(kit);
  });
}
