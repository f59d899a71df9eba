/**
 * Wide worlds: a quarter of all seeds has the rest of the language in them, and people who pause, resume, retry and end
 * runs, and claim work. What they draw beside the others comes from a stream of its own, so that a seed whose world is
 * not wide means what it meant before there were any.
 */
import { Choices } from '../core/choices.js';

/** By this number none of the seeds that were kept before is wide. */
const SALT = 0xef9;

/** A number that has little to do with the seed it is made of: the finaliser of MurmurHash3. */
function scattered(seed: number): number {
  let mixed = (seed ^ SALT) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** What a wide world draws from; null: the world of the seed is not wide. */
export function wideChoices(seed: number): Choices | null {
  const mixed = scattered(seed);
  return (mixed & 3) === 3 ? new Choices(mixed) : null;
}
