/** Everything the simulator decides by chance, from one seed. */
import { seededRandom, type Random } from '../../../engine/src/kernel/index.js';

/** A stream of choices. */
export class Choices {
  readonly random: Random;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** A number in [0, 1). */
  unit(): number {
    return this.random.uint32() / 0x1_0000_0000;
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** A whole number between the two, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.unit() * (max - min + 1));
  }

  /** One of the items; undefined when there is none. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.unit() * items.length)];
  }

  /** One of at least one item. */
  oneOf<T>(first: T, ...others: readonly T[]): T {
    return this.pick([first, ...others]) ?? first;
  }

  /** A wait with this mean, exponentially distributed. */
  exponential(mean: number): number {
    return -Math.log(1 - this.unit()) * mean;
  }
}
