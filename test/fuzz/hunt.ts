/**
 * Gives a target many inputs. It may answer, or refuse with an error of the catalogue; whatever else it throws, an
 * input that takes it more than 100 ms, and anything it leaves in what all objects share, is a find.
 */
import { expect } from 'vitest';
import { DuctorError, seededRandom } from '../../engine/src/kernel/index.js';
import { Mutator } from './mutate.js';

/** Inputs for each target; CI gives 10,000. */
export const RUNS = Number(process.env['DUCTOR_FUZZ_RUNS'] ?? 2_000);
/** Another one begins another sequence. */
export const SEED = Number(process.env['DUCTOR_FUZZ_SEED'] ?? 1);
const SLOW_MS = 100;
/** A machine that does other things stops a process for a while now and then: the fastest of so many counts. */
const TRIES = 5;

/** Something that takes inputs. */
export interface Target<T> {
  readonly make: (mutate: Mutator) => T;
  /** Throws DuctorError for what it refuses. Another class may be one that this target is documented to throw. */
  readonly take: (input: T) => unknown;
  /** Errors it may throw besides; default: none. */
  readonly mayThrow?: (error: unknown) => boolean;
}

/** What happened over all inputs. */
export interface Finds {
  taken: number;
  refused: number;
  readonly finds: string[];
}

function shown(input: unknown): string {
  const text = Buffer.isBuffer(input) ? `base64 ${input.toString('base64')}` : JSON.stringify(input);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

function timedMs(take: () => unknown): number {
  const beganMs = performance.now();
  try {
    take();
  } catch {
    // Looked at by whoever times it.
  }
  return performance.now() - beganMs;
}

/** Names that every object would have if an input had reached what all of them share. */
function inherited(): readonly string[] {
  const names: string[] = [];
  // What is inherited is what is looked for.
  for (const name in {}) names.push(name);
  return names;
}

/** Hunts. */
export function hunt<T>(name: string, { make, take, mayThrow = () => false }: Target<T>): Finds {
  const mutate = new Mutator(seededRandom(SEED));
  const result: Finds = { taken: 0, refused: 0, finds: [] };
  for (let run = 0; run < RUNS && result.finds.length < 10; run += 1) {
    const input = make(mutate);
    const find = (what: string): void => void result.finds.push(`${name}, input ${run}: ${what}: ${shown(input)}`);
    const beganMs = performance.now();
    try {
      take(input);
      result.taken += 1;
    } catch (error) {
      result.refused += 1;
      if (!(error instanceof DuctorError) && !mayThrow(error)) find(String(error));
      else if (error instanceof DuctorError && error.code === 'internal') find(error.message);
    }
    if (performance.now() - beganMs > SLOW_MS) {
      const fastestMs = Math.min(...Array.from({ length: TRIES }, () => timedMs(() => take(input))));
      if (fastestMs > SLOW_MS) find(`${Math.round(fastestMs)} ms`);
    }
    if (inherited().length > 0) find(`objects inherit ${inherited().join()}`);
  }
  return result;
}

/** Fails with what was found. Some inputs must have been taken, and some refused, or the target was not reached. */
export function expectNone({ taken, refused, finds }: Finds): void {
  expect(finds, finds.join('\n')).toEqual([]);
  expect(taken + refused).toBe(RUNS);
  expect(Math.min(taken, refused)).toBeGreaterThan(RUNS / 200);
}
