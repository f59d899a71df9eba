import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isUuid, SHARD_COUNT, shardOf, uuidV7 } from './ids.js';
import { seededRandom, unitInterval } from './random.js';

const NOW_US = 1_800_000_000_123_456;

it('writes version, variant, time and shard where RFC 9562 and the engine want them', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: SHARD_COUNT - 1 }), fc.integer(), fc.maxSafeNat(), (shard, seed, nowUs) => {
      const id = uuidV7(nowUs, seededRandom(seed), shard);
      expect(isUuid(id)).toBe(true);
      expect(id[14]).toBe('7');
      expect('89ab').toContain(id[19]);
      expect(Number.parseInt(id.slice(0, 13).replace('-', ''), 16)).toBe(Math.floor(nowUs / 1000));
      expect(shardOf(id)).toBe(shard);
    }),
  );
});

it('sorts by time and does not repeat', () => {
  const random = seededRandom(1);
  const ids = Array.from({ length: 500 }, (_, i) => uuidV7(NOW_US + i * 1000, random));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(500);
});

it.each(['', 'x', '018F0000-0000-7000-8000-000000000000', '018f0000-0000-7000-8000-00000000000'])(
  'refuses %j',
  (text) => {
    expect(isUuid(text)).toBe(false);
    expect(() => shardOf(text)).toThrow('is not a UUID');
  },
);

it('draws the same from the same seed, evenly', () => {
  const draw = (seed: number): number[] => {
    const random = seededRandom(seed);
    return Array.from({ length: 10_000 }, () => unitInterval(random));
  };
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
  const mean = draw(9).reduce((sum, value) => sum + value, 0) / 10_000;
  // Six standard deviations (0.0029) around the half.
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.018);
});
