/** Randomness as an argument. */

/** A source of random numbers; seeded in tests, from the machine in production. */
export interface Random {
  /** 32 random bits as an unsigned integer. */
  uint32(): number;
  /** Fills and returns a new array of so many random bytes. */
  bytes(count: number): Uint8Array;
}

/** Deterministic random numbers from a seed (splitmix32 of Steele, Lea and Flood's family); not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const uint32 = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => uint32() & 0xff);
  return { uint32, bytes };
}

/** A number in [0, 1) from the source, 32 bits fine. */
export function unitInterval(random: Random): number {
  return random.uint32() / 0x1_0000_0000;
}
