/** Everything the journal stores, out to bytes and back. */
import { describe, expect, it } from 'vitest';
import { Entries, InboxBody, Snapshot, type Entry as StoredEntry } from '../../gen/ductor/journal/v1/journal.js';
import { completed, drive, failed, RUN_ID, start } from '../testing/drive.js';
import { plainState } from '../testing/plain-state.js';
import { sequence } from '../testing/plan-builder.js';
import type { Entry, RunFailure, Value } from '../machine/index.js';
import {
  decodeEntries,
  decodeInput,
  decodeSnapshot,
  encodeEntries,
  encodeInput,
  encodeSnapshot,
  isSnapshotReadable,
  loadRun,
  snapshotDue,
  type InboxInput,
} from './index.js';

const JSON_VALUE: Value = { data: Buffer.from('{"a":"ü"}'), encoding: 'json' };
const CBOR: Value = { data: Buffer.from([0, 255, 1]), encoding: 'cbor' };
const ERROR: RunFailure = {
  code: 'boom',
  message: 'ü \u{1f6a6}',
  step: 'a',
  attempt: 2,
  retryable: true,
  stack: 'at x',
};
const US = 1_767_225_600_000_001;
const KEY = { tenantId: 't', runId: RUN_ID };

/** One entry of every kind, and of every kind of value. */
const ALL: readonly Entry[] = [
  {
    kind: 'run_started',
    familySlug: 'f',
    version: 3,
    input: JSON_VALUE,
    attributes: { k: 'v', empty: '' },
    deadlineUs: null,
  },
  { kind: 'run_started', familySlug: 'f', version: 3, input: JSON_VALUE, attributes: {}, deadlineUs: US },
  { kind: 'step_scheduled', path: 'a', attempt: 1, input: { kind: 'value', value: CBOR }, startByUs: null },
  { kind: 'step_scheduled', path: 'a', attempt: 1, input: { kind: 'runInput' }, startByUs: US },
  { kind: 'step_scheduled', path: 'b', attempt: 1, input: { kind: 'stepOutput', path: 'a' }, startByUs: null },
  { kind: 'step_scheduled', path: 'b', attempt: 2, input: null, startByUs: null },
  { kind: 'step_running', path: 'a', attempt: 1, worker: 'w', deadlineUs: Number.MAX_SAFE_INTEGER },
  { kind: 'step_completed', path: 'a', attempt: 0, output: { data: Buffer.alloc(0), encoding: 'raw' } },
  { kind: 'attempt_failed', path: 'a', attempt: 2, error: ERROR, retryAtUs: US, progress: null },
  { kind: 'attempt_failed', path: 'a', attempt: 2, error: ERROR, retryAtUs: US, progress: CBOR },
  { kind: 'step_failed', path: 'a', attempt: 2, error: { ...ERROR, stack: '', retryable: false } },
  { kind: 'step_waiting', path: 'w', wakeAtUs: US },
  { kind: 'sub_step_completed', path: 'a', attempt: 2, name: 'part', output: CBOR },
  { kind: 'step_skipped', path: 's' },
  { kind: 'step_cancelling', path: 'a', attempt: 1, deadlineUs: US },
  { kind: 'step_cancelled', path: 'a', attempt: 1, abandoned: true },
  { kind: 'step_cancelled', path: 'a', attempt: 0, abandoned: false },
  { kind: 'route_queued', path: 'a', deadlineUs: 9, workId: 'w', poolId: 'p' },
  { kind: 'route_queued', path: 'a', deadlineUs: null, workId: 'w', poolId: '' },
  { kind: 'route_settling', path: 'a' },
  { kind: 'cancel_requested', reason: 'r', requestedBy: 'key:1' },
  { kind: 'run_parked', code: 'poison_commit', message: 'm', step: '' },
  { kind: 'run_parked', code: 'attempts_exhausted', message: 'm', step: 'a' },
  { kind: 'run_paused', reason: 'r', requestedBy: 'key:1' },
  { kind: 'run_resumed', requestedBy: '' },
  { kind: 'run_resumed', requestedBy: 'key:1' },
  { kind: 'run_ending', status: 'COMPLETED', output: { kind: 'stepOutput', path: 'a' }, error: null },
  { kind: 'run_ending', status: 'TIMED_OUT', output: null, error: ERROR },
  { kind: 'run_terminated', reason: 'r', requestedBy: 'key:1' },
  { kind: 'run_failing', error: ERROR },
  { kind: 'run_closed', status: 'COMPLETED', output: { kind: 'stepOutput', path: 'a' }, error: null },
  { kind: 'run_closed', status: 'FAILED', output: null, error: ERROR },
  { kind: 'run_closed', status: 'CANCELLED', output: null, error: null },
  { kind: 'run_closed', status: 'TIMED_OUT', output: null, error: ERROR },
  { kind: 'run_closed', status: 'TERMINATED', output: null, error: null },
];

describe('entries', () => {
  it.each(ALL.map((entry): [string, Entry] => [entry.kind, entry]))('%s comes back as it was', (_kind, entry) => {
    expect(decodeEntries(encodeEntries([entry]))).toEqual([entry]);
  });

  it('come back in order', () => {
    expect(decodeEntries(encodeEntries(ALL))).toEqual(ALL);
    expect(decodeEntries(encodeEntries([]))).toEqual([]);
  });

  it('store a value once and JSON without its name', () => {
    const row = encodeEntries([{ kind: 'step_completed', path: 'a', attempt: 1, output: JSON_VALUE }]);
    expect(row.length).toBe(JSON_VALUE.data.length + 15);
    expect(Buffer.from(row).includes('json')).toBe(false);
  });

  it('take bytes from the middle of a larger buffer', () => {
    const large = new Uint8Array([9, 9, 0x31, 0x32, 9]);
    const output = { data: large.subarray(2, 4), encoding: 'json' };
    const [entry] = decodeEntries(encodeEntries([{ kind: 'step_completed', path: 'a', attempt: 1, output }]));
    expect(entry).toMatchObject({ output: { data: Buffer.from('12') } });
  });

  it('of an unknown format, kind or end are refused as internal', () => {
    const row = (format: number, ...entries: StoredEntry[]): Uint8Array =>
      Entries.encode({ format, entries, hasPayloads: false }).finish();
    expect(() => decodeEntries(row(2))).toThrow('a row of format 2; this engine reads 1');
    expect(() => decodeEntries(new Uint8Array())).toThrow('a row of format 0');
    expect(() => decodeEntries(row(1, { entry: undefined }))).toThrow('an entry of unknown kind');
    const closed = { state: 'VANISHED', output: undefined, error: undefined, successorId: '' };
    expect(() => decodeEntries(row(1, { entry: { $case: 'runClosed', value: closed } }))).toThrow(
      'a run closed as "VANISHED"',
    );
    const scheduled = { path: 'a', attempt: 1, input: { source: undefined }, startByUs: 0n };
    const value = { ...scheduled, fairnessKey: '', idempotencyKey: '' };
    expect(() => decodeEntries(row(1, { entry: { $case: 'stepScheduled', value } }))).toThrow('source of unknown kind');
    const failing = { error: undefined };
    expect(() => decodeEntries(row(1, { entry: { $case: 'runFailing', value: failing } }))).toThrow(
      'without its error',
    );
    const truncated = encodeEntries(ALL).subarray(0, 40);
    expect(() => decodeEntries(truncated)).toThrow(expect.objectContaining({ code: 'internal' }));
  });
});

describe('snapshots', () => {
  function half() {
    const run = drive(sequence('a', 'b'), 't');
    run.give({ ...start({ n: 1 }), kind: 'start', input: JSON_VALUE, attributes: { k: 'v' } });
    run.give(completed('a', { big: 'x'.repeat(100) }));
    run.give(failed('b'));
    run.give({ kind: 'park', code: 'poison_commit', message: 'm' });
    return run;
  }

  it('hold a whole state', () => {
    const { state } = half();
    const back = decodeSnapshot({ ...KEY, seq: state.seq }, encodeSnapshot(state));
    expect(back === null ? null : plainState(back)).toEqual(plainState(state));
  });

  it('of an unknown format are ignored, never fatal', () => {
    const bytes = encodeSnapshot(half().state);
    const changed = (change: (snapshot: Snapshot) => void): Uint8Array => {
      const snapshot = Snapshot.decode(bytes);
      change(snapshot);
      return Snapshot.encode(snapshot).finish();
    };
    const unreadable = [
      changed((snapshot) => (snapshot.format = 99)),
      changed((snapshot) => (snapshot.status = 'DREAMING')),
      changed((snapshot) => snapshot.steps.forEach((step) => (step.state = 'DREAMING'))),
      changed((snapshot) => (snapshot.output = { source: undefined })),
      bytes.subarray(0, bytes.length - 3),
      new Uint8Array(),
    ];
    for (const data of unreadable) expect(decodeSnapshot({ ...KEY, seq: 4 }, data)).toBeNull();
  });

  it('are known to be readable by their format', () => {
    const bytes = encodeSnapshot(half().state);
    const foreign = Snapshot.encode({ ...Snapshot.decode(bytes), format: 99 }).finish();
    const old = Snapshot.encode({ ...Snapshot.decode(bytes), format: 1 }).finish();
    expect([bytes, old, foreign, new Uint8Array()].map(isSnapshotReadable)).toEqual([true, true, false, false]);
  });

  it('are due when the rows since the last outgrow it and 64 KiB', () => {
    expect(snapshotDue(65_536, 0)).toBe(false);
    expect(snapshotDue(65_537, 0)).toBe(true);
    expect(snapshotDue(100_000, 100_000)).toBe(false);
    expect(snapshotDue(100_001, 100_000)).toBe(true);
  });

  it('shorten loading; an unreadable one asks for the rows before it', () => {
    const run = half();
    const snapshot = { seq: 4, data: encodeSnapshot(run.state) };
    run.give({ kind: 'resume' });
    const loaded = loadRun({ ...KEY, snapshot, rows: run.rows.slice(4) });
    expect(loaded === null ? null : plainState(loaded)).toEqual(plainState(run.state));
    expect(
      loadRun({ ...KEY, snapshot: { seq: 4, data: new Uint8Array([8, 99]) }, rows: run.rows.slice(4) }),
    ).toBeNull();
    expect(() => loadRun({ ...KEY, snapshot: null, rows: run.rows.slice(1) })).toThrow(/journal-gap/);
  });
});

describe('mailbox bodies', () => {
  const failure = { kind: 'failed', code: 'boom', message: 'm', stack: 's', nonRetryable: true } as const;
  const inputs: readonly InboxInput[] = [
    { kind: 'cancel', reason: 'r', requestedBy: 'someone' },
    { kind: 'terminate', reason: 'r', requestedBy: 'someone' },
    { kind: 'pause', reason: '', requestedBy: 'someone' },
    { kind: 'resume', requestedBy: 'someone' },
    { kind: 'retry', requestedBy: 'someone' },
    { kind: 'sub_step', path: 'a', attempt: 3, name: 'part', output: CBOR },
    { kind: 'route_told', path: 'a', workId: 'w', answer: { kind: 'routed', output: CBOR } },
    {
      kind: 'route_told',
      path: 'a',
      workId: 'w',
      answer: { kind: 'failed', code: 'c', message: 'm', isRetryable: true },
    },
    { kind: 'result', path: 'a', attempt: 3, outcome: { kind: 'completed', output: CBOR } },
    { kind: 'result', path: 'a', attempt: 1, outcome: { kind: 'cancelled' } },
    { kind: 'result', path: 'a', attempt: 1, outcome: { ...failure, retryAfterMs: null } },
    { kind: 'result', path: 'a', attempt: 1, outcome: { ...failure, retryAfterMs: 0 } },
    { kind: 'result', path: 'a', attempt: 1, outcome: { ...failure, nonRetryable: false, retryAfterMs: 90_000 } },
  ];

  it.each(inputs)('come back as they were: %j', (input) => {
    expect(decodeInput(encodeInput(input))).toEqual(input);
  });

  it('of an unknown kind or end are refused as internal', () => {
    expect(() => decodeInput(new Uint8Array())).toThrow('a mailbox row of unknown kind');
    const body = { $case: 'result' as const, value: { path: 'a', attempt: 1 } };
    const noOutcome = InboxBody.encode(InboxBody.fromPartial({ body })).finish();
    expect(() => decodeInput(noOutcome)).toThrow('a result without an outcome');
    const cut = encodeInput({ kind: 'cancel', reason: 'long enough to cut', requestedBy: '' }).subarray(0, 9);
    expect(() => decodeInput(cut)).toThrow(expect.objectContaining({ code: 'internal' }));
  });
});
