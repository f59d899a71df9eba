/**
 * How fast one process ticks: `npx tsx bench/machine-ticks.ts`.
 *
 * W1: three callback steps in a row, 300 B of input and output each; every tick is one result, advanced and encoded.
 * Wide: one run of 1,000 parallel steps, so that a cost per untouched step would show.
 */
import { advance, emptyRun, fold, headerOf, jsonValue, taskOf } from '../engine/src/workflow/machine/index.js';
import type { Advance, Entry, RunInput, RunState } from '../engine/src/workflow/machine/index.js';
import { decodeEntries, encodeEntries, encodeSnapshot } from '../engine/src/workflow/journal/index.js';
import { planOf, sequence, type StepSpec } from '../engine/src/workflow/testing/plan-builder.js';

const RUN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const VALUE = jsonValue({ text: 'x'.repeat(288) });
const START: RunInput = { kind: 'start', input: VALUE, attributes: {} };
let nowUs = 1_700_000_000_000_000;

function context(): { nowUs: number; seed: number; newId: () => string } {
  nowUs += 10;
  return { nowUs, seed: 1, newId: () => RUN_ID };
}

function completed(path: string): RunInput {
  return { kind: 'result', path, attempt: 1, outcome: { kind: 'completed', output: VALUE } };
}

function report(name: string, count: number, startedMs: number): void {
  const ms = performance.now() - startedMs;
  console.log(`${name.padEnd(46)} ${((ms * 1000) / count).toFixed(2)} us   ${Math.round((count / ms) * 1000)} /s`);
}

function tickedRun(steps: readonly RunInput[], onTick: (result: Advance) => void, plan = W1): RunState {
  let state = emptyRun({ tenantId: 't', runId: RUN_ID });
  for (const input of steps) {
    const result = advance(plan, state, [input], context());
    onTick(result);
    state = result.state;
  }
  return state;
}

const W1 = sequence('a', 'b', 'c');
const W1_INPUTS = [START, completed('a'), completed('b'), completed('c')];

function benchW1(runs: number): void {
  for (const [name, onTick] of [
    ['advance', () => undefined],
    ['advance + encodeEntries', ({ entries }: Advance) => void encodeEntries(entries)],
    [
      'advance + encodeEntries + headerOf + taskOf',
      ({ state, entries, commands }: Advance) => {
        encodeEntries(entries);
        headerOf(state);
        for (const { path } of commands) taskOf(W1, state, path);
      },
    ],
  ] as const) {
    const started = performance.now();
    for (let run = 0; run < runs; run += 1) tickedRun(W1_INPUTS, onTick);
    report(`W1 tick: ${name}`, runs * W1_INPUTS.length, started);
  }
}

function benchCodec(runs: number): void {
  const rows: (readonly Entry[])[] = [];
  const final = tickedRun(W1_INPUTS, ({ entries }) => rows.push(entries));
  const entries = rows.reduce((sum, row) => sum + row.length, 0);
  const encoded = rows.map((row) => encodeEntries(row));
  console.log(`W1: ${rows.length} rows, ${entries} entries, ${encoded.map((row) => row.length).join(' + ')} bytes`);
  let started = performance.now();
  for (let run = 0; run < runs; run += 1) for (const row of rows) encodeEntries(row);
  report('encode, per entry', runs * entries, started);
  started = performance.now();
  for (let run = 0; run < runs; run += 1) for (const row of encoded) decodeEntries(row);
  report('decode, per entry', runs * entries, started);
  started = performance.now();
  for (let run = 0; run < runs; run += 1) {
    rows.reduce((state, row) => fold(state, row, { seq: state.seq + 1, atUs: 1 }), emptyRun(final));
  }
  report('fold, per entry', runs * entries, started);
  started = performance.now();
  for (let run = 0; run < runs; run += 1) encodeSnapshot(final);
  report('encodeSnapshot of a run of 3 steps', runs, started);
}

function benchWide(width: number): void {
  const refs = Array.from({ length: width }, (_, index) => `step-${index}`);
  const plan = planOf({
    steps: Object.fromEntries(refs.map((ref): [string, StepSpec] => [ref, { type: 'CALLBACK' }])),
  });
  const run = { tenantId: 't', runId: RUN_ID };
  const begun = advance(plan, emptyRun(run), [START], context()).state;
  const noted = refs.map((path): RunInput => ({ kind: 'running', path, attempt: 1, worker: 'w', startedAtUs: nowUs }));
  for (const [name, inputs] of [
    ['noting attempts', noted],
    ['results', refs.slice(1).map(completed)],
  ] as const) {
    let state = begun;
    const started = performance.now();
    for (const input of inputs) {
      const result = advance(plan, state, [input], context());
      encodeEntries(result.entries);
      state = result.state;
    }
    report(`tick of a run of ${width} open steps, ${name}`, inputs.length, started);
  }
}

benchW1(5_000);
benchW1(50_000);
benchCodec(50_000);
benchWide(10);
benchWide(1_000);
benchWide(1_000);
