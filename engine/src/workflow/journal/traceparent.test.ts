/** The trace of a run's trigger stays with the run: through rows, snapshots and tasks, and only where there is one. */
import { describe, expect, it } from 'vitest';
import { advance } from '../machine/advance.js';
import { emptyRun, fold, jsonValue, taskOf, type RunState } from '../machine/index.js';
import { planOf } from '../testing/plan-builder.js';
import { decodeEntries, encodeEntries } from './entries-codec.js';
import { decodeSnapshot, encodeSnapshot } from './snapshot-codec.js';

const RUN = { tenantId: '00000000-0000-7000-8000-000000000001', runId: '00000000-0000-7000-8000-000000000002' };
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const plan = planOf({ steps: { a: { type: 'CALLBACK' } } });

/** A started run, as a row and as a snapshot give it back. */
function stored(traceparent?: string): readonly RunState[] {
  const input = { kind: 'start' as const, input: jsonValue(null), attributes: {} };
  const traced = traceparent === undefined ? input : { ...input, traceparent };
  const { state, entries } = advance(plan, emptyRun(RUN), [traced], {
    nowUs: 1_000,
    seed: 1,
    newId: () => '',
    progressOf: () => null,
  });
  const folded = fold(emptyRun(RUN), decodeEntries(encodeEntries(entries)), { seq: 1, atUs: 1_000 });
  const kept = decodeSnapshot({ ...RUN, seq: 1 }, encodeSnapshot(state));
  return [state, folded, kept ?? emptyRun(RUN)];
}

describe('traceparent', () => {
  it('comes back from row and snapshot, and goes with the task', () => {
    for (const state of stored(TRACEPARENT)) {
      expect(state.traceparent).toBe(TRACEPARENT);
      expect(taskOf(plan, state, 'a')?.traceparent).toBe(TRACEPARENT);
    }
  });

  it('leaves no mark where there is none', () => {
    for (const state of stored()) {
      expect(Object.keys(state)).not.toContain('traceparent');
      expect(Object.keys(taskOf(plan, state, 'a') ?? {})).not.toContain('traceparent');
    }
  });
});
