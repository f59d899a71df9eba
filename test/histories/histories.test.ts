import { describe, expect, it } from 'vitest';
import {
  decodeEntries,
  decodeSnapshot,
  encodeEntries,
  encodeSnapshot,
  historyOf,
  loadRun,
} from '../../engine/src/workflow/journal/index.js';
import { plainState } from '../../engine/src/workflow/testing/plain-state.js';
import { foldedState, historyNames, readHistory, rowsOf } from './history-file.js';
import { SCENARIOS } from './scenarios.js';

const NAMES = historyNames();

describe('recorded histories', () => {
  it('are there, one for each way a run can go', () => {
    expect(NAMES).toEqual(expect.arrayContaining(SCENARIOS.map(({ name }) => name)));
    const kinds = NAMES.flatMap((name) => historyOf(rowsOf(readHistory(name))).map(({ kind }) => kind));
    expect([...new Set(kinds)].toSorted()).toEqual([
      'attempt_failed',
      'body_completed',
      'body_failed',
      'cancel_requested',
      'run_closed',
      'run_compensating',
      'run_continuing',
      'run_ending',
      'run_failing',
      'run_parked',
      'run_paused',
      'run_resumed',
      'run_started',
      'run_terminated',
      'slate_reserved',
      'step_cancelled',
      'step_cancelling',
      'step_completed',
      'step_failed',
      'step_opened',
      'step_running',
      'step_scheduled',
      'step_selecting',
      'step_skipped',
      'step_waiting',
    ]);
  });

  it.each(NAMES)('%s folds to the state it had', (name) => {
    const file = readHistory(name);
    const rows = rowsOf(file);
    expect(rows.length).toBeGreaterThan(0);
    // What states learned to hold since it was recorded is beside the point.
    expect(foldedState(file.tenant_id, file.run_id, rows)).toMatchObject(Object(file.state));
  });

  it.each(NAMES)('%s is written today as it was then', (name) => {
    for (const { entries } of rowsOf(readHistory(name))) {
      expect(Buffer.from(encodeEntries(decodeEntries(entries))).toString('base64')).toBe(
        Buffer.from(entries).toString('base64'),
      );
    }
  });

  it.each(NAMES)('%s goes on the same from a snapshot after any row', (name) => {
    const { tenant_id: tenantId, run_id: runId, ...file } = readHistory(name);
    const rows = rowsOf({ tenant_id: tenantId, run_id: runId, ...file });
    const whole = loadRun({ tenantId, runId, snapshot: null, rows });
    for (let seq = 1; seq < rows.length; seq += 1) {
      const half = loadRun({ tenantId, runId, snapshot: null, rows: rows.slice(0, seq) }) ?? expect.fail('no state');
      const snapshot = { seq, data: encodeSnapshot(half) };
      expect(decodeSnapshot({ tenantId, runId, seq }, snapshot.data)).not.toBeNull();
      const resumed = loadRun({ tenantId, runId, snapshot, rows: rows.slice(seq) });
      expect(resumed === null ? null : plainState(resumed)).toEqual(whole === null ? null : plainState(whole));
    }
  });
});
