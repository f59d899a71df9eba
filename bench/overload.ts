/**
 * What becomes of a node that is asked for three times what it can do: an engine, workers and askers as processes, over
 * TCP. The rate of askers does not depend on answers, and an answer's time counts from when its question was due.
 *
 * Says how many starts a second the node takes and carries out, then asks for 60 % of that (normal), three times of it
 * (overload), and 60 % again (after), without a pause between. Prints figures and verdicts, and ends with 1 when one is
 * not met:
 *   - accepted starts of the overload have a p99 of at most twice the normal one, once the door has noticed
 *   - the excess is refused, each with a hint when to come again
 *   - a tenant that asks for little waits at most 1.5 times as long as normally, and is not refused
 *   - memory is flat: the engine's is within 96 MiB of what it was when the overload had lasted a quarter
 *   - 30 s after the overload all is as normally, and all that was accepted was carried out
 *
 * Run: npx tsx bench/overload.ts [seconds of the overload, default 30] [seconds of the others, default 40]
 */
import type { Database } from '../engine/src/store/index.js';
import { createTestDatabase } from '../engine/src/store/testing/index.js';
import {
  acceptedMs,
  dueWithin,
  normalFromMs,
  ofFate,
  quantile,
  type Sample,
  samplesLine,
} from '../test/overload/samples.js';
import { acceptedIds, type Act, type Heard, Stage } from '../test/overload/stage.js';
import { killChildren } from '../test/support/child.js';
import { discardEngines } from '../test/support/engine.js';
import { removeScratchFolders } from '../test/support/scratch.js';
import { sleep } from '../test/support/wait.js';

const OVER_MS = Number(process.argv[2] ?? 30) * 1_000;
const OTHER_MS = Number(process.argv[3] ?? 40) * 1_000;
const CAPACITY_MS = 16_000;
const NORMAL_PART = 0.6;
const OVER_TIMES = 3;
const FEW_PART = 0.03;
/** So long the door takes to notice, at most; what it lets in until then is reported apart. */
const NOTICE_MS = 5_000;
const WINDOW_MS = 2_000;
const RECOVERY_LIMIT_MS = 30_000;
const MIB = 1024 * 1024;
const GROWTH_LIMIT_BYTES = 96 * MIB;

let failed = 0;

function verdict(what: string, isMet: boolean): void {
  if (!isMet) failed += 1;
  console.log(`${isMet ? 'met    ' : 'NOT MET'}  ${what}`);
}

/** Starts a second that the engine takes and carries out; with the samples of the measurement. */
async function measureCapacity(stage: Stage): Promise<{ capacity: number; samples: readonly Sample[] }> {
  const { perSecond, samples } = await stage.capacity(CAPACITY_MS);
  const runs = ofFate(samples, 'accepted').length;
  const lagMs = await stage.drained(runs);
  // What was taken and not yet carried out at the end is more than it can do.
  const capacity = (perSecond * CAPACITY_MS) / (CAPACITY_MS + lagMs);
  console.log(
    `capacity: ${capacity.toFixed(0)}/s (${runs} starts in ${CAPACITY_MS} ms, ${perSecond.toFixed(0)}/s in the ` +
      `second half, p99 ${acceptedMs(samples, 0.99).toFixed(0)} ms; the last carried out ${lagMs.toFixed(0)} ms later)`,
  );
  return { capacity, samples };
}

/** Memory of the engine while the acts go on, each 250 ms. */
class Memory {
  readonly #seen: { readonly atMs: number; readonly bytes: number }[] = [];
  readonly #beganMs = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor(stage: Stage) {
    this.#timer = setInterval(() => {
      this.#seen.push({ atMs: performance.now() - this.#beganMs, bytes: stage.memoryBytes() });
    }, 250);
  }

  judge(): void {
    clearInterval(this.#timer);
    const within = (fromMs: number, toMs: number): number => {
      const seen = this.#seen.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
      return quantile(
        seen.map(({ bytes }) => bytes),
        0.5,
      );
    };
    const quarterMs = OVER_MS / 4;
    const before = within(OTHER_MS - quarterMs, OTHER_MS);
    const second = within(OTHER_MS + quarterMs, OTHER_MS + 2 * quarterMs);
    const last = within(OTHER_MS + 3 * quarterMs, OTHER_MS + OVER_MS);
    const mib = (bytes: number): string => (bytes / MIB).toFixed(0);
    verdict(
      `memory, MiB: ${mib(before)} before, ${mib(second)} and ${mib(last)} in 2nd and last quarter of the overload`,
      last - second <= GROWTH_LIMIT_BYTES,
    );
  }
}

/** In the first half of what is normal the node still learns what is usual. */
function settled(samples: readonly Sample[]): readonly Sample[] {
  return dueWithin(samples, OTHER_MS / 2, OTHER_MS);
}

function judgeMany(normal: readonly Sample[], over: readonly Sample[], after: readonly Sample[]): void {
  const normalMs = acceptedMs(settled(normal), 0.99);
  const steady = dueWithin(over, NOTICE_MS, OVER_MS);
  const overMs = acceptedMs(steady, 0.99);
  console.log(`overload until the door noticed: ${samplesLine(dueWithin(over, 0, NOTICE_MS), NOTICE_MS)}`);
  console.log(`overload from then on: ${samplesLine(steady, OVER_MS - NOTICE_MS)}`);
  const ratio = (overMs / normalMs).toFixed(2);
  verdict(
    `accepted starts: p99 ${overMs.toFixed(0)} ms, normally ${normalMs.toFixed(0)} ms: x${ratio}`,
    overMs <= 2 * normalMs,
  );
  const refused = ofFate(over, 'refused');
  const hinted = refused.filter(({ retryAfterMs }) => retryAfterMs > 0).length;
  verdict(`${refused.length} refused, ${hinted} with a hint`, refused.length > 0 && hinted === refused.length);
  const fromMs = normalFromMs(after, 2 * normalMs, WINDOW_MS, OTHER_MS);
  verdict(`normal ${(fromMs / 1_000).toFixed(0)} s after the overload`, fromMs <= RECOVERY_LIMIT_MS);
}

function judgeFew(normal: readonly Sample[], over: readonly Sample[]): void {
  const ms = acceptedMs(dueWithin(over, NOTICE_MS, OVER_MS), 0.99);
  const normalMs = acceptedMs(settled(normal), 0.99);
  const refused = ofFate(over, 'refused').length;
  const ratio = (ms / normalMs).toFixed(2);
  verdict(
    `who asks for little: p99 ${ms.toFixed(0)} ms, normally ${normalMs.toFixed(0)} ms: x${ratio}`,
    ms <= 1.5 * normalMs,
  );
  verdict(`who asks for little: ${refused} of ${over.length} refused`, refused === 0);
}

async function judgeRuns(stage: Stage, db: Database, heard: readonly (readonly Sample[])[]): Promise<void> {
  const broken = ofFate(heard.flat(), 'failed');
  verdict(`${broken.length} starts failed otherwise ${broken[0]?.code ?? ''}`, broken.length === 0);
  const ids = acceptedIds(heard);
  const tookMs = await stage.drained(ids.length);
  const { rows } = await db.query<{ runs: number }>('select count(*)::integer as runs from ductor.runs');
  const runs = rows[0]?.runs ?? 0;
  verdict(
    `${ids.length} accepted, ${runs} runs, ${stage.effects} carried out, the last ${Math.round(tookMs)} ms later`,
    ids.length === runs && stage.effects === runs,
  );
}

async function measure(stage: Stage, db: Database): Promise<void> {
  const { capacity, samples } = await measureCapacity(stage);
  await sleep(1_000);
  const fewPerSecond = Math.max(1, capacity * FEW_PART);
  const act = (name: string, forMs: number, times: number): Act => ({
    ...{ name, forMs, perSecond: capacity * times, fewPerSecond },
  });
  const acts = [
    act('normal', OTHER_MS, NORMAL_PART),
    act('overload', OVER_MS, OVER_TIMES),
    act('after', OTHER_MS, NORMAL_PART),
  ];
  const memory = new Memory(stage);
  const heard = await Promise.all(stage.play(acts));
  for (const [index, { many, few }] of heard.entries()) {
    const { name = '', forMs = 0 } = acts[index] ?? {};
    console.log(`${name}: ${samplesLine(many, forMs)}`);
    console.log(`${name}, who asks for little: ${samplesLine(few, forMs)}`);
  }
  const nothing: Heard = { many: [], few: [] };
  const [normal = nothing, over = nothing, after = nothing] = heard;
  judgeMany(normal.many, over.many, after.many);
  judgeFew(normal.few, over.few);
  memory.judge();
  await judgeRuns(stage, db, [samples, ...heard.flatMap(({ many, few }) => [many, few])]);
}

const database = await createTestDatabase();
try {
  await measure(await Stage.start(database.db, database.url), database.db);
} finally {
  await killChildren();
  await discardEngines();
  await database.drop();
  removeScratchFolders();
}
process.exit(failed === 0 ? 0 : 1);
