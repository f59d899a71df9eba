/** What takeovers and timers look for. */
import { describe, expect, it } from 'vitest';
import {
  ALL_SHARDS,
  CLOSED,
  commit,
  contractKit,
  header,
  start,
  tick,
  type ContractKit,
  type MakeWorld,
} from './world.js';

/** A run that waits for time. */
const idle = { active: false, status: 'WAITING' } as const;

/** Active runs. */
function activeRuns(kit: ContractKit): void {
  it('gives active runs of the shards in the order of their ids', async () => {
    const node = await kit.node();
    const runs = [1, 2, 3, 1, 2, 3].map((shard) => kit.run({ shard }));
    await commit(node, ...runs.toReversed().map((run) => start(run)));
    const idle = kit.run({ shard: 1 });
    await commit(node, start(idle, { active: false, status: 'WAITING', wakeAtUs: 5 }));
    expect(await node.runs.listActive([1, 3], '', 100)).toEqual([runs[0], runs[2], runs[3], runs[5]]);
    expect(await node.runs.listActive([], '', 100)).toEqual([]);
    expect(await node.runs.listActive([4], '', 100)).toEqual([]);
  });

  it('gives every run once, page by page', async () => {
    const node = await kit.node();
    const runs = Array.from({ length: 25 }, () => kit.run());
    await commit(node, ...runs.map((run) => start(run)));
    const found: string[] = [];
    for (let after = ''; ;) {
      const page = await node.runs.listActive(ALL_SHARDS, after, 4);
      if (page.length === 0) break;
      found.push(...page.map((run) => run.runId));
      after = page.at(-1)?.runId ?? '';
    }
    expect(found).toEqual(runs.map((run) => run.runId));
  });

  it('follows the header', async () => {
    const node = await kit.node();
    const run = kit.run({ shard: 9 });
    const active = async (): Promise<number> => (await node.runs.listActive([9], '', 10)).length;
    await commit(node, start(run));
    expect(await active()).toBe(1);
    await commit(node, tick(run, 2, { header: header(run, { active: false, status: 'WAITING', wakeAtUs: 5 }) }));
    expect(await active()).toBe(0);
    await commit(node, tick(run, 3, { header: header(run) }));
    expect(await active()).toBe(1);
    await commit(node, tick(run, 4, { header: header(run, CLOSED) }));
    expect(await active()).toBe(0);
  });
}

/** Runs whose time comes. */
function dueRuns(kit: ContractKit): void {
  it('gives idle runs up to the horizon by their wake time', async () => {
    const node = await kit.node();
    const wakes = [50, 10, 40, 20, 30];
    const runs = wakes.map(() => kit.run({ shard: 5 }));
    await commit(node, ...runs.map((run, i) => start(run, { ...idle, wakeAtUs: wakes[i] ?? 0 })));
    const due = async (horizonUs: number, limit: number): Promise<readonly number[]> =>
      (await node.runs.listDue([5], horizonUs, limit)).map((run) => run.wakeAtUs);
    expect(await due(40, 100)).toEqual([10, 20, 30, 40]);
    expect(await due(39, 100)).toEqual([10, 20, 30]);
    expect(await due(100, 2)).toEqual([10, 20]);
    expect(await due(9, 100)).toEqual([]);
    const [first] = await node.runs.listDue([5], 100, 1);
    expect(first).toEqual({ ...runs[1], wakeAtUs: 10 });
  });

  it('gives neither active nor closed runs, nor those that wait for nothing', async () => {
    const node = await kit.node();
    const runs = Array.from({ length: 3 }, () => kit.run({ shard: 5 }));
    const [active, closed, still] = runs;
    if (active === undefined || closed === undefined || still === undefined) return;
    await commit(
      node,
      start(active, { wakeAtUs: 1 }),
      start(closed, CLOSED),
      start(still, { ...idle, status: 'PARKED' }),
    );
    expect(await node.runs.listDue(ALL_SHARDS, 1_000, 100)).toEqual([]);
  });

  it('gives only runs of the shards, over several', async () => {
    const node = await kit.node();
    const runs = [5, 6, 7].map((shard) => kit.run({ shard }));
    await commit(node, ...runs.map((run, i) => start(run, { ...idle, wakeAtUs: 30 - i })));
    expect((await node.runs.listDue([5, 7], 100, 100)).map((run) => run.runId)).toEqual([
      runs[2]?.runId,
      runs[0]?.runId,
    ]);
  });

  it('follows the header', async () => {
    const node = await kit.node();
    const run = kit.run({ shard: 5 });
    await commit(node, start(run, { ...idle, wakeAtUs: 10 }));
    await commit(node, tick(run, 2, { header: header(run, { ...idle, wakeAtUs: 99 }) }));
    expect(await node.runs.listDue([5], 98, 10)).toEqual([]);
    expect((await node.runs.listDue([5], 99, 10)).map((due) => due.wakeAtUs)).toEqual([99]);
    await commit(node, tick(run, 3, { header: header(run) }));
    expect(await node.runs.listDue([5], 1_000, 10)).toEqual([]);
  });
}

/** Lists of active and due runs. */
export function listContract(makeWorld: MakeWorld): void {
  describe('listActive', () => {
    const kit = contractKit(makeWorld);
    activeRuns(kit);
  });
  describe('listDue', () => {
    const kit = contractKit(makeWorld);
    dueRuns(kit);
  });
}
