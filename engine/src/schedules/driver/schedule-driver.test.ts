/** One run a slot, and a row that says why: on a real database, with a clock that the test moves. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../store/testing/index.js';
import type { CatchUpPolicy, OverlapPolicy } from '../schedule.js';
import { DriverKit, type DriverNode } from '../testing/driver-kit.js';

const test = testDatabase();
const MINUTE = 60_000;
let kit: DriverKit;
let nodes: DriverNode[] = [];

async function newNode(): Promise<DriverNode> {
  const node = await kit.node();
  nodes.push(node);
  return node;
}

/** The engine goes away, and another comes after so many minutes. */
async function downFor(node: DriverNode, minutes: number): Promise<DriverNode> {
  await node.driver.stop();
  kit.leap(minutes * MINUTE);
  return newNode();
}

beforeEach(async () => {
  await test.db.query('truncate ductor.schedule, ductor.schedule_slot');
  kit = new DriverKit(test.db);
  nodes = [];
});
afterEach(async () => {
  for (const { driver } of nodes) await driver.stop();
});

describe('a schedule', () => {
  it('starts a run for each slot, with a key of its own, its input, and attributes that tell the slot', async () => {
    await newNode();
    const { id } = await kit.create('each', { overlap: 'allow', version: 3, attributes: { team: 'a' } });
    await kit.pass(2 * MINUTE);
    expect(await kit.rows('each')).toEqual(['00:01 started', '00:02 started']);
    expect([...kit.started.values()]).toMatchObject([
      {
        ...{ tenantId: kit.tenantId, familySlug: 'report', version: 3 },
        idempotencyKey: `schedule/${id}/1772323260000000`,
        attributes: { team: 'a', 'ductor.schedule': 'each', 'ductor.slot': '2026-03-01T00:01:00.000Z' },
      },
      { attributes: { 'ductor.slot': '2026-03-01T00:02:00.000Z' } },
    ]);
    expect(kit.started.values().next().value?.fingerprint).toHaveLength(32);
  });

  it('never starts before the slot, also when the clock may be ahead', async () => {
    await newNode();
    await kit.create('exact');
    await kit.pass(59_999);
    expect(kit.started.size).toBe(0);
    await kit.pass(10, 1);
    expect(kit.started.size).toBe(1);
  });

  it('waits its share of the jitter, the same one always', async () => {
    await newNode();
    await kit.create('spread', { jitterMs: 30_000, overlap: 'allow' });
    await kit.pass(3 * MINUTE);
    const [slots, again] = [
      await kit.schedules.slots(kit.tenantId, 'spread', { beforeUs: kit.clock.nowUs() + 1, limit: 10 }),
      await kit.schedules.get(kit.tenantId, 'spread'),
    ];
    const delays = slots.map(({ slotUs, dueUs }) => dueUs - slotUs);
    expect(delays.every((us) => us >= 0 && us < 30_000_000)).toBe(true);
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const { dueUs, decidedAtUs } of slots) expect(decidedAtUs ?? 0).toBeGreaterThanOrEqual(dueUs);
    expect(again.nextSlotUs).toBeGreaterThan(kit.clock.nowUs() - 30_000_000);
  });

  it('ends with its last slot', async () => {
    await newNode();
    await kit.create('short', { overlap: 'allow', endsAtUs: kit.clock.nowUs() + 2 * MINUTE * 1_000 });
    await kit.pass(5 * MINUTE);
    expect(await kit.rows('short')).toEqual(['00:01 started', '00:02 started']);
    expect((await kit.schedules.get(kit.tenantId, 'short')).nextSlotUs).toBeNull();
  });

  it('says why a start failed, and goes on with the next slot', async () => {
    await newNode();
    await kit.create('broken');
    kit.refuse = 'workflow_not_published';
    await kit.pass(MINUTE);
    kit.refuse = null;
    await kit.pass(MINUTE);
    expect(await kit.rows('broken')).toEqual(['00:01 failed', '00:02 started']);
    const [, failed] = await kit.schedules.slots(kit.tenantId, 'broken', { beforeUs: kit.clock.nowUs() + 1, limit: 2 });
    expect(failed).toMatchObject({ runId: null, reason: 'workflow_not_published: refused by the test' });
  });

  it('tries again what is refused for now', async () => {
    await newNode();
    await kit.create('patient');
    kit.refuse = 'node_starting';
    await kit.pass(MINUTE + 5_000);
    expect(await kit.rows('patient')).toEqual(['00:01 starting']);
    expect(kit.starts).toBeLessThan(8);
    kit.refuse = null;
    await kit.pass(2_000);
    expect(await kit.rows('patient')).toEqual(['00:01 started']);
  });
});

describe('overlap', () => {
  const running = async (overlap: OverlapPolicy): Promise<void> => {
    await newNode();
    await kit.create('o', { overlap });
    await kit.pass(3 * MINUTE);
  };

  it('skip leaves slots out while a run is open, and names it', async () => {
    await running('skip');
    expect(await kit.rows('o')).toEqual(['00:01 started', '00:02 skipped_overlap', '00:03 skipped_overlap']);
    const [last] = await kit.schedules.slots(kit.tenantId, 'o', { beforeUs: kit.clock.nowUs() + 1, limit: 1 });
    expect(last?.reason).toBe(`run ${kit.runOf('00:01')} of 2026-03-01T00:01:00Z has not ended`);
    await kit.end(kit.runOf('00:01'));
    await kit.pass(MINUTE);
    expect((await kit.rows('o')).at(-1)).toBe('00:04 started');
  });

  it('buffer_one lets one slot wait, and starts it as soon as the run ends', async () => {
    await running('buffer_one');
    expect(await kit.rows('o')).toEqual(['00:01 started', '00:02 buffered', '00:03 skipped_overlap']);
    await kit.end(kit.runOf('00:01'));
    await kit.pass(100, 10);
    expect(await kit.rows('o')).toEqual(['00:01 started', '00:02 started', '00:03 skipped_overlap']);
  });

  it('buffer_one finds the end of a run also when nobody tells of it', async () => {
    await running('buffer_one');
    kit.open.clear();
    await kit.pass(6_000);
    expect((await kit.rows('o')).at(1)).toBe('00:02 started');
  });

  it('allow starts every slot', async () => {
    await running('allow');
    expect(await kit.rows('o')).toEqual(['00:01 started', '00:02 started', '00:03 started']);
    expect(kit.open.size).toBe(3);
  });

  it('cancel_previous cancels what runs, and starts the newest slot once it has ended', async () => {
    await running('cancel_previous');
    const first = kit.runOf('00:01');
    expect(new Set(kit.cancelled)).toEqual(new Set([first]));
    expect(await kit.rows('o')).toEqual(['00:01 started', '00:02 skipped_overlap', '00:03 buffered']);
    await kit.end(first);
    await kit.pass(100, 10);
    expect((await kit.rows('o')).at(-1)).toBe('00:03 started');
    expect(kit.open.size).toBe(1);
  });
});

describe('an engine that was down over five slots', () => {
  const FIVE: Readonly<Record<CatchUpPolicy, readonly string[]>> = {
    all: ['00:02 started', '00:03 started', '00:04 started', '00:05 started', '00:06 started'],
    latest: [
      '00:02 missed_catch_up',
      '00:03 missed_catch_up',
      '00:04 missed_catch_up',
      '00:05 missed_catch_up',
      '00:06 started',
    ],
    none: [
      '00:02 missed_catch_up',
      '00:03 missed_catch_up',
      '00:04 missed_catch_up',
      '00:05 missed_catch_up',
      '00:06 missed_catch_up',
    ],
  };

  /** Goes away right after the slot 00:01, comes back at 00:06:30. */
  const away = async (change: Parameters<DriverKit['create']>[1]): Promise<void> => {
    const node = await newNode();
    await kit.create('away', change);
    await kit.pass(MINUTE);
    await downFor(node, 5.5);
    await kit.pass(1_000);
  };

  it.each<CatchUpPolicy>(['all', 'latest', 'none'])('catches up with %s of them', async (catchUp) => {
    await away({ catchUp, overlap: 'allow' });
    expect(await kit.rows('away')).toEqual(['00:01 started', ...FIVE[catchUp]]);
    await kit.pass(MINUTE);
    expect((await kit.rows('away')).slice(6)).toEqual(['00:07 started']);
    expect(kit.started.size).toBe((await kit.rows('away')).filter((row) => row.endsWith('started')).length);
  });

  it('says how late each was, and why it starts nothing', async () => {
    await away({ catchUp: 'latest', overlap: 'allow' });
    const slots = await kit.schedules.slots(kit.tenantId, 'away', { beforeUs: kit.clock.nowUs() + 1, limit: 5 });
    expect(slots.map(({ reason }) => reason)).toEqual([
      'caught up 30s late',
      '1m30s late: a later slot is caught up instead',
      '2m30s late: a later slot is caught up instead',
      '3m30s late: a later slot is caught up instead',
      '4m30s late: a later slot is caught up instead',
    ]);
  });

  it('catches up within the window only', async () => {
    await away({ catchUp: 'all', overlap: 'allow', catchUpWindowMs: 2 * MINUTE });
    expect(await kit.rows('away')).toEqual(['00:01 started', ...FIVE.latest.slice(0, 3), ...FIVE.all.slice(3)]);
  });

  it('leaves out what overlaps, also among those it catches up with', async () => {
    await away({ catchUp: 'all', overlap: 'skip' });
    const rows = await kit.rows('away');
    expect(rows).toEqual(['00:01 started', ...[2, 3, 4, 5, 6].map((minute) => `00:0${minute} skipped_overlap`)]);
  });

  it('takes a slot of a moment ago for one on time, whatever the policy', async () => {
    const node = await newNode();
    await kit.create('away', { catchUp: 'none', overlap: 'allow' });
    await downFor(node, 1 + 9 / 60);
    await kit.pass(1_000);
    expect(await kit.rows('away')).toEqual(['00:01 started']);
  });

  it('for a year of seconds lists so many slots and no more, and is up to date at once', async () => {
    const node = await newNode();
    const spec = { kind: 'interval', everyMs: 1_000, offsetMs: 0 } as const;
    await kit.create('away', { spec, catchUpWindowMs: 5_000, overlap: 'allow' });
    await downFor(node, 365 * 24 * 60);
    await kit.pass(1_000);
    const slots = await kit.schedules.slots(kit.tenantId, 'away', { beforeUs: kit.clock.nowUs() + 1, limit: 2_000 });
    expect(slots).toHaveLength(1_006);
    expect(slots[6]?.reason).toContain('so are the slots after it up to the window, not listed');
    expect(slots.slice(0, 6).every(({ outcome }) => outcome === 'started')).toBe(true);
  });
});

describe('a node that dies', () => {
  const POINTS = ['schedules_plan', 'schedules_decide', 'schedules_to_start', 'schedules_record'].flatMap((statement) =>
    (['before', 'after'] as const).map((when) => ({ statement, when })),
  );

  it.each(POINTS)('$when $statement leaves one run for the slot, and a row that names it', async (point) => {
    const dying = await newNode();
    await kit.create('crash', { overlap: 'skip' });
    dying.crash = point;
    await kit.pass(MINUTE);
    expect(dying.errors).toHaveLength(1);
    await dying.driver.stop();
    await newNode();
    await kit.pass(100, 10);
    expect(await kit.rows('crash')).toEqual(['00:01 started']);
    expect(kit.started.size).toBe(1);
    const [slot] = await kit.schedules.slots(kit.tenantId, 'crash', { beforeUs: kit.clock.nowUs() + 1, limit: 1 });
    expect(slot?.runId).toBe(kit.runOf('00:01'));
  });

  it('keeps a start that it did not write down, though the next slot would take its place', async () => {
    const dying = await newNode();
    await kit.create('crash', { overlap: 'cancel_previous' });
    dying.crash = { statement: 'schedules_record', when: 'before' };
    await kit.pass(MINUTE);
    await downFor(dying, 1);
    await kit.pass(1_000);
    expect(await kit.rows('crash')).toEqual(['00:01 started', '00:02 buffered']);
    await kit.end(kit.runOf('00:01'));
    await kit.pass(5_100);
    expect(await kit.rows('crash')).toEqual(['00:01 started', '00:02 started']);
  });

  it('and comes back when others own its shards writes nothing any more', async () => {
    const stopped = await newNode();
    await kit.create('fence', { overlap: 'allow' });
    const owner = await newNode();
    owner.shards = [];
    // The first still believes to own everything; the second is told later.
    await kit.pass(MINUTE + 2_000);
    expect(stopped.statements).toContain('schedules_plan');
    expect(await kit.rows('fence')).toEqual([]);
    expect(kit.starts).toBe(0);
    await stopped.driver.stop();
    owner.shards = stopped.shards;
    owner.driver.kick();
    await kit.pass(100, 10);
    expect(await kit.rows('fence')).toEqual(['00:01 started']);
  });

  it('two nodes that both believe to be the owner start each slot once', async () => {
    await newNode();
    const second = await newNode();
    await kit.create('twice', { overlap: 'allow' });
    await kit.pass(5 * MINUTE);
    expect(await kit.rows('twice')).toHaveLength(5);
    expect(kit.started.size).toBe(5);
    expect(second.errors).toEqual([]);
  });
});

describe('what it costs', () => {
  it('is two statements a minute while nothing is due', async () => {
    const node = await newNode();
    for (let n = 0; n < 20; n += 1) {
      await kit.create(`idle-${n}`, { spec: { kind: 'interval', everyMs: 86_400_000, offsetMs: 0 } });
    }
    await kit.pass(MINUTE);
    node.statements.length = 0;
    await kit.pass(10 * MINUTE, 5_000);
    expect(node.statements.length).toBeLessThanOrEqual(21);
  });

  it('is no statement more for 150 schedules that are due at once than for one', async () => {
    const node = await newNode();
    await kit.create('due-0', { overlap: 'skip' });
    await kit.pass(30_000);
    node.statements.length = 0;
    await kit.pass(30_100);
    const forOne = node.statements.length;
    for (let n = 1; n < 150; n += 1) await kit.create(`due-${n}`, { overlap: 'skip' });
    await kit.pass(30_000);
    node.statements.length = 0;
    await kit.pass(30_000);
    expect(kit.started.size).toBe(150);
    expect(node.statements.length).toBeLessThanOrEqual(forOne + 2);
  });
});
