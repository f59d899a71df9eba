/**
 * Arithmetic that gives the same bits on every engine: integers only. ECMAScript lets Math.log, exp, pow and sin differ
 * from one implementation to the next, so no strategy may use them.
 */

/** -log2(x / 2^64) in 40 fractional bits, for 1 <= x < 2^64: by 40 squarings. */
export function negLog2Q40(x: bigint): bigint {
  return (64n << 40n) - log2Q40(x);
}

/** log2(x) in 40 fractional bits, rounded down, for 1 <= x < 2^64. */
export function log2Q40(x: bigint): bigint {
  const bits = x.toString(2).length;
  let y = x << BigInt(64 - bits);
  let fraction = 0n;
  for (let step = 0; step < 40; step += 1) {
    y = (y * y) >> 63n;
    fraction <<= 1n;
    if (y >= 1n << 64n) {
      fraction |= 1n;
      y >>= 1n;
    }
  }
  return (BigInt(bits - 1) << 40n) + fraction;
}

/** The whole square root, rounded down, of x >= 0. */
export function isqrt(x: bigint): bigint {
  if (x < 2n) return x;
  let guess = 1n << BigInt(Math.ceil(x.toString(2).length / 2));
  for (;;) {
    const next = (guess + x / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** 2^(32 - i/256) for i from 0 to 255, from eight square roots of 1/2: no table of floats. */
const HALVINGS: readonly bigint[] = makeHalvings();

function makeHalvings(): readonly bigint[] {
  // root[k] is 2^(-1/2^k) in 62 bits.
  const roots: bigint[] = [1n << 61n];
  for (let k = 1; k <= 8; k += 1) roots.push(isqrt((roots[k - 1] ?? 0n) << 62n));
  return Array.from({ length: 256 }, (_, index) => {
    let value = 1n << 62n;
    for (let bit = 0; bit < 8; bit += 1) {
      if ((index >> (7 - bit)) & 1) value = (value * (roots[bit + 1] ?? 0n)) >> 62n;
    }
    return value >> 30n;
  });
}

/**
 * value * 2^(-elapsed / halfLife), rounded down; at most 0.3 % above the exact result. What lies in the future has not
 * decayed.
 *
 * @param value 0 to 2^53
 * @param elapsed, halfLife in one unit; halfLife at least 1
 */
export function decay(value: number, elapsed: number, halfLife: number): number {
  if (elapsed <= 0 || value <= 0) return value;
  const halves = Math.floor(elapsed / halfLife);
  if (halves >= 53) return 0;
  const index = Math.floor((256 * (elapsed - halves * halfLife)) / halfLife);
  return Number((BigInt(value) * (HALVINGS[Math.min(255, index)] ?? 0n)) >> BigInt(32 + halves));
}

/** The greatest common divisor of two whole numbers, not both 0. */
export function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y > 0) [x, y] = [y, x % y];
  return x;
}

/** The nearest whole number; halves go to the even one. */
export function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
