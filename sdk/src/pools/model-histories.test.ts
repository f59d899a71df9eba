import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PoolManager } from './pool-manager.js';
import type { ModelASTNode, PoolNode } from './pool-node.js';

const NOW = 1_000_000;

describe('any history of models', () => {
  type Deed =
    | { readonly kind: 'select'; readonly run: number; readonly attempt: number; readonly afterMs: number }
    | { readonly kind: 'limit'; readonly model: number; readonly forMs: number }
    | { readonly kind: 'outcome'; readonly model: number; readonly succeeded: boolean }
    | { readonly kind: 'release'; readonly run: number };
  const deed: fc.Arbitrary<Deed> = fc.oneof(
    fc.record({ kind: fc.constant('select' as const), run: fc.nat(3), attempt: fc.nat(5), afterMs: fc.nat(50) }),
    fc.record({ kind: fc.constant('limit' as const), model: fc.nat(3), forMs: fc.nat(200) }),
    fc.record({ kind: fc.constant('outcome' as const), model: fc.nat(3), succeeded: fc.boolean() }),
    fc.record({ kind: fc.constant('release' as const), run: fc.nat(3) }),
  );
  const ids = ['a', 'b', 'c', 'd'];

  it('is answered as by a list of everything that ever happened', () => {
    const rate = fc.constantFrom(0, 0.25, 0.5, 1);
    const history = fc.tuple(rate, fc.integer({ min: 1, max: 4 }), fc.array(deed, { maxLength: 60 }));
    fc.assert(
      fc.property(history, ([minSuccessRate, minSamples, deeds]) => {
        const items = ids.map((modelId) => ({ modelId }));
        const pool: PoolNode<ModelASTNode> = {
          poolId: 'p',
          strategy: 'escalate-on-retry',
          items,
          minSuccessRate,
          minSamples,
        };
        const pools = new PoolManager();
        const limits: (readonly [model: number, untilMs: number])[] = [];
        const outcomes: (readonly [model: number, succeeded: boolean])[] = [];
        let given: (readonly [run: number, model: number])[] = [];
        let nowMs = NOW;
        const untilMs = (model: number): number =>
          Math.max(0, ...limits.flatMap(([of, ms]) => (of === model ? ms : [])));
        const isPoor = (model: number): boolean => {
          const own = outcomes.filter(([of]) => of === model);
          const good = own.filter(([, succeeded]) => succeeded).length;
          return own.length >= minSamples && good / own.length < minSuccessRate;
        };
        for (const each of deeds) {
          if (each.kind === 'release') {
            pools.releaseRunSeats(`run ${each.run}`);
            given = given.filter(([run]) => run !== each.run);
          } else if (each.kind === 'limit') {
            pools.recordRateLimit429('p', ids[each.model] ?? '', nowMs + each.forMs);
            limits.push([each.model, nowMs + each.forMs]);
          } else if (each.kind === 'outcome') {
            pools.recordModelOutcome('p', ids[each.model] ?? '', each.succeeded);
            outcomes.push([each.model, each.succeeded]);
          } else {
            nowMs += each.afterMs;
            const { modelId } = pools.selectModel(pool, `run ${each.run}`, { retryAttempt: each.attempt, nowMs });
            const free = [0, 1, 2, 3].filter((model) => untilMs(model) <= nowMs);
            const reached = Math.max(-1, ...given.flatMap(([run, model]) => (run === each.run ? model : [])));
            const from = Math.max(Math.min(each.attempt, 3), reached);
            const best = free.find((model) => model >= from && !isPoor(model)) ?? free.at(-1);
            if (best !== undefined) given.push([each.run, best]);
            const soonest = Math.min(...[0, 1, 2, 3].map(untilMs));
            expect(ids.indexOf(modelId)).toBe(best ?? [0, 1, 2, 3].find((model) => untilMs(model) === soonest));
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
