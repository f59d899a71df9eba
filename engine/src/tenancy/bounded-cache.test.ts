import { describe, expect, it } from 'vitest';
import { boundedCache } from './bounded-cache.js';

describe('boundedCache', () => {
  it('answers until the end of an entry, not at it', () => {
    const cache = boundedCache<number>(2);
    cache.set('a', 1, 10);
    expect(cache.get('a', 9)).toBe(1);
    expect(cache.get('a', 10)).toBeUndefined();
    expect(cache.get('a', 9)).toBeUndefined();
  });

  it('drops the entry written longest ago', () => {
    const cache = boundedCache<number>(2);
    cache.set('a', 1, 10);
    cache.set('b', 2, 10);
    cache.set('a', 3, 10);
    cache.set('c', 4, 10);
    expect([cache.get('a', 0), cache.get('b', 0), cache.get('c', 0)]).toEqual([3, undefined, 4]);
  });

  it('forgets what is named', () => {
    const cache = boundedCache<number>(3);
    cache.set('a', 1, 10);
    cache.set('b', 2, 10);
    cache.forget((value) => value === 1);
    expect([cache.get('a', 0), cache.get('b', 0)]).toEqual([undefined, 2]);
  });
});
