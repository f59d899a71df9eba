/**
 * `npm run soak`: slices of the kill suite, each on a deployment of its own and with a seed of its own, for an hour. It
 * can be stopped after any slice and goes on where it was: what is done stands in a file.
 *
 *     npm run soak                              an hour in all, kept in soak.json of the temporary folder
 *     npm run soak -- --minutes 20              stops after 20 minutes of this call
 *     npm run soak -- --file soak.json --anew   forgets what the file says
 *
 * Ends with 1 when a slice lost something, did something twice, or left something open; the seed is in its line.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { killChildren } from '../support/child.js';
import { discardEngines } from '../support/engine.js';
import { removeScratchFolders } from '../support/scratch.js';
import { Cast } from './cast.js';
import { SLICE } from './plan.js';
import { runSlice, sliceLine, weaknesses } from './slice.js';
import { RESUME_LIMIT_MS } from './strike.js';
import { quantile } from './verdict.js';

const WHOLE_MS = 3_600_000;
const RUNS = 2_000;
const FIRST_SEED = 1;

const done = z.strictObject({
  seed: z.number().int(),
  tookMs: z.number(),
  runs: z.number().int(),
  bodies: z.number().int(),
  faults: z.number().int(),
  wrong: z.array(z.string()),
  resumedMs: z.array(z.number()),
});
type Done = z.output<typeof done>;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    file: { type: 'string', default: join(tmpdir(), 'ductor-soak.json') },
    anew: { type: 'boolean', default: false },
  },
});

function read(): Done[] {
  if (values.anew) rmSync(values.file, { force: true });
  return existsSync(values.file) ? z.array(done).parse(JSON.parse(readFileSync(values.file, 'utf8'))) : [];
}

function keep(slices: readonly Done[]): void {
  writeFileSync(`${values.file}.new`, JSON.stringify(slices));
  renameSync(`${values.file}.new`, values.file);
}

async function oneSlice(seed: number): Promise<Done> {
  const beganMs = performance.now();
  const cast = await Cast.start();
  try {
    const slice = await runSlice(cast, { seed, runs: RUNS, faults: SLICE });
    console.log(sliceLine(slice));
    const wrong = [...slice.lost, ...slice.doubled, ...slice.stuck.map((run) => `${run} is stuck`)];
    const { tookMs, runs, bodies, resumedMs } = slice;
    return {
      ...{ seed, tookMs, runs, bodies, faults: slice.landed.length, wrong: [...wrong, ...weaknesses(slice)] },
      resumedMs: [...resumedMs],
    };
  } catch (caught) {
    // A slice that broke off proves nothing; the next one may say whether it was the machine.
    const wrong = [`broke off: ${caught instanceof Error ? caught.message : String(caught)}`];
    console.log(`seed ${seed}: ${wrong[0]}`);
    return { seed, tookMs: performance.now() - beganMs, runs: 0, bodies: 0, faults: 0, wrong, resumedMs: [] };
  } finally {
    await killChildren();
    await discardEngines();
    await cast.close();
    removeScratchFolders();
  }
}

function total(slices: readonly Done[]): string {
  const sum = (of: (slice: Done) => number): number => slices.reduce((all, slice) => all + of(slice), 0);
  const resumed = slices.flatMap(({ resumedMs }) => resumedMs).sort((a, b) => a - b);
  const late = resumed.filter((ms) => ms > RESUME_LIMIT_MS).length;
  return (
    `${slices.length} slices, ${(sum(({ tookMs }) => tookMs) / 60_000).toFixed(1)} minutes, ` +
    `${sum(({ runs }) => runs)} runs, ${sum(({ bodies }) => bodies)} bodies, ${sum(({ faults }) => faults)} faults; ` +
    `${sum(({ wrong }) => wrong.length)} things wrong; shards of ${resumed.length} hit engines went on after ` +
    `p50 ${Math.round(quantile(resumed, 0.5))} ms, p99 ${Math.round(quantile(resumed, 0.99))} ms, ${late} later than ` +
    `${RESUME_LIMIT_MS} ms`
  );
}

const slices = read();
const endMs = performance.now() + Number(values.minutes) * 60_000;
const soFarMs = (): number => slices.reduce((sum, { tookMs }) => sum + tookMs, 0);
while (performance.now() < endMs && soFarMs() < WHOLE_MS) {
  slices.push(await oneSlice(FIRST_SEED + slices.length));
  keep(slices);
}
console.log(total(slices));
for (const { seed, wrong } of slices) for (const what of wrong) console.log(`seed ${seed}: ${what}`);
process.exit(slices.some(({ wrong }) => wrong.length > 0) ? 1 : 0);
