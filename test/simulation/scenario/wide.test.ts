import { describe, expect, it } from 'vitest';
import { wideChoices } from './wide.js';

describe('wide worlds', () => {
  it('are a quarter of all seeds, the same ones each time, and none of those that were kept before', () => {
    const seeds = Array.from({ length: 2_000 }, (_, index) => index + 1);
    const wide = seeds.filter((seed) => wideChoices(seed) !== null).length;
    expect(wide).toBeGreaterThan(450);
    expect(wide).toBeLessThan(550);
    expect(wideChoices(1)?.unit()).toBe(wideChoices(1)?.unit());
    const kept = [137, 156, 169, 176, 243, 1746, 1891, 4222, 6406, 12_244, 24_070, 32_091];
    expect(kept.filter((seed) => wideChoices(seed) !== null)).toEqual([]);
  });
});
