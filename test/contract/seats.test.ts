/**
 * The durable form of PoolManager: for the same history of choices, rate limits, outcomes and ends it chooses as the
 * class of the SDK does, whichever of two nodes is asked, by whichever way, and however often both are made anew.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { hash64 } from '../../engine/src/routing/core/hash.js';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import { replaceDatabaseClock, testDatabase, type DatabaseClock } from '../../engine/src/store/testing/index.js';
import { PoolManager } from '../../sdk/src/pools/pool-manager.js';
import type { AccountSeatASTNode, ModelASTNode, PoolNode } from '../../sdk/src/pools/pool-node.js';
import { endLeftFamilies, findCapacityDefects } from '../../engine/src/workflow/index.js';
import { SeatWorld, type Got, type SeatPool } from '../support/seat-world.js';
import { replayStored } from '../support/replay-stored.js';
import { ensureTenant } from '../support/test-tenant.js';

/** In full in CI's longer lane. */
const HISTORIES = cases(25, 500);
const RUNS = 4;
const SEATS = 4;
const LIMIT_MS = 60_000 + HISTORIES * 5_000;

const database = testDatabase();
let time: DatabaseClock;
let world: SeatWorld;
let nowMs = 1_783_766_700_000;

beforeAll(async () => {
  time = await replaceDatabaseClock(database.db);
  await time.freeze(nowMs * 1000);
  world = new SeatWorld(database.db, await ensureTenant(database.db));
});

async function pass(ms: number): Promise<void> {
  nowMs += ms;
  await time.freeze(nowMs * 1000);
}

type Family = Awaited<ReturnType<SeatWorld['family']>>;

/** What happens: somebody chooses, by which way; a limit is met; work ends; a family ends; all nodes begin anew. */
type Deed =
  | {
      readonly kind: 'select';
      readonly run: number;
      readonly afterMs: number;
      readonly way: number;
      readonly attempt: number;
    }
  | { readonly kind: 'limit'; readonly item: number; readonly forMs: number }
  | { readonly kind: 'outcome'; readonly item: number; readonly isSuccess: boolean }
  | { readonly kind: 'release'; readonly run: number }
  | { readonly kind: 'restart' };

const select = fc.record({
  ...{ kind: fc.constant('select' as const), run: fc.nat(RUNS - 1), afterMs: fc.nat(50) },
  ...{ way: fc.nat(4), attempt: fc.nat(4) },
});
const limit = fc.record({ kind: fc.constant('limit' as const), item: fc.nat(SEATS - 1), forMs: fc.nat(200) });
const release = fc.record({ kind: fc.constant('release' as const), run: fc.nat(RUNS - 1) });
const restart = fc.record({ kind: fc.constant('restart' as const) });
const outcome = fc.record({
  ...{ kind: fc.constant('outcome' as const), item: fc.nat(SEATS - 1), isSuccess: fc.boolean() },
});

/** Families of a history, made when they first choose, and made anew once they have ended. */
class Families {
  readonly #known = new Map<number, Family>();

  async of(run: number): Promise<Family> {
    const known = this.#known.get(run) ?? (await world.family());
    this.#known.set(run, known);
    return known;
  }

  /** Ends one, the child before its parent or after it. */
  async end(run: number): Promise<string | undefined> {
    const family = this.#known.get(run);
    if (family === undefined) return undefined;
    this.#known.delete(run);
    const { rootId } = family[0];
    const [first, last] = run % 2 === 0 ? family : [family[1], family[0]];
    await world.close(first);
    await world.close(last);
    if ((await world.bindingsOf(rootId)) > 0) throw new TypeError('a family has ended, and has a seat');
    return rootId;
  }
}

/**
 * One way in which a family chooses: the run at its top or its child, by a SELECT step or by a ROUTE step for the
 * family, or Route under its id.
 */
function ask([root, child]: Family, pool: SeatPool, way: number, attempt: number): Promise<Got> {
  const attributes = { retry_attempt: attempt };
  if (way === 2) return world.route(root.rootId, pool, attributes);
  const run = way % 3 === 0 ? root : child;
  return way > 2 ? world.routeStep(run, pool, attributes) : world.select(run, pool, attributes);
}

/** Whom the engine chose must be whom the class did; where all are limited, the one that is free first. */
function compare(got: Got, expected: string, untilMs: ReadonlyMap<string, number>): void {
  if (got.recipientId !== null) expect(got.recipientId).toBe(expected);
  else {
    expect(untilMs.get(expected)).toBeGreaterThan(nowMs);
    if (got.retryAtUs !== undefined) expect(got.retryAtUs / 1000).toBe(untilMs.get(expected));
  }
}

describe('account seats', () => {
  const strategies = ['round_robin', 'smooth_weighted_round_robin', 'waterfall'] as const;
  const NAMES = {
    round_robin: 'round-robin',
    smooth_weighted_round_robin: 'smooth-weighted-round-robin',
    waterfall: 'priority',
  } as const;
  const history = fc.record({
    strategy: fc.constantFrom(...strategies),
    recovery: fc.constantFrom('probe', 'at_once'),
    weights: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: SEATS, maxLength: SEATS }),
    hasFallback: fc.boolean(),
    deeds: fc.array(fc.oneof({ weight: 6, arbitrary: select }, { weight: 2, arbitrary: limit }, release, restart), {
      maxLength: 40,
    }),
  });

  it('are chosen as PoolManager does', { timeout: LIMIT_MS }, async () => {
    const spare = (await world.pool({}, [{ type: 'account_seat' }])).recipientIds[0] ?? '';
    await fc.assert(
      fc.asyncProperty(history, async ({ strategy, recovery, weights, hasFallback, deeds }) => {
        const pool = await world.pool(
          {
            config: {
              strategy_tree: { strategy: 'seat_affinity', params: { recovery }, of: [strategy] },
              tie_break: 'waterfall',
              ...(hasFallback && { fallback: { kind: 'default_recipient' }, fallback_recipient_id: spare }),
            },
          },
          weights.map((weight, order) => ({ type: 'account_seat', weight, order })),
        );
        const { recipientIds, poolId } = pool;
        // In turn the engine begins somewhere, so that not all pools begin with their first.
        const first = strategy === 'round_robin' ? Number(hash64(poolId) % BigInt(SEATS)) : 0;
        const items = recipientIds.map((_, index): AccountSeatASTNode => {
          const at = (first + index) % SEATS;
          return { id: recipientIds[at] ?? '', weight: weights[at] ?? 1 };
        });
        const node: PoolNode<AccountSeatASTNode> = {
          poolId,
          items,
          strategy: NAMES[strategy],
          ...(hasFallback && { fallbackItem: { id: spare } }),
        };
        const manager = new PoolManager();
        const families = new Families();
        const untilMs = new Map<string, number>();
        const warm: Deed = { kind: 'select', run: 0, afterMs: 0, way: 0, attempt: 0 };
        for (const deed of [warm, ...deeds]) {
          if (deed.kind === 'restart') world.restart();
          if (deed.kind === 'release') manager.releaseRunSeats((await families.end(deed.run)) ?? 'nobody');
          if (deed.kind === 'limit') {
            const [id, resetMs] = [items[deed.item]?.id ?? '', nowMs + deed.forMs];
            manager.recordRateLimit429(poolId, id, resetMs);
            await world.report(pool, id, false, resetMs * 1000);
            untilMs.set(id, Math.max(untilMs.get(id) ?? 0, resetMs));
          }
          if (deed.kind !== 'select') continue;
          await pass(deed.afterMs);
          const family = await families.of(deed.run);
          const expected = manager.selectSeat(node, family[0].rootId, nowMs).id;
          const got = await ask(family, pool, deed.way, deed.attempt);
          compare(got, expected, untilMs);
          // Whoever tries a seat says at once that it works.
          if (got.recipientId !== null && got.recipientId !== spare) await world.report(pool, got.recipientId, true);
        }
      }),
      { numRuns: HISTORIES },
    );
  });
});

describe('a family that ends outside of the gate lane', () => {
  it('keeps the seat that a child of it took until the look of the minute, and no longer', async () => {
    const pool = await world.pool({ config: { recipe: { name: 'seat_pool' } } }, [{ type: 'account_seat' }]);
    const [root, child] = await world.family();
    const other = await world.family();
    await world.select(child, pool);
    await world.select(other[1], pool);
    await world.close(child);
    await endLeftFamilies(database.db);
    expect(await world.bindingsOf(root.rootId)).toBe(1);
    // The run at the top selects nothing itself: its end goes by the plain lane.
    await world.closePlainly(root);
    expect(await world.bindingsOf(root.rootId)).toBe(1);
    expect(await findCapacityDefects(database.db)).toEqual([]);
    expect(await endLeftFamilies(database.db)).toBe(1);
    expect([await world.bindingsOf(root.rootId), await world.bindingsOf(other[0].rootId)]).toEqual([0, 1]);
    const left = await database.db.query('select root_id from ductor.capacity_family where root_id = $1', [
      root.rootId,
    ]);
    expect(left.rows).toEqual([]);
  });

  it('is told as a defect when nobody has looked for minutes', async () => {
    const pool = await world.pool({ config: { recipe: { name: 'seat_pool' } } }, [{ type: 'account_seat' }]);
    const [root, child] = await world.family();
    const { recipientId } = await world.select(child, pool);
    await world.close(child);
    await world.closePlainly(root);
    await pass(300_001);
    const { tenantId } = world;
    const defect = { kind: 'seat_left', tenantId, recipientId, runId: root.rootId };
    expect(await findCapacityDefects(database.db)).toEqual([defect]);
    await endLeftFamilies(database.db);
    expect(await findCapacityDefects(database.db)).toEqual([]);
  });
});

describe('models', () => {
  const history = fc.record({
    minSuccessRate: fc.constantFrom(0, 0.3, 0.5, 0.9),
    minSamples: fc.integer({ min: 1, max: 4 }),
    deeds: fc.array(
      fc.oneof({ weight: 4, arbitrary: select }, limit, { weight: 4, arbitrary: outcome }, release, restart),
      { maxLength: 50 },
    ),
  });

  it('are chosen as PoolManager does', { timeout: LIMIT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ minSuccessRate, minSamples, deeds }) => {
        const params = { min_success_rate: minSuccessRate, min_samples: minSamples };
        const pool = await world.pool(
          { config: { recipe: { name: 'model_ladder', params }, health: { consecutive: 0 } } },
          Array.from({ length: SEATS }, (_, tier) => ({ type: 'model', tier })),
        );
        const { poolId, recipientIds } = pool;
        const node: PoolNode<ModelASTNode> = {
          poolId,
          strategy: 'escalate-on-retry',
          minSuccessRate,
          minSamples,
          items: recipientIds.map((modelId) => ({ modelId })),
        };
        const manager = new PoolManager();
        const families = new Families();
        const untilMs = new Map<string, number>();
        for (const deed of deeds) {
          if (deed.kind === 'restart') world.restart();
          if (deed.kind === 'release') manager.releaseRunSeats((await families.end(deed.run)) ?? 'nobody');
          if (deed.kind === 'limit') {
            const [id, resetMs] = [recipientIds[deed.item] ?? '', nowMs + deed.forMs];
            manager.recordRateLimit429(poolId, id, resetMs);
            await world.report(pool, id, false, resetMs * 1000);
            untilMs.set(id, Math.max(untilMs.get(id) ?? 0, resetMs));
          }
          if (deed.kind === 'outcome') {
            const id = recipientIds[deed.item] ?? '';
            manager.recordModelOutcome(poolId, id, deed.isSuccess);
            await world.report(pool, id, deed.isSuccess);
          }
          if (deed.kind !== 'select') continue;
          await pass(deed.afterMs);
          const family = await families.of(deed.run);
          const options = { retryAttempt: deed.attempt, nowMs };
          const expected = manager.selectModel(node, family[0].rootId, options).modelId;
          compare(await ask(family, pool, deed.way, deed.attempt), expected, untilMs);
        }
      }),
      { numRuns: HISTORIES },
    );
  });
});

describe('seats', () => {
  const LIMITED_MS = 1_000;
  const seatsOf = (count: number): Promise<SeatPool> =>
    world.pool({ config: { recipe: { name: 'seat_pool' } } }, Array<object>(count).fill({ type: 'account_seat' }));

  it('end with the last run of their family, and with no other', async () => {
    const pool = await seatsOf(3);
    const [root, child] = await world.family();
    const { recipientId } = await world.select(child, pool);
    await world.close(root);
    expect(await world.bindingsOf(root.rootId)).toBe(1);
    expect((await world.select(child, pool)).recipientId).toBe(recipientId);
    await world.close(child);
    expect(await world.bindingsOf(root.rootId)).toBe(0);
  });

  it('of other owners end when they are released, in all pools', async () => {
    const pools = [await seatsOf(2), await seatsOf(2)];
    for (const pool of pools) await world.route('crew-7', pool);
    await world.route('crew-8', pools[0] ?? (await seatsOf(1)));
    expect(await world.bindingsOf('crew-7')).toBe(2);
    expect(await world.node.outcomes.releaseSeats(world.tenantId, 'crew-7')).toBe(2);
    expect([await world.bindingsOf('crew-7'), await world.bindingsOf('crew-8')]).toEqual([0, 1]);
  });

  it('that were limited are tried by one owner, on whichever node, until that one says how it went', async () => {
    const pool = await seatsOf(1);
    const [seat = ''] = pool.recipientIds;
    for (const isSuccess of [false, true]) {
      await world.report(pool, seat, false, (nowMs + LIMITED_MS) * 1000);
      await pass(LIMITED_MS);
      const owners = Array.from({ length: 16 }, (_, index) => `owner ${isSuccess} ${index}`);
      const got = await Promise.all(owners.map((owner) => world.route(owner, pool)));
      expect(got.filter(({ recipientId }) => recipientId === seat)).toHaveLength(1);
      await world.report(pool, seat, isSuccess);
      const after = await Promise.all(owners.map((owner) => world.route(owner, pool)));
      expect(after.every(({ recipientId }) => (recipientId === seat) === isSuccess)).toBe(true);
      await pass(100_000);
    }
  });

  it('are taken from everybody at a rate limit, whoever is being given one at that moment', async () => {
    const pool = await seatsOf(3);
    for (let round = 0; round < 20; round += 1) {
      const [limited = ''] = pool.recipientIds.slice(round % 3);
      const owners = Array.from({ length: 12 }, (_, index) => `${round} of ${index}`);
      const routed = owners.map((owner) => world.route(owner, pool));
      await Promise.all([...routed, world.report(pool, limited, false, (nowMs + LIMITED_MS) * 1000)]);
      expect(await world.boundTo(limited)).toBe(0);
      await pass(LIMITED_MS);
      await world.report(pool, limited, true);
    }
  });

  it('stand in the records of decisions, which replay byte for byte', async () => {
    const { count, differing } = await replayStored(database.db);
    expect(count).toBeGreaterThan(200);
    expect(differing).toEqual([]);
  });
});
