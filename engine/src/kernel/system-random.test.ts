import { expect, it } from 'vitest';
import { systemRandom } from './system-random.js';

it('never repeats bytes across its blocks', () => {
  const random = systemRandom();
  const seen = new Set(Array.from({ length: 2_000 }, () => Buffer.from(random.bytes(16)).toString('hex')));
  expect(seen.size).toBe(2_000);
});

it('gives as many bytes as asked, beyond its block too, in arrays of their own', () => {
  const random = systemRandom();
  expect([0, 1, 4096, 10_000].map((count) => random.bytes(count).length)).toEqual([0, 1, 4096, 10_000]);
  expect(random.bytes(16).buffer.byteLength).toBe(16);
});

it('spreads 32-bit numbers evenly', () => {
  const random = systemRandom();
  const high = Array.from({ length: 4_000 }, () => random.uint32()).filter((value) => value >= 0x8000_0000).length;
  // Six standard deviations (31.6) around the half.
  expect(high).toBeGreaterThan(1_800);
  expect(high).toBeLessThan(2_200);
});
