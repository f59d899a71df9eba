/** Both edges of summer time in four zones, driven on a real database: each slot is one row, and one run. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../../store/testing/index.js';
import { DriverKit, type DriverNode } from '../testing/driver-kit.js';

const test = testDatabase();
const HOUR = 3_600_000;
let kit: DriverKit;
let node: DriverNode | undefined;

beforeEach(async () => {
  await test.db.query('truncate ductor.schedule, ductor.schedule_slot');
  kit = new DriverKit(test.db);
});
afterEach(() => node?.driver.stop());

/** Each slot from an instant on, in UTC, and what became of it. */
async function driven(cron: string, timeZone: string, from: string, hours: number): Promise<readonly string[]> {
  kit.leap(Date.parse(from) - kit.clock.nowUs() / 1_000);
  node = await kit.node();
  await kit.create('edge', { spec: { kind: 'cron', expression: cron, timeZone }, overlap: 'allow', catchUp: 'none' });
  await kit.pass(hours * HOUR, HOUR / 4);
  const slots = await kit.schedules.slots(kit.tenantId, 'edge', { beforeUs: kit.clock.nowUs() + 1, limit: 1_000 });
  expect(kit.started.size).toBe(slots.length);
  return slots.toReversed().map(({ slotUs, dueUs, outcome, runId, reason }) => {
    expect([dueUs, reason, runId === null]).toEqual([slotUs, '', false]);
    return `${new Date(slotUs / 1_000).toISOString().slice(5, 16)} ${outcome}`;
  });
}

const started = (...slots: readonly string[]): readonly string[] => slots.map((slot) => `${slot} started`);

describe('rows of a time of day', () => {
  it.each<[zone: string, cron: string, from: string, slots: readonly string[]]>([
    ['America/New_York', '30 2 * * *', '2026-03-07T06:00Z', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
    ['America/New_York', '30 1 * * *', '2026-10-31T04:00Z', ['10-31T05:30', '11-01T05:30', '11-02T06:30']],
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T00:00Z', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02T14:00Z', ['10-02T15:45', '10-03T15:30', '10-04T15:15']],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-03T13:00Z', ['04-03T14:45', '04-04T14:45', '04-05T15:15']],
    ['America/Santiago', '0 0 * * *', '2026-09-05T03:00Z', ['09-05T04:00', '09-06T04:00', '09-07T03:00']],
    ['America/Santiago', '30 23 * * *', '2026-04-04T01:00Z', ['04-04T02:30', '04-05T02:30', '04-06T03:30']],
  ])('in %s by %s from %s', async (zone, cron, from, slots) => {
    expect(await driven(cron, zone, from, 52)).toEqual(started(...slots));
  });
});

describe('rows of a pattern that counts real time', () => {
  it.each<[zone: string, from: string, slots: readonly string[]]>([
    // 02:00 +11:00 becomes 01:30 +10:30: the half hour from 01:30 on comes twice.
    ['Australia/Lord_Howe', '2026-04-04T14:15Z', ['04-04T14:30', '04-04T14:45', '04-04T15:00', '04-04T15:15']],
    // 02:00 becomes 02:30: nothing of the half hour that is skipped.
    ['Australia/Lord_Howe', '2026-10-03T14:45Z', ['10-03T15:00', '10-03T15:15', '10-03T15:30', '10-03T15:45']],
    ['Europe/Berlin', '2026-10-25T00:30Z', ['10-25T00:45', '10-25T01:00', '10-25T01:15', '10-25T01:30']],
  ])('in %s from %s', async (zone, from, slots) => {
    expect(await driven('*/15 * * * *', zone, from, 1)).toEqual(started(...slots));
  });
});
