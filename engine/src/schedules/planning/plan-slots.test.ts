/** Which slots have come, and what time alone makes of them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CatchUpPolicy } from '../schedule.js';
import { jitterUs, slotsOf } from '../slots/slots.js';
import { planSlots, type PlanRequest, type SlotPlan } from './plan-slots.js';

const US = 1_000_000;
const MINUTE_US = 60 * US;
const BEGIN = Date.parse('2026-03-01T00:00:00Z') * 1_000;
const every = (seconds: number): PlanRequest['slots'] =>
  slotsOf({ kind: 'interval', everyMs: seconds * 1_000, offsetMs: 0 });

function plan(nowUs: number, change: Partial<PlanRequest> = {}): SlotPlan {
  return planSlots({
    ...{ scheduleId: 's', slots: every(60), nextSlotUs: BEGIN, nowUs, catchUp: 'all' },
    ...{ catchUpWindowMs: 86_400_000, jitterMs: 0 },
    ...change,
  });
}

describe('a plan', () => {
  it('is empty before the slot, and has it from its very microsecond on', () => {
    expect(plan(BEGIN - 1)).toEqual({ planned: [], nextSlotUs: BEGIN, nextDueUs: BEGIN });
    expect(plan(BEGIN)).toEqual({
      planned: [{ slotUs: BEGIN, dueUs: BEGIN, outcome: 'due', reason: '' }],
      nextSlotUs: BEGIN + MINUTE_US,
      nextDueUs: BEGIN + MINUTE_US,
    });
  });

  it('takes ten seconds for on time and the microsecond after them for late', () => {
    const outcomes = (lateUs: number): string[] =>
      plan(BEGIN + lateUs, { catchUp: 'none' }).planned.map(({ outcome }) => outcome);
    expect(outcomes(10 * US)).toEqual(['due']);
    expect(outcomes(10 * US + 1)).toEqual(['missed_catch_up']);
  });

  it.each<[CatchUpPolicy, string]>([
    ['all', 'due due due'],
    ['latest', 'missed_catch_up missed_catch_up due'],
    ['none', 'missed_catch_up missed_catch_up missed_catch_up'],
  ])('catches up with %s', (catchUp, expected) => {
    const { planned } = plan(BEGIN + 2 * MINUTE_US + 30 * US, { catchUp });
    expect(planned.map(({ outcome }) => outcome).join(' ')).toBe(expected);
  });

  it('of the latest takes the one on time where that is the latest', () => {
    const { planned } = plan(BEGIN + MINUTE_US, { catchUp: 'latest' });
    expect(planned.map(({ outcome }) => outcome)).toEqual(['missed_catch_up', 'due']);
  });

  it('counts lateness from when a slot was due, its jitter included', () => {
    const jitterMs = 50_000;
    const dueUs = BEGIN + jitterUs('s', BEGIN, jitterMs);
    expect(plan(dueUs - 1, { jitterMs }).planned).toEqual([]);
    expect(plan(dueUs, { jitterMs, catchUp: 'none' }).planned).toMatchObject([
      { slotUs: BEGIN, dueUs, outcome: 'due' },
    ]);
  });

  it('ends with the last slot', () => {
    const once = { nextAfter: (afterUs: number): number | null => (afterUs < BEGIN ? BEGIN : null) };
    expect(plan(BEGIN, { slots: once })).toMatchObject({ nextSlotUs: null, nextDueUs: null });
  });

  it('goes on where it ended: planned in pieces or at once, the slots are the same', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 8 }), (pauses) => {
        const found: number[] = [];
        let [nextSlotUs, nowUs]: [number | null, number] = [BEGIN, BEGIN];
        for (const pause of pauses) {
          nowUs += pause * US;
          const step: SlotPlan = plan(nowUs, { nextSlotUs: nextSlotUs ?? 0 });
          found.push(...step.planned.map(({ slotUs }) => slotUs));
          ({ nextSlotUs } = step);
        }
        expect(found).toEqual(plan(nowUs).planned.map(({ slotUs }) => slotUs));
      }),
    );
  });
});
