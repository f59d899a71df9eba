/**
 * Seats in memory, on which the simulator stands, and those of Postgres are told the same, command by command, and
 * stand alike after each: bindings, rate limits, trials, and counts of outcomes.
 */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { poolKeyText, releaseOwners, writeProbes, type PoolView } from '../../engine/src/routing/index.js';
import { writeBindings } from '../../engine/src/routing/standing/sql/known-keys.js';
import { NEVER_US } from '../../engine/src/routing/strategies/seat-key.js';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import { replaceDatabaseClock, testDatabase, type DatabaseClock } from '../../engine/src/store/testing/index.js';
import { MemorySeats } from '../../engine/src/workflow/testing/memory-seats.js';
import { SeatWorld, type SeatPool } from '../support/seat-world.js';
import { ensureTenant } from '../support/test-tenant.js';

const HISTORIES = cases(25, 500);
const [SEATS, OWNERS] = [3, 4];

const database = testDatabase();
let time: DatabaseClock;
let world: SeatWorld;
let nowUs = 1_783_766_700_000_000;

beforeAll(async () => {
  time = await replaceDatabaseClock(database.db);
  await time.freeze(nowUs);
  world = new SeatWorld(database.db, await ensureTenant(database.db));
});

const [seat, owner] = [fc.nat(SEATS - 1), fc.nat(OWNERS - 1)];
const command = fc.oneof(
  fc.record({ kind: fc.constant('bind' as const), seat, owner, isTier: fc.boolean() }),
  fc.record({ kind: fc.constant('probe' as const), seat, forUs: fc.nat(3_000_000) }),
  fc.record({ kind: fc.constant('report' as const), seat, isSuccess: fc.boolean() }),
  fc.record({ kind: fc.constant('limit' as const), seat, forUs: fc.integer({ min: -1_000_000, max: 4_000_000 }) }),
  fc.record({ kind: fc.constant('release' as const), owner }),
  fc.record({ kind: fc.constant('pass' as const), us: fc.nat(3_000_000) }),
);

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** One pool, in memory and in the database. */
class Twins {
  readonly seats = new MemorySeats();
  readonly states = new Map();

  constructor(
    readonly pool: SeatPool,
    readonly view: PoolView,
  ) {}

  async do(deed: Command): Promise<void> {
    const { db, tenantId } = world;
    const recipientId = 'seat' in deed ? (this.pool.recipientIds[deed.seat] ?? '') : '';
    if (deed.kind === 'bind') {
      const name = `${this.pool.name}-${deed.owner}`;
      const tier = deed.isTier ? { tier: deed.seat } : {};
      const key = `${deed.isTier ? 'tier' : 'seat'}/${name}`;
      const entry = { poolId: this.pool.poolId, key, owner: name, recipientId, expiresUs: NEVER_US, ...tier };
      await writeBindings(db, tenantId, [entry]);
      this.seats.keep({ bindings: [entry], probes: [] });
    } else if (deed.kind === 'probe') {
      // A trial is noted of those alone of whom something is known.
      if (this.seats.rowOf(recipientId).limit_episode === 0) return;
      const probes = [{ recipientId, untilUs: nowUs + deed.forUs }];
      await writeProbes(db, tenantId, probes);
      this.seats.keep({ bindings: [], probes });
    } else if (deed.kind === 'release') {
      const name = `${this.pool.name}-${deed.owner}`;
      await releaseOwners(db, [{ tenantId, owner: name }]);
      this.seats.release(new Set([name]));
    } else if (deed.kind === 'pass') {
      nowUs += deed.us;
      await time.freeze(nowUs);
    } else {
      const isSuccess = deed.kind === 'report' && deed.isSuccess;
      const resetAtUs = deed.kind === 'limit' ? nowUs + deed.forUs : null;
      await world.report(this.pool, recipientId, isSuccess, resetAtUs);
      const report = { view: this.view, recipientId, isSuccess, resetAtUs, latencyMs: null, startedUs: nowUs };
      this.seats.report(this.states, report, nowUs);
    }
  }

  /** What memory and database say of all of it. */
  async tables(): Promise<readonly [memory: object, stored: object]> {
    const { poolId, recipientIds } = this.pool;
    const bound = await world.db.query<{ affinity_key: string; recipient_id: string; tier: number | null }>(
      'select affinity_key, recipient_id, tier from ductor.routing_binding where pool_id = $1::uuid',
      [poolId],
    );
    const stored = bound.rows.map(({ affinity_key: key, recipient_id: id, tier }) => [
      poolKeyText({ poolId, key }),
      { id, tier },
    ]);
    const kept = [...this.seats.bindings].map(([key, { recipientId: id, tier = null }]) => [key, { id, tier }]);
    const columns = 'recipient_id, cooldown_until, limit_episode, probe_until, failures_in_a_row, success_milli';
    const { rows: facts } = await world.db.query<{ recipient_id: string } & object>(
      `select ${columns} from ductor.recipient_fact where recipient_id = any($1::uuid[])`,
      [`{${recipientIds.join(',')}}`],
    );
    const learned = facts.map((row) => {
      const { cooldown_until, limit_episode, probe_until, ...rest } = this.seats.rowOf(row.recipient_id);
      const { failures_in_a_row, success_milli } = rest;
      const known = { cooldown_until, limit_episode, probe_until, failures_in_a_row, success_milli };
      return { recipient_id: row.recipient_id, ...known };
    });
    const { rows: states } = await world.db.query<{ state: object }>(
      'select state from ductor.strategy_state where pool_id = $1::uuid',
      [poolId],
    );
    return [
      { bound: Object.fromEntries(kept), learned, state: this.states.get(poolId) ?? {} },
      { bound: Object.fromEntries(stored), learned: facts, state: states[0]?.state ?? {} },
    ];
  }
}

const TREES = [
  { strategy: 'seat_affinity', params: { max_cooldown: '3s' }, of: ['waterfall'] },
  { strategy: 'seat_affinity', params: { recovery: 'at_once' }, of: ['waterfall'] },
  { strategy: 'escalate_on_retry', of: ['waterfall'] },
];

it('stand alike', { timeout: 60_000 + HISTORIES * 5_000 }, async () => {
  const history = fc.record({ tree: fc.constantFrom(...TREES), deeds: fc.array(command, { maxLength: 40 }) });
  await fc.assert(
    fc.asyncProperty(history, async ({ tree, deeds }) => {
      const recipients = Array.from({ length: SEATS }, (_, tier) => ({ type: 'account_seat', tier }));
      const pool = await world.pool({ config: { strategy_tree: tree, health: { base: '1s' } } }, recipients);
      const view = (await world.node.selection.views.pools(world.tenantId, [pool.poolId])).get(pool.poolId);
      if (view === undefined) throw new TypeError('the pool is gone');
      const twins = new Twins(pool, view);
      for (const deed of deeds) {
        await twins.do(deed);
        const [memory, stored] = await twins.tables();
        expect(memory).toEqual(stored);
      }
    }),
    { numRuns: HISTORIES },
  );
});
