/** What people do with schedules, beside a driver that works: on a real database, with a clock that the test moves. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../store/testing/index.js';
import { maintainSchedules } from './maintain-schedules.js';
import type { NewSchedule } from './schedule.js';
import { DriverKit, type DriverNode } from './testing/driver-kit.js';

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

describe('people', () => {
  it('pause a schedule: nothing starts, and the next slot after the resume is the next', async () => {
    await newNode();
    await kit.create('p', { overlap: 'allow' });
    await kit.pass(MINUTE);
    const paused = await kit.schedules.pause(kit.tenantId, 'p', 'holidays');
    expect(paused).toMatchObject({ isPaused: true, pauseReason: 'holidays', nextSlotUs: null });
    await kit.pass(3 * MINUTE);
    await kit.schedules.resume(kit.tenantId, 'p');
    await kit.pass(MINUTE);
    expect(await kit.rows('p')).toEqual(['00:01 started', '00:05 started']);
  });

  it('pause a schedule that has a slot waiting: it waits on', async () => {
    await newNode();
    await kit.create('p', { overlap: 'buffer_one' });
    await kit.pass(2 * MINUTE);
    await kit.schedules.pause(kit.tenantId, 'p', '');
    await kit.end(kit.runOf('00:01'));
    await kit.pass(MINUTE);
    expect(await kit.rows('p')).toEqual(['00:01 started', '00:02 buffered']);
    await kit.schedules.resume(kit.tenantId, 'p');
    await kit.pass(100, 10);
    expect(await kit.rows('p')).toEqual(['00:01 started', '00:02 started']);
  });

  it('trigger it at any moment, paused or not, by its overlap policy or another', async () => {
    await newNode();
    await kit.create('t', { spec: { kind: 'interval', everyMs: 86_400_000, offsetMs: 0 } });
    await kit.schedules.pause(kit.tenantId, 't', '');
    await kit.pass(90_000);
    await kit.schedules.trigger(kit.tenantId, 't', null);
    await kit.schedules.trigger(kit.tenantId, 't', null);
    await kit.pass(100, 10);
    expect(await kit.rows('t')).toEqual(['00:01 started', '00:01 skipped_overlap']);
    await kit.schedules.trigger(kit.tenantId, 't', 'allow');
    await kit.pass(100, 10);
    expect((await kit.rows('t')).at(-1)).toBe('00:01 started');
  });

  it('backfill a range: what started stays, all else starts, each once', async () => {
    const node = await newNode();
    await kit.create('b', { catchUp: 'none' });
    await kit.pass(MINUTE);
    await downFor(node, 4);
    await kit.pass(20_000);
    expect(await kit.rows('b')).toEqual([
      '00:01 started',
      ...[2, 3, 4].map((n) => `00:0${n} missed_catch_up`),
      '00:05 skipped_overlap',
    ]);
    const range = { fromUs: kit.clock.nowUs() - 300_000_000, toUs: kit.clock.nowUs(), overlap: 'allow' } as const;
    expect(await kit.schedules.backfill(kit.tenantId, 'b', range)).toEqual({ added: 4, kept: 1 });
    await kit.pass(100, 10);
    expect(await kit.rows('b')).toEqual([1, 2, 3, 4, 5].map((n) => `00:0${n} started`));
    expect(await kit.schedules.backfill(kit.tenantId, 'b', range)).toEqual({ added: 0, kept: 5 });
    expect(kit.started.size).toBe(5);
  });

  it('change its times: the next slot is the first of the new ones after now', async () => {
    await newNode();
    await kit.create('c', { overlap: 'allow' });
    await kit.pass(MINUTE);
    await kit.schedules.update(kit.tenantId, 'c', 0, (now) => ({
      ...now,
      spec: { kind: 'cron', expression: '*/3 * * * *', timeZone: 'UTC' },
    }));
    await kit.pass(3 * MINUTE);
    expect(await kit.rows('c')).toEqual(['00:01 started', '00:03 started']);
  });

  it('delete it: no slot comes any more', async () => {
    await newNode();
    await kit.create('d', { overlap: 'allow' });
    await kit.pass(MINUTE);
    await kit.schedules.remove(kit.tenantId, 'd');
    await kit.pass(3 * MINUTE);
    expect(kit.started.size).toBe(1);
    await expect(kit.schedules.get(kit.tenantId, 'd')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('create', () => {
  const refused = (change: Partial<NewSchedule>): Promise<unknown> =>
    kit.create('nightly', change).then(
      () => 'made',
      (error: unknown) => error,
    );

  it('says everything that is wrong, with path, value, problem and remedy', async () => {
    const error = await refused({
      ...{ spec: { kind: 'cron', expression: '61 * * * *', timeZone: 'Mars/Base' }, title: 'x'.repeat(257) },
      ...{ jitterMs: 86_400_001, catchUpWindowMs: -1, startsAtUs: 2, endsAtUs: 1 },
    });
    expect(error).toMatchObject({
      code: 'invalid_argument',
      details: [
        { path: 'cron.expression', value: '61 * * * *', remedy: expect.stringContaining('0 9 * * MON-FRI') },
        { path: 'cron.time_zone', value: 'Mars/Base', remedy: expect.stringContaining('Europe/Berlin') },
        { path: 'title', problem: 'is longer than 256 characters' },
        { path: 'ends_at', problem: 'is before starts_at' },
        { path: 'catch_up.window', value: '-1ms', problem: 'must be 0s to 366d' },
        { path: 'jitter', value: '86400001ms', problem: 'must be 0s to 1d' },
      ],
    });
  });

  it('refuses a name that is taken, one that is none, an input too large, and times that have passed', async () => {
    await kit.create('nightly');
    expect(await refused({})).toMatchObject({ code: 'schedule_exists' });
    expect(await refused({ slug: 'Nightly' })).toMatchObject({ details: [{ path: 'slug', value: 'Nightly' }] });
    const input = { data: new Uint8Array(256 * 1024 + 1), encoding: '' };
    expect(await refused({ slug: 'large', input })).toMatchObject({ details: [{ path: 'input' }] });
    const calendar = { kind: 'calendar', timeZone: 'UTC', times: ['09:00'], dates: ['2026-02-28'] } as const;
    const spec = { ...calendar, daysOfMonth: [], weekdays: [], months: [], exceptDates: [] };
    expect(await refused({ slug: 'past', spec })).toMatchObject({
      details: [{ problem: 'has no slot in the future' }],
    });
  });

  it('answers what it made, by id and by slug, in lists by slug', async () => {
    const made = await kit.create('b', { attributes: { team: 'x' }, jitterMs: 5 });
    await kit.create('a');
    expect(await kit.schedules.get(kit.tenantId, 'b')).toEqual(made);
    expect(await kit.schedules.get(kit.tenantId, made.id)).toEqual(made);
    expect((await kit.schedules.list(kit.tenantId, '', 10)).map(({ slug }) => slug)).toEqual(['a', 'b']);
    expect((await kit.schedules.list(kit.tenantId, 'a', 10)).map(({ slug }) => slug)).toEqual(['b']);
    expect(kit.schedules.upcoming(made, 3)).toHaveLength(3);
  });
});

describe('update', () => {
  it('is guarded by the version that was read', async () => {
    const { recordVersion } = await kit.create('u');
    const rename = (version: number): Promise<{ readonly title: string }> =>
      kit.schedules.update(kit.tenantId, 'u', version, (now) => ({ ...now, title: `at ${version}` }));
    expect(await rename(recordVersion)).toMatchObject({ title: 'at 1', recordVersion: 2 });
    await expect(rename(recordVersion)).rejects.toMatchObject({ code: 'version_conflict' });
  });

  it('of a title leaves the next slot where it was, also of a schedule that is over', async () => {
    const node = await newNode();
    const { nextSlotUs } = await kit.create('u', { endsAtUs: kit.clock.nowUs() + 70_000_000 });
    const rename = (title: string): Promise<unknown> =>
      kit.schedules.update(kit.tenantId, 'u', 0, (now) => ({ ...now, title }));
    expect(await rename('x')).toMatchObject({ nextSlotUs });
    await kit.pass(2 * MINUTE);
    expect(await rename('y')).toMatchObject({ nextSlotUs: null, title: 'y' });
    expect(node.errors).toEqual([]);
  });
});

describe('backfill', () => {
  it('refuses a range that is upside down, lies ahead, or holds too many slots', async () => {
    await kit.create('b', { spec: { kind: 'interval', everyMs: 1_000, offsetMs: 0 } });
    const nowUs = kit.clock.nowUs();
    const of = (fromUs: number, toUs: number): Promise<unknown> =>
      kit.schedules.backfill(kit.tenantId, 'b', { fromUs, toUs, overlap: 'allow' });
    await expect(of(nowUs, nowUs - 1)).rejects.toMatchObject({ details: [{ path: 'to', problem: 'is before from' }] });
    await expect(of(nowUs, nowUs + 1)).rejects.toMatchObject({ details: [{ path: 'to' }] });
    await expect(of(nowUs - 2_000_000_000, nowUs)).rejects.toMatchObject({
      details: [{ problem: 'makes more than 1000 slots' }],
    });
    expect(await of(nowUs - 999_000_000, nowUs)).toEqual({ added: 1_000, kept: 0 });
  });
});

describe('maintainSchedules', () => {
  it('forgets slots after 90 days, and no other ones', async () => {
    await newNode();
    await kit.create('m', { spec: { kind: 'interval', everyMs: 86_400_000, offsetMs: 0 }, overlap: 'allow' });
    await kit.pass(3 * 86_400_000, 3_600_000);
    kit.leap(89.5 * 86_400_000);
    expect(await maintainSchedules(test.db, kit.clock)).toBe(2);
    expect(await maintainSchedules(test.db, kit.clock)).toBe(0);
  });
});
