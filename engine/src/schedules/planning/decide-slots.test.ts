/** Every overlap policy against everything that can be in a slot's way. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OverlapPolicy } from '../schedule.js';
import { decideSlots, type OpenSlot } from './decide-slots.js';

const MINUTE_US = 60_000_000;
const at = (minute: number): number => Date.parse('2026-03-01T00:00:00Z') * 1_000 + minute * MINUTE_US;
const due = (minute: number, overlap: OverlapPolicy): OpenSlot => ({ slotUs: at(minute), overlap, outcome: 'due' });
const running = (minute: number): { slotUs: number; runId: string } => ({ slotUs: at(minute), runId: `run-${minute}` });

/** Decisions as "3 starting". */
function decided(open: readonly OpenSlot[], runs: readonly ReturnType<typeof running>[]): readonly string[] {
  return decideSlots(open, runs).decisions.map(({ slotUs, outcome }) => `${(slotUs - at(0)) / MINUTE_US} ${outcome}`);
}

describe('slots that are due', () => {
  it('start when nothing runs, and but one where overlap is not allowed', () => {
    expect(decided([due(1, 'skip')], [])).toEqual(['1 starting']);
    expect(decided([due(1, 'skip'), due(2, 'skip')], [])).toEqual(['1 starting', '2 skipped_overlap']);
    expect(decided([due(1, 'allow'), due(2, 'allow')], [running(0)])).toEqual(['1 starting', '2 starting']);
  });

  it('are left out, or wait, by their policy, and say for what', () => {
    const skipped = decideSlots([due(1, 'skip')], [running(0)]).decisions;
    expect(skipped).toEqual([
      { slotUs: at(1), outcome: 'skipped_overlap', reason: 'run run-0 of 2026-03-01T00:00:00Z has not ended' },
    ]);
    expect(decided([due(1, 'buffer_one'), due(2, 'buffer_one')], [running(0)])).toEqual([
      '1 buffered',
      '2 skipped_overlap',
    ]);
  });

  it('that wait already stay so without a word, and start at the end of what they wait for', () => {
    const buffered: OpenSlot = { ...due(1, 'buffer_one'), outcome: 'buffered' };
    expect(decided([buffered], [running(0)])).toEqual([]);
    expect(decided([buffered], [])).toEqual(['1 starting']);
  });

  it('find one that is just being started in their way', () => {
    const starting: OpenSlot = { ...due(1, 'skip'), outcome: 'starting' };
    const { decisions } = decideSlots([starting, due(2, 'skip')], []);
    expect(decisions).toEqual([
      expect.objectContaining({ reason: 'the slot 2026-03-01T00:01:00Z is just being started' }),
    ]);
  });

  it('cancel what runs once, and only the newest of them waits', () => {
    const { decisions, cancel } = decideSlots([due(2, 'cancel_previous'), due(3, 'cancel_previous')], [running(1)]);
    expect(cancel).toEqual(['run-1']);
    expect(decisions.map(({ outcome }) => outcome)).toEqual(['skipped_overlap', 'buffered']);
  });

  it('start at most one where nothing may overlap, whatever is open, and no slot is decided twice', () => {
    const policy = fc.constantFrom<OverlapPolicy>('skip', 'buffer_one', 'cancel_previous');
    const outcome = fc.constantFrom<OpenSlot['outcome']>('due', 'buffered');
    fc.assert(
      fc.property(fc.array(fc.tuple(policy, outcome), { maxLength: 12 }), fc.boolean(), (slots, isBusy) => {
        const open = slots.map(([overlap, state], index) => ({ slotUs: at(index + 1), overlap, outcome: state }));
        const { decisions } = decideSlots(open, isBusy ? [running(0)] : []);
        const starting = decisions.filter((decision) => decision.outcome === 'starting');
        expect(starting.length).toBeLessThanOrEqual(isBusy ? 0 : 1);
        expect(new Set(decisions.map(({ slotUs }) => slotUs)).size).toBe(decisions.length);
      }),
    );
  });
});
