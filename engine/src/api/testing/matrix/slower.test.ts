import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../kernel/index.js';
import { slower } from './slower.js';

/** A call that takes so long, and sometimes, on a busy machine, much longer. */
function call(baseMs: number, seed: number): () => Promise<number> {
  const random = seededRandom(seed);
  return () => {
    const draw = random.uint32() % 100;
    return Promise.resolve(baseMs + (draw < 20 ? draw * 5 : draw / 50));
  };
}

describe('the slower call', () => {
  it('is one that asks the database once more, either way', async () => {
    expect(await slower(call(2, 1), call(9, 2))).toHaveLength(4);
    expect(await slower(call(9, 3), call(2, 4))).toHaveLength(4);
  });

  it('is neither when only the machine is slow now and then', async () => {
    for (let seed = 0; seed < 200; seed += 1) {
      expect(await slower(call(2, seed), call(2, seed + 1_000))).toBe('neither');
    }
  });

  it('is neither when one had bad luck for a while', async () => {
    let calls = 0;
    const unlucky = (): Promise<number> => Promise.resolve((calls += 1) <= 40 ? 50 : 2);
    expect(await slower(unlucky, call(2, 5))).toBe('neither');
  });
});
