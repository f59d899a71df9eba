/**
 * "Capacity admission for selecting workflows", sentence by sentence: a whole node on a real Postgres, pools and
 * recipients over REST, runs as anybody starts them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replaceDatabaseClock, testDatabase, type DatabaseClock } from '../../engine/src/store/testing/index.js';
import { findCapacityDefects } from '../../engine/src/workflow/index.js';
import { codeOf, marketNode, select, signal, type MarketNode, type Run } from '../support/market-node.js';
import { until } from '../support/wait.js';

const database = testDatabase();
const HOUR_US = 3_600_000_000;

let market: MarketNode;
let clock: DatabaseClock;

beforeAll(async () => {
  clock = await replaceDatabaseClock(database.db);
  market = await marketNode(database.db);
});
afterAll(() => market.stop());

const call: MarketNode['call'] = (...request) => market.call(...request);
const poolOf: MarketNode['poolOf'] = (...pool) => market.poolOf(...pool);
const publish: MarketNode['publish'] = (...definition) => market.publish(...definition);
const start: MarketNode['start'] = (...run) => market.start(...run);
const { ended, get, holding, say } = {
  ended: (id: string) => market.ended(id),
  get: (id: string) => market.get(id),
  holding: (...pool: Parameters<MarketNode['holding']>) => market.holding(...pool),
  say: (...said: Parameters<MarketNode['say']>) => market.say(...said),
};

/** A workflow that selects and then waits for a signal. */
const selecting = (pool: string, args: object = {}): Promise<string> =>
  publish([select(pool, args), signal()], [['buyers', 'done']]);

const FULL = 'recipient_capacity_exhausted';

describe('admission', () => {
  it('durably reserves the entire slate before its output is shown', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }, { max_concurrent: 1 }, { max_concurrent: 1 }]);
    const run = await start(await selecting(pool.name, { slate: 3 }));
    expect(await pool.held()).toEqual([1, 1, 1]);
    await say(run.id);
    const { output } = (await ended(run.id)) as { output: { buyers?: unknown } };
    expect(output).toBeDefined();
    await holding(pool, [0, 0, 0]);
  });

  it('applies to strategy selection and to the routing pipeline', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const rule = {
      name: `rule-${pool.name}`,
      expr: `routable.type == "${pool.name}"`,
      pool_id: pool.id,
      action: 'route',
    };
    await call('POST', '/api/rules', rule);
    const byRules = await publish(
      [{ ref: 'buyers', type: 'STEP_TYPE_SELECT', args: { routable: { type: 'input.type' } } }, signal()],
      [['buyers', 'done']],
    );
    const run = await until('the rule to be known', async () => {
      const started = await start(byRules, { type: pool.name });
      return codeOf(started) === undefined ? started : undefined;
    });
    expect(await pool.held()).toEqual([1]);
    expect(codeOf(await start(byRules, { type: pool.name }))).toBe(FULL);
    expect(codeOf(await start(await selecting(pool.name)))).toBe(FULL);
    await say(run.id);
    await holding(pool, [0]);
  });

  it('counts active reservations plus committed assignments', async () => {
    const pool = await poolOf([{ max_concurrent: 2 }]);
    const sent = await call<{ outcome: string; assignment_ids: string[] }>('POST', '/api/routing/route', {
      ...{ routable: { id: 'lead' }, pool_id: pool.id },
    });
    expect(sent.outcome).toBe('assigned');
    const slug = await selecting(pool.name);
    expect(codeOf(await start(slug))).toBeUndefined();
    expect(codeOf(await start(slug))).toBe(FULL);
    await call('POST', `/api/assignments/${sent.assignment_ids[0]}:complete`, {});
    expect(codeOf(await start(slug))).toBeUndefined();
  });

  it('counts by UTC day what was reserved plus committed daily assignments', async () => {
    const pool = await poolOf([{ daily_limit: 2 }]);
    await call('POST', '/api/routing/route', { routable: { id: 'lead' }, pool_id: pool.id });
    const slug = await selecting(pool.name);
    const first = await start(slug);
    expect(codeOf(await start(slug))).toBe(FULL);
    await say(first.id);
    await holding(pool, [0]);
    // Completion does not refund that day's admission budget.
    expect(codeOf(await start(slug))).toBe(FULL);
    await clock.advance(24 * HOUR_US);
    expect(codeOf(await start(slug))).toBeUndefined();
  });

  it('does not refund the day of a run that is cancelled', async () => {
    const pool = await poolOf([{ daily_limit: 1 }]);
    const slug = await selecting(pool.name);
    const run = await start(slug);
    await call('POST', `/api/runs/${run.id}:cancel`, {});
    await holding(pool, [0]);
    expect(codeOf(await start(slug))).toBe(FULL);
  });

  it('uses the smaller positive value of the pinned and the live limit; unlimited overrides none', async () => {
    const pinned = await poolOf([{ max_concurrent: 1 }]);
    const slug = await selecting(pinned.name);
    await call('PATCH', `/api/recipients/${pinned.ids[0]}`, { capacity: { max_concurrent: 0 } });
    expect(codeOf(await start(slug))).toBeUndefined();
    expect(codeOf(await start(slug))).toBe(FULL);
    const live = await poolOf([{}]);
    const other = await selecting(live.name);
    await call('PATCH', `/api/recipients/${live.ids[0]}`, { capacity: { max_concurrent: 1 } });
    expect(codeOf(await start(other))).toBeUndefined();
    expect(codeOf(await start(other))).toBe(FULL);
  });

  it("is constrained by a live limit that is tightened after the workflow's publication", async () => {
    const pool = await poolOf([{ max_concurrent: 3 }]);
    const slug = await selecting(pool.name);
    expect(codeOf(await start(slug))).toBeUndefined();
    await call('PATCH', `/api/recipients/${pool.ids[0]}`, { capacity: { max_concurrent: 1 } });
    expect(codeOf(await start(slug))).toBe(FULL);
    expect(await pool.held()).toEqual([1]);
  });

  it('is not raised by allow_over_capacity, which only widens who is looked at', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }], { allow_over_capacity: true, over_capacity_budget: 5 });
    const slug = await selecting(pool.name);
    expect(codeOf(await start(slug))).toBeUndefined();
    expect(codeOf(await start(slug))).toBe(FULL);
  });

  it('exposes no partial slate when it is refused, and starts no selected body', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }, { max_concurrent: 1 }]);
    await start(await selecting(pool.name));
    const offer = { steps: [signal('offer')] };
    const body = {
      ref: 'each',
      type: 'STEP_TYPE_SCATTER',
      args: { items: 'steps.buyers.output.recipients' },
      body: offer,
    };
    const slug = await publish([select(pool.name, { slate: 2, at_least: 2 }), body], [['buyers', 'each']]);
    const run = await start(slug);
    expect(codeOf(run)).toBe(FULL);
    const begun = run.steps.filter(({ state }) => state !== 'STEP_STATE_PENDING');
    expect(begun.map(({ path, error }) => [path, error?.code])).toEqual([['buyers', FULL]]);
    expect((await pool.held()).reduce((sum, each) => sum + each, 0)).toBe(1);
  });

  it('tells want of room, an outage of the authority and want of recipients apart', async () => {
    const [full, empty, locked] = [await poolOf([{ max_concurrent: 1 }]), await poolOf([]), await poolOf([{}])];
    await start(await selecting(full.name));
    expect(codeOf(await start(await selecting(full.name)))).toBe(FULL);
    expect(codeOf(await start(await selecting(empty.name)))).toBe('no_eligible_recipient');
    const slug = await selecting(locked.name);
    const run = await database.db.transaction(async (tx) => {
      const id = locked.ids[0] ?? '';
      await tx.query('select 1 from ductor.capacity_authority where recipient_id = $1::uuid for update', [id]);
      return start(slug);
    });
    // It could not be asked: that says nothing about room, and nothing is held.
    expect(codeOf(run)).toBe('capacity_authority_unavailable');
    expect(await locked.held()).toEqual([0]);
    expect(codeOf(await start(slug))).toBeUndefined();
  });
});

describe('a reservation', () => {
  /** A run that holds one recipient and waits for an approval; nobody else is admitted as long as it does. */
  const reviewing = async (): Promise<{ pool: Awaited<ReturnType<typeof poolOf>>; slug: string; run: Run }> => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const approval = { ref: 'review', type: 'STEP_TYPE_APPROVAL', args: { options: ['yes', 'no'] } };
    const slug = await publish([select(pool.name), approval], [['buyers', 'review']]);
    const run = await start(slug);
    expect(await pool.held()).toEqual([1]);
    return { pool, slug, run };
  };

  it('is not released by an approval wait', async () => {
    const { pool, slug, run } = await reviewing();
    expect(run.steps.find(({ path }) => path === 'review')?.state).toBe('STEP_STATE_WAITING');
    expect(codeOf(await start(slug))).toBe(FULL);
    expect(await pool.held()).toEqual([1]);
    await call('POST', `/api/runs/${run.id}:cancel`, {});
    await holding(pool, [0]);
  });

  it('is not released by elapsed time', async () => {
    const { pool, slug, run } = await reviewing();
    await clock.advance(400 * 24 * HOUR_US);
    expect(codeOf(await start(slug))).toBe(FULL);
    expect(await pool.held()).toEqual([1]);
    await call('POST', `/api/runs/${run.id}:cancel`, {});
    await holding(pool, [0]);
  });

  it('is not released by a restart of the server', async () => {
    const { pool, slug, run } = await reviewing();
    await market.restart();
    expect(await pool.held()).toEqual([1]);
    expect(codeOf(await start(slug))).toBe(FULL);
    await call('POST', `/api/runs/${run.id}:cancel`, {});
    await holding(pool, [0]);
  });

  it('is not released while a nested body runs', async () => {
    const pool = await poolOf([{}, {}]);
    const inner = {
      ref: 'inner',
      type: 'STEP_TYPE_SCATTER',
      args: { items: '[1, 2]' },
      body: { steps: [signal('answer')] },
    };
    const each = { ref: 'each', type: 'STEP_TYPE_SCATTER', args: { items: 'steps.buyers.output.recipients' } };
    const slug = await publish(
      [select(pool.name, { slate: 2 }), { ...each, body: { steps: [inner] } }],
      [['buyers', 'each']],
    );
    const run = await start(slug);
    for (let answers = 0; answers < 4; answers += 1) {
      expect(await pool.held()).toEqual([1, 1]);
      await say(run.id, 'answer');
    }
    await ended(run.id);
    await holding(pool, [0, 0]);
  });

  it('is held until all persisted descendants are terminal; cancellation acceptance alone is not release', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const leaf = await publish([signal('leaf')]);
    const middle = await publish([
      { ref: 'leaf', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: leaf, detach: true }, input: {} },
    ]);
    const child = { ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: middle, detach: true }, input: {} };
    const slug = await publish([select(pool.name), child, signal()], [['buyers', 'child']]);
    const run = await start(slug);
    const leafRun = await until('the grandchild to wait', async () => {
      const runs = await call<readonly Run[]>('GET', `/api/runs?family_slug=${leaf}`);
      return runs.find(({ state }) => state === 'RUN_STATE_WAITING');
    });
    await call('POST', `/api/runs/${run.id}:cancel`, {});
    expect((await ended(run.id)).state).toBe('RUN_STATE_CANCELLED');
    expect(await pool.held()).toEqual([1]);
    await say(leafRun.id, 'leaf');
    await holding(pool, [0]);
  });

  it('stays held over continue-as-new, is used again by the same selection, and charged once', async () => {
    const pool = await poolOf([{ max_concurrent: 1, daily_limit: 1 }]);
    const again = { ref: 'again', type: 'STEP_TYPE_CONTINUE_AS_NEW', input: { turn: 'input.turn + 1.0' } };
    const edges = [['buyers', 'done'] as const, ['done', 'again', 'input.turn < 3.0'] as const];
    const run = await start(await publish([select(pool.name), signal(), again], edges), { turn: 1 });
    let last = run.id;
    for (let turn = 1; turn < 3; turn += 1) {
      await say(run.id);
      last = await until('the next run of the chain', async () => {
        const { continued_as: next } = await call<{ continued_as?: string }>('GET', `/api/runs/${last}`);
        return next === undefined || next === '' ? undefined : next;
      });
      await until('it to wait', async () => ((await get(last)).state === 'RUN_STATE_WAITING' ? true : undefined));
      expect((await pool.counters())[0]).toMatchObject({ held: 1, daily_admitted: 1 });
    }
    await say(run.id);
    expect((await ended(last)).state).toBe('RUN_STATE_COMPLETED');
    await holding(pool, [0]);
  });

  it('is not used by a changed selection, which is admitted anew beside it', async () => {
    const rule = 'recipient.name.endsWith(routable.type)';
    const pool = await poolOf([{ daily_limit: 1 }, { daily_limit: 1 }], { eligibility_rule: rule });
    const type = 'input.turn < 2.0 ? "r0" : "r1"';
    const again = { ref: 'again', type: 'STEP_TYPE_CONTINUE_AS_NEW', input: { turn: 'input.turn + 1.0' } };
    const slug = await publish(
      [select(pool.name, { routable: { type } }), signal(), again],
      [
        ['buyers', 'again', 'input.turn < 2.0'],
        ['buyers', 'done', 'input.turn >= 2.0'],
      ],
    );
    const run = await start(slug, { turn: 1 });
    await holding(pool, [1, 1]);
    expect((await pool.counters()).map((each) => each.daily_admitted)).toEqual([1, 1]);
    // What was admitted before is no way around what is full now.
    expect(codeOf(await start(slug, { turn: 2 }))).toBe(FULL);
    await say(run.id);
    await holding(pool, [0, 0]);
  });

  it('is not borrowed by a changed selection, a child or a sibling', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const child = await selecting(pool.name);
    const start1 = { ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: child }, input: {} };
    const sibling = { ...select(pool.name), ref: 'sibling' };
    const slug = await publish(
      [select(pool.name), start1, sibling],
      [
        ['buyers', 'child'],
        ['buyers', 'sibling'],
      ],
    );
    const run = await ended((await start(slug)).id);
    expect(codeOf(run)).toBe(FULL);
    const codes = run.steps
      .map(({ path, error }) => [path, error?.code ?? ''])
      .toSorted((a, b) => String(a).localeCompare(String(b)));
    expect(codes).toEqual([
      ['buyers', ''],
      ['child', FULL],
      ['sibling', FULL],
    ]);
    await holding(pool, [0]);
  });

  it('remains held when the capacity of its pool is reset', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const slug = await selecting(pool.name);
    const run = await start(slug);
    await call('POST', `/api/pools/${pool.id}/capacity/reset`, {});
    expect((await pool.counters())[0]).toMatchObject({ held: 1, daily_admitted: 1 });
    expect(codeOf(await start(slug))).toBe(FULL);
    await say(run.id);
    await holding(pool, [0]);
  });
});

describe('a failed observation', () => {
  it('is no empty backlog: neither a pool nor a step says nothing is there when nobody could look', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const slug = await selecting(pool.name);
    const stats = () => call<{ used_capacity: number }>('GET', `/api/pools/${pool.id}/stats`);
    expect(await stats()).toMatchObject({ used_capacity: 0 });
    const run = await start(slug);
    const ids = [pool.ids[0] ?? ''];
    const { rows } = await database.db.query<{ row: string }>(
      'select to_jsonb(a)::text as row from ductor.capacity_authority a where recipient_id = $1::uuid',
      ids,
    );
    await database.db.query('delete from ductor.capacity_authority where recipient_id = $1::uuid', ids);
    await expect(stats()).rejects.toThrow('capacity_authority_unavailable');
    const blind = await start(slug);
    expect(codeOf(blind)).toBe('capacity_authority_unavailable');
    expect(blind.steps.find(({ path }) => path === 'buyers')?.error?.code).toBe('capacity_authority_unavailable');
    await database.db.query(
      `insert into ductor.capacity_authority
        select * from jsonb_populate_record(null::ductor.capacity_authority, $1::jsonb)`,
      [rows[0]?.row ?? ''],
    );
    expect(await stats()).toMatchObject({ used_capacity: 1 });
    await say(run.id);
    await holding(pool, [0]);
  });
});

describe('what can be seen', () => {
  it('of a run, in ExplainRun: whom it holds, also when it has ended and a child of it has not', async () => {
    const pool = await poolOf([{ max_concurrent: 1 }]);
    const leaf = await publish([signal('leaf')]);
    const child = { ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: leaf, detach: true }, input: {} };
    const run = await start(await publish([select(pool.name), child], [['buyers', 'child']]));
    expect((await ended(run.id)).state).toBe('RUN_STATE_COMPLETED');
    const told = await call<{ reason: string; holds: readonly object[] }>('GET', `/api/runs/${run.id}:explain`);
    const held = { recipient_id: pool.ids[0], recipient_name: `${pool.name}-r0`, pool_id: pool.id };
    expect(told.holds).toMatchObject([{ ...held, run_id: run.id, step: 'buyers', units: 1 }]);
    expect(await findCapacityDefects(database.db)).toEqual([]);
  });

  it('of defects: what is held for nobody, seats of nobody, and accounts that say something else', async () => {
    const pool = await poolOf([{}]);
    const run = await start(await selecting(pool.name));
    const [recipientId] = pool.ids;
    const bind = (owner: string): Promise<unknown> =>
      database.db.query(
        `insert into ductor.routing_binding (tenant_id, pool_id, affinity_key, recipient_id, expires_at, owner)
          values ($1::uuid, $2::uuid, 'seat/' || $4::text, $3::uuid, 9007199254740991, $4::text)`,
        [market.tenantId, pool.id, recipientId ?? '', owner],
      );
    await bind(run.id);
    expect(await findCapacityDefects(database.db)).toEqual([]);
    // As if the end of the run had been forgotten.
    await database.db.query('update ductor.runs set closed_at = 1 where run_id = $1::uuid', [run.id]);
    await database.db.query('update ductor.capacity_authority set held = 3 where recipient_id = $1::uuid', [
      recipientId,
    ]);
    expect(await findCapacityDefects(database.db)).toEqual([
      { kind: 'not_released', tenantId: market.tenantId, recipientId, runId: run.id },
      { kind: 'seat_left', tenantId: market.tenantId, recipientId, runId: run.id },
      { kind: 'drift', tenantId: market.tenantId, recipientId, says: 3, reserved: 1 },
    ]);
  });
});
