/**
 * How fast one process ticks: `npx tsx bench/machine-ticks.ts`.
 *
 * W1: three callback steps in a row, 300 B of input and output each; every tick is one result, advanced and encoded.
 * Wide: one run of 1,000 parallel steps, so that a cost per untouched step would show.
 *
 * Figures of 2 cores shared with other work (load 11 to 14), Node 20.20, CPU time in us, three runs:
 *   W1 tick: advance 3.3-3.8; with encodeEntries 8.2-9.3 (107,000-123,000 ticks/s); with header and task 7.9-9.1
 *   an entry: encode 1.8, decode 0.8-0.9, fold 0.35; snapshot of 3 steps 11-12
 *   tick of 1,000 open steps, warm: noting attempts 20-31, results 18-22
 *   one edit of a table of 3, 30, 1,000 steps: 0.25-0.7, 1.6-2.0, 2.5-3.2; copy of a Map: 0.2-0.3, 1.3-1.9, 48-65
 */
import { advance, emptyRun, fold, headerOf, jsonValue, taskOf } from '../engine/src/workflow/machine/index.js';
import type { Advance, Entry, RunInput, RunState, StepState } from '../engine/src/workflow/machine/index.js';
import { editSteps, stepTable } from '../engine/src/workflow/machine/step-table.js';
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

/** CPU time of this process in ms: what other processes do beside it hardly shows. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function report(name: string, count: number, startedMs: number): void {
  const ms = cpuMs() - startedMs;
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
    const started = cpuMs();
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
  let started = cpuMs();
  for (let run = 0; run < runs; run += 1) for (const row of rows) encodeEntries(row);
  report('encode, per entry', runs * entries, started);
  started = cpuMs();
  for (let run = 0; run < runs; run += 1) for (const row of encoded) decodeEntries(row);
  report('decode, per entry', runs * entries, started);
  started = cpuMs();
  for (let run = 0; run < runs; run += 1) {
    rows.reduce((state, row) => fold(state, row, { seq: state.seq + 1, atUs: 1 }), emptyRun(final));
  }
  report('fold, per entry', runs * entries, started);
  started = cpuMs();
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
    const started = cpuMs();
    for (const input of inputs) {
      const result = advance(plan, state, [input], context());
      encodeEntries(result.entries);
      state = result.state;
    }
    report(`tick of a run of ${width} open steps, ${name}`, inputs.length, started);
  }
}

/** One edit of one step of a table, beside a plain copy of a Map of the same size. */
function benchTable(size: number, edits: number): void {
  const steps = Array.from({ length: size }, (_, index): StepState => ({ ...STEP, path: `step-${index}` }));
  let table = stepTable(steps);
  let started = cpuMs();
  for (let at = 0; at < edits; at += 1) {
    const edit = editSteps(table);
    edit.set(steps[at % size] ?? STEP);
    table = edit.done();
  }
  report(`table of ${size} steps: edit`, edits, started);
  let map = new Map(steps.map((step) => [step.path, step]));
  started = cpuMs();
  for (let at = 0; at < edits; at += 1) {
    map = new Map(map);
    map.set(`step-${at % size}`, steps[at % size] ?? STEP);
  }
  report(`Map of ${size} steps: copy and set`, edits, started);
}

const STEP: StepState = {
  ...{ path: 'step-0', status: 'SCHEDULED', attempt: 1, input: { kind: 'runInput' }, output: null, error: null },
  ...{
    dueAtUs: null,
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

benchW1(5_000);
benchW1(50_000);
benchCodec(50_000);
benchWide(10);
benchWide(1_000);
benchWide(1_000);
benchTable(3, 100_000);
for (const size of [3, 30, 1_000]) benchTable(size, 20_000);
