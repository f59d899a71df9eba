/**
 * The workflow of the fault tests: steps one after the other, each a body that takes some time and notes its beginning
 * and its end in a file that neither engine nor database knows of.
 */
import { appendFileSync } from 'node:fs';
import { type StepContext, type StepHandle, type Workflow, defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';
import { LineFollower } from './jsonl.js';
import { sleep } from './wait.js';

/** What a chain run is given. */
export const chainInput = z.object({
  /** Tells runs apart in the marks; ASCII. */
  name: z.string(),
  /** Time each body takes, ms. */
  bodyMs: z.number().int().min(0),
  /** Bytes of text each step puts out beside its name. Default 0. */
  padding: z.number().int().min(0).default(0),
});

/** What a chain run is given. */
export type ChainInput = z.input<typeof chainInput>;

/** What each step puts out, and in the end the run. */
export interface ChainOutput {
  readonly made: string;
}

const mark = z.object({
  event: z.enum(['begin', 'end']),
  pid: z.number().int(),
  name: z.string(),
  path: z.string(),
  attempt: z.number().int(),
  /** What a receiver of effects would know the step by. */
  key: z.string(),
});

/** A line of the marks file. */
export type Mark = z.output<typeof mark>;

/** Which chain. */
export interface ChainOptions {
  readonly slug: string;
  readonly steps: number;
  /** File of the marks; "" for a definition that is only triggered. */
  readonly marks: string;
}

/** The workflow. */
export function chainWorkflow({ slug, steps, marks }: ChainOptions): Workflow<ChainInput, ChainOutput> {
  const run = async (
    input: z.output<typeof chainInput>,
    { path, attempt, idempotencyKey: key, signal }: StepContext,
  ): Promise<ChainOutput> => {
    const note = (event: Mark['event']): void =>
      appendFileSync(marks, `${JSON.stringify({ event, pid: process.pid, name: input.name, path, attempt, key })}\n`);
    note('begin');
    await sleep(input.bodyMs);
    signal.throwIfAborted();
    note('end');
    return { made: `${input.name} ${path} ${'x'.repeat(input.padding)}` };
  };
  return defineWorkflow({
    slug,
    input: chainInput,
    build(w) {
      const step = (index: number, after: StepHandle<ChainOutput> | undefined): StepHandle<ChainOutput> =>
        w.step(`step-${index}`, {
          input: { name: w.input.name, bodyMs: w.input.bodyMs, padding: w.input.padding },
          ...(after !== undefined && { after }),
          retry: { maxAttempts: 10, initialInterval: '100ms', maxInterval: '1s' },
          timeout: '60s',
          run,
        });
      let last = step(1, undefined);
      for (let index = 2; index <= steps; index += 1) last = step(index, last);
      return last.output;
    },
  });
}

/** Follows a marks file. */
export class Marks {
  readonly #follower: LineFollower<typeof mark>;
  readonly #running = new Map<number, Set<string>>();
  /** Bodies begun and ended so far. */
  readonly counts = { begun: 0, ended: 0 };
  /** How often each "name/path/attempt" began. */
  readonly beginnings = new Map<string, number>();
  /** The steps, "name/path", whose bodies came to their end, by the keys they had. */
  readonly effects = new Map<string, Set<string>>();

  constructor(file: string) {
    this.#follower = new LineFollower(file, mark);
  }

  /** Reads what is new. */
  read(): this {
    for (const { event, pid, name, path, attempt, key: effect } of this.#follower.next()) {
      const key = `${name}/${path}/${attempt}`;
      const running = this.#running.get(pid) ?? new Set<string>();
      this.#running.set(pid, running);
      if (event === 'begin') {
        running.add(key);
        this.counts.begun += 1;
        this.beginnings.set(key, (this.beginnings.get(key) ?? 0) + 1);
      } else {
        running.delete(key);
        this.counts.ended += 1;
        this.effects.set(effect, (this.effects.get(effect) ?? new Set()).add(`${name}/${path}`));
      }
    }
    return this;
  }

  /** Bodies that run now in these processes. */
  inFlight(pids: readonly number[]): number {
    this.read();
    return pids.reduce((sum, pid) => sum + (this.#running.get(pid)?.size ?? 0), 0);
  }
}
