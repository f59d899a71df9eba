/**
 * A process that asks an engine for starts, over one stream, at a rate of its own: an answer that is late makes no
 * question wait, and how long an answer took counts from when its question was due. Settings: DUCTOR_ADDRESS,
 * DUCTOR_API_KEY, ASKER_SLUG. Told what to ask by messages, phase after phase without a pause between; answers each
 * once its last start is answered.
 */
import { credentials, Metadata } from '@grpc/grpc-js';
import { RunServiceClient, TriggerRunRequest } from '../../sdk/src/gen/ductor/v1/run.js';
import type { StreamTriggersResponse, TriggerOutcome } from '../../sdk/src/gen/ductor/v1/run.js';
import { retryAfterMs } from '../../sdk/src/client/call-error.js';
import type { Phase, PhaseResult } from './phases.js';
import type { Sample } from './samples.js';

const TURN_MS = 5;
/** Answers that come later than so long after the end of a phase are failures. */
const LATE_MS = 30_000;
const ITEMS_MAX = 500;

const setting = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

const metadata = new Metadata();
metadata.set('authorization', `Bearer ${setting('DUCTOR_API_KEY')}`);
const client = new RunServiceClient(setting('DUCTOR_ADDRESS'), credentials.createInsecure());
const input = { name: 'x', bodyMs: 0, padding: 0 };
const request = TriggerRunRequest.fromPartial({ familySlug: setting('ASKER_SLUG'), input });

interface Batch {
  readonly asking: Asking;
  /** Due times of its starts, ms of the phase. */
  readonly dueMs: readonly number[];
}

const waiting = new Map<bigint, Batch>();
let lastId = 0n;
const stream = client.streamTriggers(metadata);
stream.on('data', ({ batchId, outcomes }: StreamTriggersResponse) => {
  const batch = waiting.get(batchId);
  waiting.delete(batchId);
  batch?.asking.answered(batch.dueMs, outcomes);
});
stream.on('error', (error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});

/** One phase under way. */
class Asking {
  readonly #samples: Sample[] = [];
  readonly #beganMs = performance.now();
  #asked = 0;
  #isOver = false;
  #done = (): void => undefined;
  /** Resolves when all of it is answered. */
  readonly finished = new Promise<void>((resolve) => (this.#done = resolve));

  constructor(readonly phase: Phase) {}

  /** Asks for what is due; answers whether the phase goes on. */
  turn(): boolean {
    const { phase } = this;
    const passedMs = Math.min(phase.forMs, performance.now() - this.#beganMs);
    const open = this.#asked - this.#samples.length;
    if (phase.kind === 'closed' && open < phase.atOnce) this.#ask(Array(phase.atOnce - open).fill(passedMs));
    if (phase.kind === 'closed') return this.#goesOn(passedMs);
    this.#askUntil(passedMs, phase.perSecond);
    return this.#goesOn(passedMs);
  }

  answered(dueMs: readonly number[], outcomes: readonly TriggerOutcome[]): void {
    const nowMs = performance.now() - this.#beganMs;
    dueMs.forEach((atMs, index) => this.#samples.push(sampleOf(atMs, nowMs - atMs, outcomes[index])));
    this.#look();
  }

  result(): PhaseResult {
    const missing = this.#asked - this.#samples.length;
    const lost: Sample = { dueMs: 0, tookMs: LATE_MS, fate: 'failed', code: 'late', retryAfterMs: 0, runId: '' };
    return { name: this.phase.name, samples: [...this.#samples, ...Array.from({ length: missing }, () => lost)] };
  }

  #goesOn(passedMs: number): boolean {
    this.#isOver = passedMs >= this.phase.forMs;
    this.#look();
    return !this.#isOver;
  }

  #askUntil(passedMs: number, perSecond: number): void {
    const whole = Math.floor((passedMs * perSecond) / 1_000);
    while (this.#asked < whole) {
      const count = Math.min(ITEMS_MAX, whole - this.#asked);
      const from = this.#asked;
      this.#ask(Array.from({ length: count }, (_, index) => ((from + index + 1) * 1_000) / perSecond));
    }
  }

  #ask(dueMs: readonly number[]): void {
    this.#asked += dueMs.length;
    waiting.set((lastId += 1n), { asking: this, dueMs });
    stream.write({ batchId: lastId, items: dueMs.map(() => request) });
  }

  #look(): void {
    if (this.#isOver && this.#samples.length === this.#asked) this.#done();
  }
}

function sampleOf(dueMs: number, tookMs: number, outcome: TriggerOutcome | undefined): Sample {
  const { error, runId = '', retryAfter = '' } = outcome ?? {};
  const code = outcome === undefined ? 'no outcome' : (error?.code ?? '');
  if (code !== '' && code !== 'limit_exceeded') console.error(error, outcome?.problems);
  const fate = code === '' ? 'accepted' : code === 'limit_exceeded' ? 'refused' : 'failed';
  return { dueMs, tookMs, fate, code, retryAfterMs: retryAfter === '' ? 0 : retryAfterMs(retryAfter), runId };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function tell(asking: Asking): Promise<void> {
  await Promise.race([asking.finished, pause(LATE_MS)]);
  process.send?.(asking.result());
}

async function carryOut(phases: readonly Phase[]): Promise<void> {
  for (const phase of phases) {
    const asking = new Asking(phase);
    while (asking.turn()) await pause(TURN_MS);
    void tell(asking);
  }
}

process.on('message', (phases: readonly Phase[]) => void carryOut(phases));
process.on('disconnect', () => process.exit(0));
process.stdout.write('asker ready\n');
