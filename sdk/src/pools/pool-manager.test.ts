import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { DuctorError } from '../errors.js';
import { PoolManager } from './pool-manager.js';
import type { AccountSeatASTNode, ModelASTNode, PoolNode, PoolStrategyName } from './pool-node.js';

interface Seat extends AccountSeatASTNode {
  readonly region?: string;
}

const seats = (over: Partial<PoolNode<Seat>> = {}): PoolNode<Seat> => ({
  poolId: 'seats',
  items: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
  ...over,
});
const ladder = (over: Partial<PoolNode<ModelASTNode>> = {}): PoolNode<ModelASTNode> => ({
  poolId: 'models',
  strategy: 'escalate-on-retry',
  items: [{ modelId: 'small' }, { modelId: 'middle' }, { modelId: 'large' }],
  ...over,
});
const NOW = 1_000_000;

describe('selectSeat', () => {
  it('keeps the seat of a run for all its turns and child forks', () => {
    const pools = new PoolManager();
    const first = pools.selectSeat(seats(), 'run', NOW);
    for (let turn = 0; turn < 20; turn += 1) {
      pools.selectSeat(seats(), `other ${turn}`, NOW + turn);
      expect(pools.selectSeat(seats(), 'run', NOW + turn)).toEqual(first);
    }
  });

  it('fails over to another seat once the seat is rate limited, and stays there when the limit has reset', () => {
    const pools = new PoolManager();
    const first = pools.selectSeat(seats(), 'run', NOW);
    pools.recordRateLimit429('seats', first.id, NOW + 1000);
    const second = pools.selectSeat(seats(), 'run', NOW + 1);
    expect(second.id).not.toBe(first.id);
    expect(pools.selectSeat(seats(), 'run', NOW + 2000)).toEqual(second);
  });

  it('evicts every run that was bound to a rate-limited seat, not only the one that met the limit', () => {
    const pools = new PoolManager();
    const pool = seats({ strategy: 'priority' });
    for (const run of ['x', 'y', 'z']) expect(pools.selectSeat(pool, run, NOW).id).toBe('a');
    pools.recordRateLimit429('seats', 'a', NOW + 10);
    // Bound anew before the limit has reset, they do not come back.
    for (const run of ['x', 'y']) expect(pools.selectSeat(pool, run, NOW + 5).id).toBe('b');
    for (const run of ['x', 'y']) expect(pools.selectSeat(pool, run, NOW + 20).id).toBe('b');
    expect(pools.selectSeat(pool, 'z', NOW + 20).id).toBe('a');
  });

  it('takes the seat again in the very millisecond at which its limit resets', () => {
    const pools = new PoolManager();
    pools.recordRateLimit429('seats', 'a', NOW);
    expect(pools.selectSeat(seats({ strategy: 'priority' }), 'before', NOW - 1).id).toBe('b');
    expect(pools.selectSeat(seats({ strategy: 'priority' }), 'then', NOW).id).toBe('a');
  });

  it('never shortens a cooldown', () => {
    const pools = new PoolManager();
    pools.recordRateLimit429('seats', 'a', NOW + 1000);
    pools.recordRateLimit429('seats', 'a', NOW + 10);
    expect(pools.selectSeat(seats({ strategy: 'priority' }), 'run', NOW + 999).id).toBe('b');
  });

  it('takes the fallback item while all seats cool down, and binds nobody to it', () => {
    const pools = new PoolManager();
    const pool = seats({ fallbackItem: { id: 'spare' } });
    for (const { id } of pool.items) pools.recordRateLimit429('seats', id, NOW + 1000);
    expect(pools.selectSeat(pool, 'run', NOW).id).toBe('spare');
    expect(pools.selectSeat(pool, 'run', NOW + 1000).id).not.toBe('spare');
  });

  it('takes the seat whose limit resets first when there is no fallback item, and binds nobody to it', () => {
    const pools = new PoolManager();
    pools.recordRateLimit429('seats', 'a', NOW + 3000);
    pools.recordRateLimit429('seats', 'b', NOW + 1000);
    pools.recordRateLimit429('seats', 'c', NOW + 2000);
    expect(pools.selectSeat(seats(), 'run', NOW).id).toBe('b');
    pools.recordRateLimit429('seats', 'b', NOW + 4000);
    expect(pools.selectSeat(seats(), 'run', NOW).id).toBe('c');
  });

  it('gives back the very object of the pool, with the type of the pool', () => {
    const item: Seat = { id: 'a', region: 'eu' };
    const chosen = new PoolManager().selectSeat(seats({ items: [item] }), 'run');
    expect(chosen).toBe(item);
    expectTypeOf(chosen).toEqualTypeOf<Seat>();
  });

  it('takes the present moment when it is told none', () => {
    const pools = new PoolManager();
    const pool = seats({ strategy: 'priority' });
    pools.recordRateLimit429('seats', 'a', Date.now() + 60_000);
    pools.recordRateLimit429('seats', 'b', Date.now() - 1);
    expect(pools.selectSeat(pool, 'run').id).toBe('b');
  });

  it('moves a run whose seat has left the pool, and keeps pools apart', () => {
    const pools = new PoolManager();
    const pool = seats({ strategy: 'priority' });
    pools.selectSeat(pool, 'run', NOW);
    pools.recordRateLimit429('other', 'a', NOW + 1000);
    expect(pools.selectSeat(pool, 'run', NOW).id).toBe('a');
    expect(pools.selectSeat(seats({ items: [{ id: 'b' }] }), 'run', NOW).id).toBe('b');
  });
});

describe('releaseRunSeats', () => {
  it('unbinds the run in all pools, and no other run', () => {
    const pools = new PoolManager();
    for (const poolId of ['p', 'q']) {
      for (const run of ['gone', 'stays']) expect(pools.selectSeat(seats({ poolId }), run, NOW)).toBeDefined();
    }
    const stays = pools.selectSeat(seats({ poolId: 'p' }), 'stays', NOW);
    pools.releaseRunSeats('gone');
    // In turn, a is next but for the run that keeps its seat.
    expect(pools.selectSeat(seats({ poolId: 'p' }), 'gone', NOW).id).toBe('c');
    expect(pools.selectSeat(seats({ poolId: 'q' }), 'gone', NOW).id).toBe('c');
    expect(pools.selectSeat(seats({ poolId: 'p' }), 'stays', NOW)).toEqual(stays);
  });
});

describe('strategies of seats', () => {
  const order = (strategy: PoolStrategyName, items: readonly Seat[], count: number): string => {
    const pools = new PoolManager();
    const pick = (_: unknown, at: number): string => pools.selectSeat(seats({ strategy, items }), `run ${at}`, NOW).id;
    return Array.from({ length: count }, pick).join('');
  };
  const weighted = [
    { id: 'a', weight: 5 },
    { id: 'b', weight: 1 },
    { id: 'c', weight: 1 },
  ];

  it.each([
    ['round-robin', 'abcabca'],
    ['smooth-weighted-round-robin', 'aabacaa'],
    ['least-recently-selected', 'abcabca'],
    ['priority', 'aaaaaaa'],
  ] as const)('%s: %s', (strategy, expected) => {
    expect(order(strategy, weighted, 7)).toBe(expected);
  });

  it('gives nothing to a seat of weight 0', () => {
    for (const strategy of ['round-robin', 'priority', 'smooth-weighted-round-robin'] as const) {
      expect(order(strategy, [{ id: 'a', weight: 0 }, { id: 'b' }], 4)).toBe('bbbb');
    }
  });

  it('asks a strategy in code, with the seats that are free', () => {
    const pools = new PoolManager();
    const asked: string[] = [];
    const pool = seats({
      strategy: (candidates, { poolId, runId, retryAttempt, nowMs }) => {
        asked.push([poolId, runId, retryAttempt, nowMs, ...candidates.map(({ id }) => id)].join(' '));
        return candidates.at(-1) ?? { id: 'none' };
      },
    });
    pools.recordRateLimit429('seats', 'c', NOW + 1);
    expect(pools.selectSeat(pool, 'run', NOW).id).toBe('b');
    expect(pools.selectSeat(pool, 'run', NOW).id).toBe('b');
    expect(asked).toEqual([`seats run 0 ${NOW} a b`]);
  });

  it('refuses what a strategy in code has made up', () => {
    const pool = seats({ strategy: () => ({ id: 'a' }) });
    expect(() => new PoolManager().selectSeat(pool, 'run', NOW)).toThrow(/chose what is none of its candidates/);
  });
});

describe('selectModel', () => {
  it('returns a model that is given', () => {
    const model = { modelId: 'alone' };
    expect(new PoolManager().selectModel(model, 'run', 3)).toBe(model);
  });

  it('climbs a tier with each retry, up to the highest', () => {
    const pools = new PoolManager();
    const ids = [0, 1, 2, 3, 9].map((attempt) => pools.selectModel(ladder(), 'run', attempt).modelId);
    expect(ids).toEqual(['small', 'middle', 'large', 'large', 'large']);
  });

  it('takes the retry from options as well, and 0 by default', () => {
    const pools = new PoolManager();
    expect(pools.selectModel(ladder(), 'one').modelId).toBe('small');
    expect(pools.selectModel(ladder(), 'two', { retryAttempt: 1, nowMs: NOW }).modelId).toBe('middle');
  });

  it('never goes down within a run, until the run is released', () => {
    const pools = new PoolManager();
    expect(pools.selectModel(ladder(), 'run', 2).modelId).toBe('large');
    expect(pools.selectModel(ladder(), 'run', 0).modelId).toBe('large');
    expect(pools.selectModel(ladder(), 'other', 0).modelId).toBe('small');
    pools.releaseRunSeats('run');
    expect(pools.selectModel(ladder(), 'run', 0).modelId).toBe('small');
  });

  it('passes a model whose share of successes is too low, once there are enough samples', () => {
    const pools = new PoolManager();
    const pool = ladder({ minSuccessRate: 0.5, minSamples: 4 });
    for (const succeeded of [true, false, false]) pools.recordModelOutcome('models', 'small', succeeded);
    expect(pools.selectModel(pool, 'one').modelId).toBe('small');
    pools.recordModelOutcome('models', 'small', false);
    expect(pools.selectModel(pool, 'two').modelId).toBe('middle');
    // Exactly the rate is enough.
    for (let more = 0; more < 2; more += 1) pools.recordModelOutcome('models', 'small', true);
    expect(pools.selectModel(pool, 'three').modelId).toBe('small');
  });

  it('takes the highest when all succeed too seldom', () => {
    const pools = new PoolManager();
    for (const id of ['small', 'middle', 'large']) pools.recordModelOutcome('models', id, false);
    expect(pools.selectModel(ladder({ minSuccessRate: 0.1, minSamples: 1 }), 'run').modelId).toBe('large');
  });

  it('counts what is recorded under the alias and under the id of a model', () => {
    const pools = new PoolManager();
    const items = [{ modelId: 'm', alias: 'quick' }, { modelId: 'large' }];
    const pool = ladder({ items, minSuccessRate: 0.5, minSamples: 2 });
    pools.recordModelOutcome('models', 'm', false);
    pools.recordModelOutcome('models', 'quick', false);
    expect(pools.selectModel(pool, 'run').modelId).toBe('large');
  });

  it('leaves out models that are rate limited, and takes the fallback item while all are', () => {
    const pools = new PoolManager();
    const pool = ladder({ fallbackItem: { modelId: 'spare' } });
    const at = (nowMs: number): string => pools.selectModel(pool, `run ${nowMs}`, { nowMs }).modelId;
    pools.recordRateLimit429('models', 'small', NOW + 10);
    expect(at(NOW)).toBe('middle');
    for (const id of ['middle', 'large']) pools.recordRateLimit429('models', id, NOW + 20);
    expect([at(NOW + 9), at(NOW + 10)]).toEqual(['spare', 'small']);
  });

  it('asks a strategy in code, with the retry, about the models that are free', () => {
    const pools = new PoolManager();
    const pool = ladder({ strategy: (free, { retryAttempt }) => free[retryAttempt] ?? { modelId: 'none' } });
    pools.recordRateLimit429('models', 'small', NOW + 1);
    expect(pools.selectModel(pool, 'run', { retryAttempt: 1, nowMs: NOW }).modelId).toBe('large');
  });

  it('takes a rate limit of either name of a model, and outcomes of its own pool alone', () => {
    const pools = new PoolManager();
    const items = [{ modelId: 'm', alias: 'quick' }, { modelId: 'large' }];
    const pool = ladder({ items, minSuccessRate: 0.5, minSamples: 1 });
    pools.recordModelOutcome('other', 'quick', false);
    expect(pools.selectModel(pool, 'one', { nowMs: NOW })).toBe(items[0]);
    for (const name of ['m', 'quick']) {
      const limited = new PoolManager();
      limited.recordRateLimit429('models', name, NOW + 1);
      expect(limited.selectModel(pool, 'run', { nowMs: NOW })).toBe(items[1]);
    }
  });

  it('chooses by the other strategies, too, without binding a run to a model', () => {
    const pools = new PoolManager();
    const pool = ladder({ strategy: 'round-robin' });
    const ids = [0, 0, 0, 0].map((attempt) => pools.selectModel(pool, 'run', attempt).modelId);
    expect(ids).toEqual(['small', 'middle', 'large', 'small']);
  });
});

describe('bad input', () => {
  const refused = (call: (pools: PoolManager) => unknown): string => {
    try {
      call(new PoolManager());
    } catch (error) {
      if (!(error instanceof DuctorError)) throw error;
      return `${error.code}: ${error.details.map(({ path, remedy }) => `${path} (${remedy})`).join(', ')}`;
    }
    return 'taken';
  };

  it.each<[string, (pools: PoolManager) => unknown, RegExp]>([
    ['no items', (pools) => pools.selectSeat(seats({ items: [] }), 'run'), /items \(give at least one/],
    ['no pool id', (pools) => pools.selectSeat(seats({ poolId: '' }), 'run'), /poolId/],
    ['a seat twice', (pools) => pools.selectSeat(seats({ items: [{ id: 'a' }, { id: 'a' }] }), 'run'), /items\[1\]/],
    ['a weight below 0', (pools) => pools.selectSeat(seats({ items: [{ id: 'a', weight: -1 }] }), 'run'), /weight/],
    ['tiers of seats', (pools) => pools.selectSeat(seats({ strategy: 'escalate-on-retry' }), 'run'), /strategy \(use/],
    ['a rate in per cent', (pools) => pools.selectModel(ladder({ minSuccessRate: 50 }), 'run'), /minSuccessRate/],
    ['half a sample', (pools) => pools.selectModel(ladder({ minSamples: 0.5 }), 'run'), /minSamples/],
    ['no run', (pools) => pools.selectSeat(seats(), ''), /runId/],
    ['a retry below 0', (pools) => pools.selectModel(ladder(), 'run', -1), /retryAttempt/],
    ['no moment', (pools) => pools.recordRateLimit429('p', 'a', Number.NaN), /resetAtMs \(give milliseconds/],
    ['no end of a limit', (pools) => pools.recordRateLimit429('p', 'a', Infinity), /resetAtMs/],
    ['no outcome', (pools) => pools.recordModelOutcome('p', 'a', 'yes' as unknown as boolean), /succeeded/],
  ])('%s', (_, call, expected) => {
    expect(refused(call)).toMatch(/^invalid_argument: /);
    expect(refused(call)).toMatch(expected);
  });
});

describe('any history of seats', () => {
  type Deed =
    | { readonly kind: 'select'; readonly run: number; readonly afterMs: number }
    | { readonly kind: 'limit'; readonly seat: number; readonly forMs: number }
    | { readonly kind: 'release'; readonly run: number };
  const deed: fc.Arbitrary<Deed> = fc.oneof(
    fc.record({ kind: fc.constant('select' as const), run: fc.nat(4), afterMs: fc.nat(50) }),
    fc.record({ kind: fc.constant('limit' as const), seat: fc.nat(3), forMs: fc.nat(200) }),
    fc.record({ kind: fc.constant('release' as const), run: fc.nat(4) }),
  );
  const NAMED: readonly PoolStrategyName[] = ['round-robin', 'smooth-weighted-round-robin', 'least-recently-selected'];

  it('is answered as by a list of everything that ever happened', () => {
    const history = fc.tuple(fc.constantFrom(...NAMED), fc.boolean(), fc.array(deed, { maxLength: 60 }));
    fc.assert(
      fc.property(history, ([strategy, hasFallback, deeds]) => {
        const items = ['a', 'b', 'c', 'd'].map((id) => ({ id }));
        const fallback = hasFallback ? { fallbackItem: { id: 'spare' } } : {};
        const pool: PoolNode<Seat> = { poolId: 'p', strategy, items, ...fallback };
        const pools = new PoolManager();
        const limits: (readonly [seat: string, untilMs: number])[] = [];
        const bound = new Map<number, string>();
        let nowMs = NOW;
        for (const each of deeds) {
          if (each.kind === 'release') {
            pools.releaseRunSeats(`run ${each.run}`);
            bound.delete(each.run);
          } else if (each.kind === 'limit') {
            const id = items[each.seat]?.id ?? 'a';
            pools.recordRateLimit429('p', id, nowMs + each.forMs);
            limits.push([id, nowMs + each.forMs]);
            for (const [run, seat] of bound) if (seat === id) bound.delete(run);
          } else {
            nowMs += each.afterMs;
            const until = (id: string): number =>
              Math.max(0, ...limits.filter(([seat]) => seat === id).map(([, untilMs]) => untilMs));
            const free = items.filter(({ id }) => until(id) <= nowMs).map(({ id }) => id);
            const { id } = pools.selectSeat(pool, `run ${each.run}`, nowMs);
            const before = bound.get(each.run);
            if (before !== undefined) expect(id).toBe(before);
            else if (free.length > 0) expect(free).toContain(id);
            else if (hasFallback) expect(id).toBe('spare');
            else expect(until(id)).toBe(Math.min(...items.map((item) => until(item.id))));
            if (free.includes(id)) bound.set(each.run, id);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('shares any number of choices evenly in turn, or by weight', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 3 }), (each, rounds) => {
        const items = each.map((weight, at) => ({ id: `seat ${at}`, weight }));
        const total = each.reduce((sum, weight) => sum + weight, 0);
        const pools = new PoolManager();
        const counts = new Map<string, number>();
        for (let run = 0; run < total * rounds; run += 1) {
          const { id } = pools.selectSeat(
            { poolId: 'p', strategy: 'smooth-weighted-round-robin', items },
            `run ${run}`,
            NOW,
          );
          counts.set(id, (counts.get(id) ?? 0) + 1);
        }
        for (const { id, weight } of items) expect(counts.get(id)).toBe(weight * rounds);
      }),
      { numRuns: 500 },
    );
  });
});
