/** Large values leave rows and snapshots, and come back exactly. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry, Value } from '../machine/index.js';
import { completed, drive, RUN_ID, start } from '../testing/drive.js';
import { plainState } from '../testing/plain-state.js';
import { edge, ITEM, outputOf, planOf, sequence, VARS } from '../testing/plan-builder.js';
import {
  decodeEntries,
  encodeEntries,
  encodeSnapshot,
  historyOf,
  loadRun,
  PAYLOAD_BYTES,
  payloadShelf,
  payloadSink,
  type PayloadSink,
} from './index.js';

const KEY = { tenantId: 't', runId: RUN_ID };

const value = (data: Uint8Array): Value => ({ data: Buffer.from(data), encoding: 'json' });
const output = (path: string, data: Uint8Array): Entry => ({
  kind: 'step_completed',
  path,
  attempt: 1,
  output: value(data),
});

function loadedOf(sink: PayloadSink): ReadonlyMap<string, Uint8Array> {
  return new Map([...sink.writes].map(([name, { data }]) => [name, Buffer.from(data)]));
}

const anyValue = fc
  .tuple(fc.uint8Array({ maxLength: 80 }), fc.constantFrom('json', 'cbor'))
  .map(([data, encoding]): Value => ({ data: Buffer.from(data), encoding }));
const anyEntry = fc.oneof(
  anyValue.map((input): Entry => ({
    kind: 'step_scheduled',
    path: 'a',
    attempt: 1,
    input: { kind: 'value', value: input },
    startByUs: null,
  })),
  anyValue.map((out): Entry => ({ kind: 'step_completed', path: 'a', attempt: 1, output: out })),
  anyValue.map((input): Entry => ({
    kind: 'run_started',
    ...{ familySlug: 'f', version: 1, input, attributes: { digest: 'd', encoding: 'e', data: 'x' }, deadlineUs: null },
  })),
);

describe('rows', () => {
  it('come back as they were, whatever the limit, and hold nothing that is beyond it', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 6 }), fc.integer({ min: 0, max: 60 }), (entries, aboveBytes) => {
        const sink = payloadSink('r', aboveBytes);
        const row = encodeEntries(entries, sink);
        const first = payloadShelf('r');
        const without = decodeEntries(row, first);
        expect(without.map(({ kind }) => kind)).toEqual(entries.map(({ kind }) => kind));
        expect([...first.missing.keys()].sort()).toEqual([...sink.writes.keys()].sort());
        const shelf = payloadShelf('r', loadedOf(sink));
        expect(decodeEntries(row, shelf)).toEqual(entries);
        expect(shelf.missing.size).toBe(0);
        for (const { data } of sink.writes.values()) expect(data.byteLength).toBeGreaterThan(aboveBytes);
      }),
    );
  });

  it('hold values up to 64 KiB and refer to larger ones, of which equal ones are stored once', () => {
    const sink = payloadSink('r');
    const small = encodeEntries([output('a', new Uint8Array(PAYLOAD_BYTES))], sink);
    expect([small.byteLength > PAYLOAD_BYTES, sink.writes.size]).toEqual([true, 0]);
    const large = new Uint8Array(PAYLOAD_BYTES + 1);
    const row = encodeEntries([output('a', large), output('b', large)], sink);
    expect([row.byteLength < 200, sink.writes.size]).toEqual([true, 1]);
  });

  it('carry a large value again whenever an entry names it: the tick before may never have been written', () => {
    const entry = output('a', new Uint8Array(100));
    for (const sink of [payloadSink('r', 10), payloadSink('r', 10), payloadSink('another', 10)]) {
      encodeEntries([entry], sink);
      expect(sink.writes.size).toBe(1);
    }
  });

  it('cannot be written with values that were not loaded', () => {
    const row = encodeEntries([output('a', new Uint8Array(100))], payloadSink('r', 10));
    expect(() => encodeEntries(decodeEntries(row))).toThrow(/absent-value/);
  });
});

describe('runs', () => {
  function played() {
    const run = drive(sequence('a', 'b'), 't');
    run.give(start({ n: 'i'.repeat(200) }));
    run.give(completed('a', { big: 'x'.repeat(300) }));
    return run;
  }

  it('are loaded with their large values; a snapshot carries only what is new to the run', () => {
    const run = played();
    const sink = payloadSink(RUN_ID, 100);
    const rows = run.rows.map(({ entries, ...row }) => ({
      ...row,
      entries: encodeEntries(decodeEntries(entries), sink),
    }));
    const loaded = loadRun({ ...KEY, snapshot: null, rows }, payloadShelf(RUN_ID, loadedOf(sink)));
    if (loaded === null) expect.fail('not loaded');
    expect(plainState(loaded)).toEqual(plainState(run.state));

    const again = payloadSink(RUN_ID, 100);
    const data = encodeSnapshot(loaded, again);
    expect(again.writes.size).toBe(0);
    const stranger = payloadSink('another run', 100);
    encodeSnapshot(loaded, stranger);
    expect(stranger.writes.size).toBe(sink.writes.size);
    const fresh = payloadSink(RUN_ID, 100);
    encodeSnapshot(run.state, fresh);
    expect(fresh.writes.size).toBeGreaterThan(0);

    const shelf = payloadShelf(RUN_ID, loadedOf(sink));
    const resumed = loadRun({ ...KEY, snapshot: { seq: loaded.seq, data }, rows: [] }, shelf);
    expect(resumed === null ? null : plainState(resumed)).toEqual(plainState(run.state));
    const bare = loadRun({ ...KEY, snapshot: { seq: loaded.seq, data }, rows: [] });
    expect(bare?.input.absent).toMatchObject({ size: run.state.input.data.byteLength });
  });

  it('have values of a row apart from their snapshots, and each snapshot carries them', () => {
    const { state } = played();
    const sinks = [payloadSink(RUN_ID, 1_000), payloadSink(RUN_ID, 1_000)];
    const [data = expect.fail('no snapshot')] = sinks.map((sink) => encodeSnapshot(state, sink));
    expect(data.byteLength).toBeLessThan(500);
    expect(sinks.map(({ writes }) => writes.size)).toEqual([2, 2]);
    const sink = sinks[0] ?? expect.fail('no sink');
    const snapshot = { seq: state.seq, data };
    const resumed = loadRun({ ...KEY, snapshot, rows: [] }, payloadShelf(RUN_ID, loadedOf(sink)));
    expect(resumed === null ? null : plainState(resumed)).toEqual(plainState(state));
  });

  it.each([
    ['an item', { steps: { post: { type: 'CALLBACK' } }, output: ITEM }],
    [
      'what a loop within took from it',
      {
        steps: {
          turn: {
            type: 'LOOP',
            vars: ITEM,
            until: () => true,
            maxIterations: 1,
            body: { steps: { post: { type: 'CALLBACK' } }, output: VARS },
          },
        },
        output: outputOf('turn'),
      },
    ],
  ] as const)(
    'are read without their large values, also where the output of a body is %s of a large list',
    (_, body) => {
      const steps = { each: { type: 'SCATTER', body }, all: { type: 'GATHER', of: 'each' } } as const;
      const run = drive(planOf({ steps, edges: [edge('each', 'all')], output: outputOf('all') }), 't');
      run.give(start(['i'.repeat(PAYLOAD_BYTES), 'small']));
      for (const path of [...run.state.steps.keys()].filter((one) => one.endsWith('/post'))) run.give(completed(path));
      const sink = payloadSink(RUN_ID);
      const rows = run.rows.map(({ entries, ...row }) => ({
        ...row,
        entries: encodeEntries(decodeEntries(entries), sink),
      }));
      expect(sink.writes.size).toBeGreaterThan(0);
      expect(loadRun({ ...KEY, snapshot: null, rows })?.status).toBe('COMPLETED');
    },
  );

  it('show values that were not loaded by their size', () => {
    const sink = payloadSink('r', 10);
    const rows = [{ seq: 1, atUs: 1, entries: encodeEntries([output('a', Buffer.from('"0123456789"'))], sink) }];
    const [digest] = sink.writes.keys();
    expect(historyOf(rows)).toMatchObject([
      { detail: { output: { encoding: 'json', bytes: 12 } }, absent: [{ digest, size: 12 }], valueBytes: 12 },
    ]);
    expect(historyOf(rows, payloadShelf('r', loadedOf(sink)))).toMatchObject([
      { detail: { output: '0123456789' }, absent: [], valueBytes: 12 },
    ]);
  });
});
