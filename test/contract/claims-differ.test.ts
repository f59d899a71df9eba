/**
 * Claims in memory, on which the simulator stands, and those of Postgres are asked the same, command by command, and
 * answer the same: claim, release, complete, decline, and looks at what is due. DUCTOR_DIFFERENTIAL_SEQUENCES=N plays
 * more.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { memoryBus } from '../../engine/src/bus/index.js';
import { onDay, readAccounts, utcDay, type Account } from '../../engine/src/capacity/index.js';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import type { ClaimItem, ClaimVerb } from '../../engine/src/claims/index.js';
import { DuctorError, systemClock, systemRandom, uuidV7 } from '../../engine/src/kernel/index.js';
import { checkRoutable } from '../../engine/src/routing/core/routable.js';
import {
  ClaimDriver,
  createRouting,
  type ClaimCall,
  type PoolView,
  type Routing,
} from '../../engine/src/routing/index.js';
import { replaceDatabaseClock, testDatabase, type DatabaseClock } from '../../engine/src/store/testing/index.js';
import type { Row } from '../../engine/src/store/index.js';
import { decodeInput } from '../../engine/src/workflow/journal/index.js';
import { newsOf, servedBy } from '../../engine/src/workflow/store-postgres/claim-waiters.js';
import { MemoryClaims, type Told } from '../../engine/src/workflow/testing/memory-claims.js';
import { waiterOf } from '../../engine/src/workflow/coordinator/claim-waiter.js';
import { Choices } from '../simulation/core/choices.js';
import { ensureTenant } from '../support/test-tenant.js';

const SEQUENCES = Number(process.env['DUCTOR_DIFFERENTIAL_SEQUENCES'] ?? 25);
const COMMANDS = 40;
const ITEMS = 5;
const VERBS: readonly ClaimVerb[] = ['claim', 'claim', 'claim', 'release', 'complete', 'decline'];

const test = testDatabase();
const [clock, random] = [systemClock(), systemRandom()];
const newId = (): string => uuidV7(clock.nowUs(), random);
let time: DatabaseClock;
let nowUs = 1_783_766_700_000_000;
let tenantId = '';
let node: Routing;
let driver: ClaimDriver;
/** What Postgres told those who wait, in words. */
const told: string[] = [];

async function pass(ms: number): Promise<void> {
  nowUs += ms * 1_000;
  await time.freeze(nowUs);
}

beforeAll(async () => {
  time = await replaceDatabaseClock(test.db);
  await time.freeze(nowUs);
  tenantId = await ensureTenant(test.db);
  const claimWaiters = {
    told: (_: unknown, __: string, events: readonly Parameters<typeof newsOf>[0][]) => {
      const news = events.flatMap(newsOf);
      told.push(...news.map(({ step: { path }, event, what }) => `${path} ${event.item.itemId} ${what}`));
      return Promise.resolve(servedBy(news));
    },
  };
  node = createRouting({
    ...{ db: test.db, cel: createCelCompiler(), clock, bus: memoryBus(clock), newId, claimWaiters },
    ...{ seedKey: new Uint8Array(32), engine: { version: 'test', tzdb: '' } },
  });
  driver = new ClaimDriver({
    ...{ db: test.db, clock, waiters: claimWaiters, route: (call) => node.router.route(call) },
    onLook: () => undefined,
    onError: (error) => expect.unreachable(String(error)),
  });
});

interface Pond {
  readonly poolId: string;
  readonly ids: readonly string[];
  readonly itemIds: readonly string[];
}

/** A pool of which rules and recipients are drawn, and work that waits in it. */
async function pondOf(choices: Choices): Promise<Pond> {
  const by = { tenantId, principalId: newId(), name: 'test', scopes: new Set<never>() };
  const caller = { by, method: 'test' };
  const queue = await node.claims.queues.create(caller, { name: `queue-${newId()}` });
  const budget = {
    ...{ max_claims: choices.int(2, 5), period: choices.oneOf<object>({ rolling: '1m' }, { fixed: 'day' }) },
    ...(choices.chance(0.5) ? { max_open: 2 } : {}),
    ...(choices.chance(0.5) ? { release_refunds: true } : {}),
    ...(choices.chance(0.5) ? { scope: 'team' } : {}),
    ...(choices.chance(0.2) ? { cooldown_after_claim: '1s' } : {}),
  };
  const claim = {
    ...{ claim_ttl: '20s', waves: choices.oneOf([{ size: 2 }, { after: '3s' }], [{}], [{ size: 1 }, { after: '1s' }]) },
    ...(choices.chance(0.7) ? { budget } : {}),
    ...(choices.chance(0.5) ? { cooldown_after_release: '2s' } : {}),
    ...(choices.chance(0.2) ? { allow_release: false } : {}),
  };
  const config = { routing_mode: 'claim', claim_queue_id: queue.id, claim };
  const { poolId } = await node.pools.create(caller, { name: `pond-${newId()}`, config });
  const ids: string[] = [];
  for (const [order, capacity] of [{ max_concurrent: 1 }, { max_concurrent: 2, daily_limit: 3 }, {}].entries()) {
    // The last one is in no team at first.
    const team = order < 2 ? { attributes: { team: { string_value: 'west' } } } : {};
    const fields = { name: `r${order}`, order, state: 'RECIPIENT_STATE_AVAILABLE', capacity, ...team };
    ids.push((await node.recipients.create(caller, poolId, fields)).recipient.recipientId);
  }
  const itemIds: string[] = [];
  for (let number = 0; number < ITEMS; number += 1) {
    const ask = {
      ...{ routable: checkRoutable({ id: newId() }), poolId, recipientId: undefined, excluded: [], previous: [] },
    };
    const call = { tenantId, principalId: newId(), idempotencyKey: '', ask };
    const { stored } = await node.router.route(call);
    const waiter = choices.chance(0.6) ? waiterOf(newId(), choices.oneOf('claimed', 'completed'), 'sale') : null;
    await test.db.query('update ductor.claim_item set waiter = $1 where item_id = $2::uuid', [
      waiter,
      stored.decisionId,
    ]);
    itemIds.push(stored.decisionId);
  }
  return { poolId, ids, itemIds };
}

/** The pool as it is now. */
async function viewOf({ poolId }: Pond): Promise<PoolView> {
  const view = (await node.selection.views.pools(tenantId, [poolId])).get(poolId);
  return view ?? expect.unreachable('the pool is not there');
}

/** The same pool and the same work in memory. */
async function memoryOf({ ids, itemIds }: Pond, view: { now: PoolView }): Promise<MemoryClaims> {
  const { accounts } = await readAccounts(test.db, tenantId, ids);
  const memory = new MemoryClaims({ accounts: new Map(accounts), views: () => [view.now] });
  for (const itemId of itemIds) memory.items.set(itemId, await node.claims.get(tenantId, itemId));
  return memory;
}

/** Assignments have ids of their own in each; what expired is looked at again by one of the two. */
function shown(item: ClaimItem): object {
  const isOver = item.state === 'expired';
  return { ...item, assignmentId: item.assignmentId === null ? null : 'one', nextUs: isOver ? null : item.nextUs };
}

function failed(error: unknown): object {
  const { code, message } = DuctorError.from(error);
  return { code, message };
}

function noted<T>({ value, messages }: Told<T>, notes: string[]): T {
  for (const { body } of messages) {
    const input = decodeInput(body);
    if (input.kind === 'claim_told') notes.push(`${input.path} ${input.itemId} ${input.what}`);
  }
  return value;
}

/** What somebody has in use and has had today. */
function usedBy(account: Account | undefined): object | undefined {
  if (account === undefined) return undefined;
  const { committed, held, dailyCommitted, dailyAdmitted } = onDay(account, utcDay(nowUs));
  return { committed, held, dailyCommitted, dailyAdmitted };
}

async function compareAll(memory: MemoryClaims, { poolId, ids, itemIds }: Pond): Promise<void> {
  for (const itemId of itemIds) {
    const [real, model] = [await node.claims.get(tenantId, itemId), memory.items.get(itemId)];
    expect(shown(real)).toEqual(model && shown(model));
  }
  const { accounts } = await readAccounts(test.db, tenantId, ids);
  const { accounts: modelled } = memory.read(nowUs, newId);
  for (const id of ids) expect(usedBy(accounts.get(id))).toEqual(usedBy(modelled.get(id)));
  const { rows } = await test.db.query<Row & { text: string }>(
    `select claim_item_id || ' ' || recipient_id || ' ' || state || ' ' || units as text from ductor.assignment
      where tenant_id = $1::uuid and pool_id = $2::uuid`,
    [tenantId, poolId],
  );
  const own = [...memory.assignments.values()].map(
    ({ claimItemId, recipientId, state, units }) => `${claimItemId} ${recipientId} ${state} ${units}`,
  );
  expect(rows.map(({ text }) => text).sort()).toEqual(own.sort());
}

async function playOne(seed: number): Promise<void> {
  const choices = new Choices(seed);
  const pond = await pondOf(choices);
  const view = { now: await viewOf(pond) };
  const memory = await memoryOf(pond, view);
  const notes: string[] = [];
  told.splice(0);
  const by = { tenantId, principalId: newId(), name: 'test', scopes: new Set<never>() };
  for (let count = 0; count < COMMANDS; count += 1) {
    if (choices.chance(0.25)) await pass(choices.oneOf(1, 500, 1_000, 3_000, 6_000, 86_400_000));
    if (choices.chance(0.05)) {
      const attributes = { team: { string_value: choices.oneOf('west', 'east', '') } };
      await node.recipients.update({ by, method: 'test' }, choices.pick(pond.ids) ?? '', { attributes }, 0);
      view.now = await viewOf(pond);
    } else if (choices.chance(0.2)) {
      driver.wake();
      await driver.turn();
      noted(memory.look(nowUs), notes);
    } else {
      const itemId = choices.pick(pond.itemIds) ?? '';
      const recipientId = choices.chance(0.05) ? newId() : (choices.pick(pond.ids) ?? '');
      const verb = choices.pick(VERBS) ?? 'claim';
      const call: ClaimCall = { by, method: 'test', itemId, recipientId, verb, reason: '' };
      const real = await node.claims.act(call).then(shown, failed);
      const [result] = noted(memory.act([call], memory.read(nowUs, newId)), notes);
      if (result === undefined) return expect.unreachable('a call has no answer');
      const model = result instanceof DuctorError ? failed(result) : shown(result);
      expect({ count, verb, real }).toEqual({ count, verb, real: model });
    }
    // Work of sequences before may expire meanwhile.
    const own = told.filter((text) => pond.itemIds.some((id) => text.includes(id)));
    expect(own.toSorted()).toEqual(notes.toSorted());
  }
  await compareAll(memory, pond);
}

describe('claims in memory and of Postgres answer the same', () => {
  it.each(Array.from({ length: SEQUENCES }, (_, index) => index + 1))('sequence %i', { timeout: 60_000 }, playOne);
});
