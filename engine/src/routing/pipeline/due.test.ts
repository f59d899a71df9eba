/** Deadlines of decisions: by either clock, and what becomes of work that nobody would answer in time. */
import { describe, expect, it } from 'vitest';
import { replay } from '../decisions/replay.js';
import { documentsOf, writeRecord } from '../decisions/write-record.js';
import { inputOf, recipientOf, snapshotOf } from '../testing/decision-kit.js';
import { idOf, NOW_US } from '../testing/strategy-kit.js';
import { decide } from './decide.js';
import type { Decision, DecisionInput, PoolSnapshot } from './decision.js';
import { dueUsOf } from './due.js';

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
/** 2026-07-11, a Saturday, 10:45 UTC. */
const RECEIVED = new Date((NOW_US - 30 * MINUTE) / 1000).toISOString();
const ALL_WEEK = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const SCHEDULE = { weekly: [{ days: ALL_WEEK, open: '10:00', close: '11:00' }] };

/** The decision; its record must replay to the same bytes, by another runtime's hours. */
function decided(input: DecisionInput): Decision {
  const decision = decide(input);
  const record = writeRecord(decision, { version: '1', tzdb: '' });
  const documents = new Map(
    [...documentsOf(decision)].map(([digest, each]) => [digest, JSON.parse(JSON.stringify(each)) as unknown]),
  );
  const again = replay(record, documents);
  expect(again.record).toBe(record);
  expect(again.decision.hops.map(({ dueUs }) => dueUs)).toEqual(decision.hops.map(({ dueUs }) => dueUs));
  return decision;
}

const poolWith = (config: object, number = 500): PoolSnapshot => snapshotOf(number, { config }, [recipientOf(1)]);
const dueBy = (sla: object, config: object = {}): number | undefined =>
  decided(inputOf([poolWith({ sla, ...config })], { work: { received_at: RECEIVED } })).hops[0]?.dueUs;

describe('a deadline', () => {
  it('counts from when the work came in, or from the decision, by the first clause that is there', () => {
    expect(dueBy({ pickup_within: '5m', resolve_within: '1h' })).toBe(NOW_US - 25 * MINUTE);
    expect(dueBy({ first_response_within: '40m' })).toBe(NOW_US + 10 * MINUTE);
    expect(dueBy({ resolve_within: '1h', start_event: 'assigned' })).toBe(NOW_US + HOUR);
    expect(dueBy({})).toBeUndefined();
  });

  it('counts only open time by the business clock: over the night, from before it opened', () => {
    const sla = { first_response_within: '50m', clock: 'business' };
    // Received 10:15; 45 minutes are left today, five come tomorrow from 10:00.
    expect(dueBy(sla, { schedule: SCHEDULE })).toBe(NOW_US + 23.25 * HOUR + 5 * MINUTE);
    expect(dueBy(sla)).toBe(NOW_US + 20 * MINUTE);
    const dueAtNight = dueUsOf(poolWith({ sla, schedule: SCHEDULE }), {
      nowUs: NOW_US - 9 * HOUR,
      routable: inputOf([poolWith({})]).routable,
    });
    expect(dueAtNight).toBe(NOW_US + 5 * MINUTE);
  });

  it('that never comes is none, in the record, too', () => {
    // Open on this one day only; with the effective time over the last clause never ends.
    const schedule = { weekly: [], exceptions: [{ date: '2026-07-11', kind: 'open' }] };
    expect(dueBy({ resolve_within: '90d', clock: 'business' }, { schedule })).toBeUndefined();
  });
});

describe('work that everybody would answer too late', () => {
  const sla = { pickup_within: '35m', min_headroom: '10m' };
  const spill = { kind: 'overflow', target: idOf(501) };
  const late = (config: object, work: object = { received_at: RECEIVED }): Decision =>
    decided(inputOf([poolWith({ sla, ...config }), snapshotOf(501, {}, [recipientOf(5)])], { work }));

  it('goes where a fallback says that answers to it by name, and nowhere else', () => {
    const fallback = [{ ...spill, on: ['sla_breach_predicted'] }];
    const spilt = late({ fallback });
    expect(spilt).toMatchObject({
      outcome: 'assigned',
      poolId: idOf(501),
      hops: [{ reason: 'sla_breach_predicted' }, {}],
    });
    expect(late({ fallback: spill }).poolId).toBe(idOf(500));
    expect(late({}).poolId).toBe(idOf(500));
    expect(late({ fallback }, {}).poolId).toBe(idOf(500));
    const business = { ...sla, clock: 'business' };
    expect(late({ fallback, sla: business, schedule: SCHEDULE }).poolId).toBe(idOf(501));
  });

  it('stays when putting it off has been tried often enough: somebody can still take it', () => {
    const fallback = { kind: 'retry', delay: '1s', max_attempts: 1, on: ['sla_breach_predicted'] };
    const tried = (count: number): Decision =>
      decided(inputOf([poolWith({ sla, fallback })], { work: { received_at: RECEIVED }, tried: count }));
    expect(tried(0).outcome).toBe('deferred');
    expect(tried(1)).toMatchObject({ outcome: 'assigned', slate: [{ id: idOf(1) }] });
  });

  it('is told by what the recipients have and how long they take', () => {
    const responses = Array.from({ length: 32 }, (_, bucket) => (bucket === 20 ? 10 : 0));
    const pool = snapshotOf(
      500,
      { config: { sla: { pickup_within: '10m' }, fallback: { ...spill, on: ['sla_breach_predicted'] } } },
      [recipientOf(1), recipientOf(2)],
      { facts: { 1: { responses } } },
    );
    const other = snapshotOf(501, {}, [recipientOf(5)]);
    // Nine of ten take up to 35 minutes, and who has no figures of its own counts as all together.
    expect(decided(inputOf([pool, other])).poolId).toBe(idOf(501));
  });
});
