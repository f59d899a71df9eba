import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CASES } from '../testing/random-plan.js';
import { EMPTY_STEPS, editSteps, isActiveStatus, isWaitingStatus, stepTable } from './step-table.js';
import type { ScopeState, StepState, StepTable } from './state.js';
import { NULL_VALUE } from './value.js';

const statuses = fc.constantFrom(
  ...(['SCHEDULED', 'RUNNING', 'BACKOFF', 'WAITING', 'CANCELLING', 'COMPLETED', 'FAILED', 'SKIPPED'] as const),
);

const states: fc.Arbitrary<StepState> = fc.record({
  path: fc.nat({ max: 120 }).map((index) => `s${index}`),
  status: statuses,
  attempt: fc.nat({ max: 3 }),
  input: fc.constant(null),
  output: fc.constantFrom(null, { data: new Uint8Array(1000), encoding: 'json' }),
  error: fc.constant(null),
  dueAtUs: fc.option(fc.nat({ max: 1000 })),
  worker: fc.constant(null),
  lostInARow: fc.constant(0),
  sinceUs: fc.constant(0),
  firstAtUs: fc.constant(0),
  progress: fc.constant(null),
  subSteps: fc.constantFrom([], [{ name: 'part', output: NULL_VALUE }]),
  body: fc.constant(null),
  child: fc.constant(null),
  keys: fc.constant(null),
  gate: fc.constant(null),
});

/** What the table says of itself beyond its steps, counted anew. */
function sums(steps: readonly StepState[]): unknown {
  const due = steps.flatMap(({ dueAtUs }) => (dueAtUs === null ? [] : [dueAtUs]));
  return {
    size: steps.length,
    active: steps.filter(({ status }) => isActiveStatus(status)).length,
    waiting: steps.filter(({ status }) => isWaitingStatus(status)).length,
    nextDueUs: due.length === 0 ? null : Math.min(...due),
    bytes: stepTable(steps).bytes,
  };
}

function told({ size, active, waiting, nextDueUs, bytes }: StepTable): unknown {
  return { size, active, waiting, nextDueUs, bytes };
}

describe('a table of steps', () => {
  it('is a map in order of first entry, with exact sums, and never changes', () => {
    const edits = fc.array(fc.array(states, { maxLength: 40, size: 'max' }), { maxLength: 6, size: 'max' });
    const property = fc.property(edits, (batches) => {
      const model = new Map<string, StepState>();
      const seen: [StepTable, readonly StepState[]][] = [];
      let table = EMPTY_STEPS;
      for (const batch of batches) {
        const edit = editSteps(table);
        for (const step of batch) {
          edit.set(step);
          model.set(step.path, step);
          expect(edit.get(step.path)).toBe(step);
        }
        expect([...edit.values()]).toEqual([...model.values()]);
        expect(edit.nextDueUs()).toBe(stepTable(model.values()).nextDueUs);
        table = edit.done();
        seen.push([table, [...model.values()]]);
      }
      for (const [before, steps] of seen) {
        expect([...before.values()]).toEqual(steps);
        expect([...before.keys()]).toEqual(steps.map(({ path }) => path));
        expect(told(before)).toEqual(sums(steps));
      }
    });
    fc.assert(property, CASES);
  });

  it('is read as any map', () => {
    const step: StepState = {
      ...{ path: 'a', status: 'WAITING', attempt: 0, input: null, output: null, error: null },
      ...{
        dueAtUs: 5,
        worker: null,
        lostInARow: 0,
        sinceUs: 0,
        firstAtUs: 0,
        progress: null,
        subSteps: [],
        body: null,
        child: null,
      },
      keys: null,
      gate: null,
    };
    const table = stepTable([step]);
    expect([table.has('a'), table.has('b'), table.get('b')]).toEqual([true, false, undefined]);
    expect([...table]).toEqual([['a', step]]);
    const visited: unknown[] = [];
    table.forEach((value, key, map) => visited.push(value, key, map));
    expect(visited).toEqual([step, 'a', table]);
    expect(editSteps(table).done()).toBe(table);
  });

  it('holds what another table of its kind holds', () => {
    const foreign: StepTable = Object.assign(new Map<string, StepState>(), {
      active: 0,
      waiting: 0,
      bodies: 0,
      scopes: new Map<string, ScopeState>(),
      nextDueUs: null,
      bytes: 0,
    });
    expect(editSteps(foreign).done().size).toBe(0);
  });
});
