/** Random numbers out of a seed: the same seed and the same draws give the same numbers on every engine. */
import { hmacSha256 } from '../../kernel/index.js';

/** 128 bits that all dice of one attempt come from. */
export type Seed = readonly [number, number, number, number];

/** A source of random numbers that counts what was drawn. */
export interface Stream {
  /** Draws so far, of 32 bits each. */
  readonly draws: number;
  /** A whole number from 0 to n - 1, each equally likely; n from 1 to 2^53. Rejects instead of taking a remainder. */
  below(n: number): number;
  /** A whole number of 53 random bits. */
  bits53(): number;
}

const TWO_32 = 0x1_0000_0000;
const TWO_53 = 2 ** 53;

/** xoshiro128** of Blackman and Vigna, on 32-bit integers. */
export function createStream(seed: Seed): Stream {
  let [a, b, c, d] = seed;
  if ((a | b | c | d) === 0) a = 1;
  let draws = 0;
  const next = (): number => {
    draws += 1;
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result;
  };
  const bits53 = (): number => (next() >>> 5) * 0x400_0000 + (next() >>> 6);
  const below = (n: number): number => {
    if (n <= 1) return 0;
    const [size, draw] = n <= TWO_32 ? [TWO_32, next] : [TWO_53, bits53];
    const limit = size - (size % n);
    for (;;) {
      const drawn = draw();
      if (drawn < limit) return drawn % n;
    }
  };
  return {
    get draws() {
      return draws;
    },
    below,
    bits53,
  };
}

/** The seed of one attempt: HMAC-SHA-256 of what it is for, so that it can be told only by who holds the pool's key. */
export function deriveSeed(
  key: Uint8Array,
  of: { readonly decisionId: string; readonly poolId: string; readonly hop: number; readonly attempt: number },
): Seed {
  const mac = hmacSha256(key, `route/v1\0${of.decisionId}\0${of.poolId}\0${of.hop}\0${of.attempt}`);
  return [mac.readUInt32BE(0), mac.readUInt32BE(4), mac.readUInt32BE(8), mac.readUInt32BE(12)];
}

/** A seed as 32 hexadecimal digits. */
export function seedText(seed: Seed): string {
  return seed.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The seed that seedText wrote. */
export function seedOf(text: string): Seed {
  const word = (index: number): number => Number.parseInt(text.slice(index * 8, index * 8 + 8), 16) >>> 0;
  return [word(0), word(1), word(2), word(3)];
}

/** Puts a list in random order, in place (Fisher and Yates). */
export function shuffle<Item>(items: Item[], stream: Stream): Item[] {
  for (let at = 0; at < items.length - 1; at += 1) {
    const other = at + stream.below(items.length - at);
    const [first, second] = [items[at], items[other]];
    if (first === undefined || second === undefined || other === at) continue;
    items[at] = second;
    items[other] = first;
  }
  return items;
}
