import { describe, expect, it } from 'vitest';
import { seededRandom, uuidV7 } from '../../kernel/index.js';
import { jsonValue } from '../machine/index.js';
import { emptyRun } from './run-logic.js';
import { RunCache } from './run-cache.js';
import type { RunCell } from './run-cell.js';

const random = seededRandom(1);

/** A run in the cache with an input of so many bytes. */
function loaded(cache: RunCache, bytes: number): RunCell {
  const cell = cache.ensure({ tenantId: 't', runId: uuidV7(1_700_000_000_000_000, random, 5) });
  cell.phase = 'ready';
  cell.state = { ...emptyRun(cell), input: jsonValue('x'.repeat(bytes)) };
  cache.used(cell);
  return cell;
}

describe('the cache of runs', () => {
  it('counts bytes and evicts what was not used lately', () => {
    const cache = new RunCache(20_000);
    const cells = [1, 2, 3, 4].map(() => loaded(cache, 4_000));
    const [first, second] = cells;
    expect(cache.shrink()).toBe(1);
    expect(first !== undefined && cache.holds(first)).toBe(false);
    if (second !== undefined) cache.used(second);
    loaded(cache, 4_000);
    cache.shrink();
    expect(second !== undefined && cache.holds(second)).toBe(true);
    expect(cache.bytes).toBeLessThanOrEqual(20_000);
    expect(cache.bytes).toBe(cache.all().reduce((sum, cell) => sum + cell.bytes, 0));
  });

  it('keeps what is waited for, above its bound if need be', () => {
    const cache = new RunCache(1_000);
    const busy = [loaded(cache, 4_000), loaded(cache, 4_000), loaded(cache, 4_000), loaded(cache, 4_000)];
    const [dirty, flying, loading, marked] = busy;
    if (dirty === undefined || flying === undefined || loading === undefined || marked === undefined) return;
    dirty.inputs.push({ input: { kind: 'wake' }, inboxId: null, settled: null });
    flying.phase = 'in_flight';
    loading.phase = 'loading';
    marked.needsReconcile = true;
    expect(cache.shrink()).toBe(0);
    expect(cache.size).toBe(4);
    marked.needsReconcile = false;
    flying.phase = 'ready';
    expect(cache.shrink()).toBe(2);
    cache.drop(dirty);
    cache.drop(loading);
    expect([cache.bytes, cache.size]).toEqual([0, 0]);
  });

  it('refuses a run id that is none', () => {
    expect(() => new RunCache(1).ensure({ tenantId: 't', runId: 'x' })).toThrow('not a UUID');
  });
});
