/** The machine's randomness as a Random, good enough for secrets. The only file of the engine that draws from it. */
import { randomFillSync } from 'node:crypto';
import type { Random } from './random.js';

/** Bytes drawn at once: a call to the generator costs about 1 us, whatever its size. */
const POOL_BYTES = 4096;

/** Random numbers of node:crypto, drawn in blocks; no byte is ever handed out twice. */
export function systemRandom(): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  const take = (count: number): Uint8Array => {
    if (used + count > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const bytes = pool.slice(used, used + count);
    pool.fill(0, used, used + count);
    used += count;
    return bytes;
  };
  const bytes = (count: number): Uint8Array =>
    count > POOL_BYTES ? randomFillSync(new Uint8Array(count)) : take(count);
  const uint32 = (): number => {
    const drawn = take(4);
    return new DataView(drawn.buffer, drawn.byteOffset, 4).getUint32(0);
  };
  return { uint32, bytes };
}
