/** Claims from code, over the real wire: queues, items, every verb, and the loop that claims for a recipient. */
import { type ClaimItemView, DuctorClient, DuctorError, RecipientState } from '@ductor/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { until } from '../support/wait.js';

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const { apiKey } = await node.tenant('sdk-claims');
const client = new DuctorClient({ engine: node.address, apiKey });
afterAll(async () => {
  client.close();
  await node.stop();
  await database.drop();
});
const { claims, pools, recipients, routing } = client;

interface Pond {
  readonly queueId: string;
  readonly poolId: string;
  /** Recipients. */
  readonly ids: readonly string[];
  /** Queues works; the ids of their items. */
  put(...names: readonly string[]): Promise<readonly string[]>;
}

let ponds = 0;

async function pondOf(claim: object = {}, capacities: readonly object[] = [{ maxConcurrent: 1 }]): Promise<Pond> {
  ponds += 1;
  const queue = await claims.queues.create({ name: `pond-${ponds}` });
  const config = { routingMode: 'claim', claimQueueId: queue.id, claim };
  const { id: poolId } = await pools.create({ name: `pond-${ponds}`, config });
  const ids: string[] = [];
  for (const capacity of capacities) {
    const fields = { name: `r${ids.length}`, state: RecipientState.RECIPIENT_STATE_AVAILABLE, capacity };
    ids.push((await recipients.create(poolId, fields)).id);
  }
  const put = async (...names: readonly string[]): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const id of names) found.push((await routing.route({ id, type: 'lead', priority: 3 }, { poolId })).id);
    return found;
  };
  return { queueId: queue.id, poolId, ids, put };
}

describe('claim queues from code', () => {
  it('are made, read, changed, listed and deleted', async () => {
    const made = await claims.queues.create({ name: 'west', description: 'leads', metadata: { team: 'a', of: 'b' } });
    expect(made).toMatchObject({ name: 'west', recordVersion: 0, createdAt: expect.any(Date) });
    const change = { description: null, metadata: { of: null } };
    const changed = await claims.queues.update(made.id, change, { expectedVersion: 0 });
    expect(changed).toMatchObject({ name: 'west', description: '', metadata: { team: 'a' }, recordVersion: 1 });
    const stale = claims.queues.update(made.id, { name: 'east' }, { expectedVersion: 7 });
    await expect(stale).rejects.toMatchObject({ code: 'version_conflict' });
    await expect(claims.queues.create({ name: 'west' })).rejects.toMatchObject({ code: 'claim_queue_exists' });
    await claims.queues.create({ name: 'a-first' });
    const first = await claims.queues.list({ pageSize: 1 });
    const second = await claims.queues.list({ pageSize: 1, cursor: first.nextCursor ?? '' });
    expect([...first.queues, ...second.queues].map(({ name }) => name)).toEqual(['a-first', 'west']);
    await claims.queues.delete(made.id);
    await expect(claims.queues.get(made.id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('claims from code', () => {
  it('are listed, taken, given back, done and turned down', async () => {
    const pond = await pondOf({ budget: { maxClaims: 2, period: { fixed: 'day', timezone: 'UTC' } } }, [
      { maxConcurrent: 3 },
      { maxConcurrent: 1 },
    ]);
    const [first = '', second = '', third = ''] = await pond.put('one', 'two', 'three');
    const [ana = '', ben = ''] = pond.ids;
    const page = await claims.list(pond.queueId, { state: 'OPEN', recipientId: ana, pageSize: 2 });
    const rest = await claims.list(pond.queueId, { recipientId: ana, pageSize: 2, cursor: page.nextCursor ?? '' });
    expect([...page.items, ...rest.items].map(({ id, offer }) => [id, offer])).toEqual(
      [first, second, third].map((id) => [id, 'OFFERED']),
    );
    expect(page.items[0]).toMatchObject({ routableId: 'one', routableType: 'lead', priority: 3, state: 'OPEN' });
    expect(page.items[0]).toMatchObject({ queuedAt: expect.any(Date), recipientId: undefined, offered: 2 });
    const claimed = await claims.claim(first, ana);
    expect(claimed).toMatchObject({ state: 'CLAIMED', recipientId: ana, claimedAt: expect.any(Date) });
    expect(claimed.assignmentId).toMatch(/^[0-9a-f-]{36}$/);
    await expect(claims.claim(first, ben)).rejects.toMatchObject({ code: 'claim_rescinded' });
    await expect(claims.release(first, ben)).rejects.toMatchObject({ code: 'claim_state_conflict' });
    expect(await claims.release(first, ana, { reason: 'lunch' })).toMatchObject({ state: 'OPEN' });
    expect(await claims.decline(first, ana, { reason: 'no' })).toMatchObject({ state: 'OPEN' });
    const { offers } = await claims.get(first);
    const offered = new Map(offers.map(({ recipientId, state }) => [recipientId, state]));
    expect([offers.length, offered.get(ana), offered.get(ben)]).toEqual([2, 'DECLINED', 'OFFERED']);
    await claims.claim(second, ana);
    expect(await claims.complete(second, ana)).toMatchObject({ state: 'COMPLETED', endedAt: expect.any(Date) });
    const spent = await claims.claim(third, ana).catch((error: unknown) => error);
    expect(spent).toMatchObject({ code: 'claim_budget_exhausted' });
    expect(spent instanceof DuctorError && (spent.retryAfterMs ?? 0) > 0).toBe(true);
    await claims.claim(first, ben);
    await expect(claims.claim(third, ben)).rejects.toMatchObject({ code: 'recipient_capacity_exhausted' });
    await expect(claims.queues.delete(pond.queueId)).rejects.toMatchObject({ code: 'claim_queue_in_use' });
  });

  it('say what is wrong', async () => {
    const { queueId } = await pondOf();
    await expect(claims.list(queueId, { state: 'LOST' as never })).rejects.toThrow(/state is no state of a claim item/);
    await expect(claims.list(queueId, { who: 1 } as never)).rejects.toThrow(/who is no option/);
    expect(() => claims.release('x', 'y', { why: 1 } as never)).toThrow(/why is no option/);
    await expect(claims.claim('0198c1d0-0000-7000-8000-000000000001', queueId)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a loop that claims for a recipient', () => {
  it('does what is offered, releases what fails, and takes up what it had', { timeout: 30_000 }, async () => {
    const pond = await pondOf({}, [{ maxConcurrent: 1 }, { maxConcurrent: 1 }]);
    const [recipientId = '', other = ''] = pond.ids;
    const [had = '', theirs = '', good = '', bad = ''] = await pond.put('had', 'theirs', 'good', 'bad');
    await claims.claim(had, recipientId);
    await claims.claim(theirs, other);
    const [seen, told, ended]: [ClaimItemView[], string[], AbortController] = [[], [], new AbortController()];
    const handler = (item: ClaimItemView): void => {
      seen.push(item);
      if (item.id === bad) throw new RangeError('not today');
    };
    const onError = (error: unknown): void => void told.push(String(error));
    const loop = claims.work(pond.queueId, recipientId, handler, { signal: ended.signal, pollMs: 50, onError });
    await until('the failure', async () => (await claims.get(bad)).state === 'OPEN' && seen.length === 3);
    const [late = ''] = await pond.put('late');
    await until('the late one', async () => (await claims.get(late)).state === 'COMPLETED');
    ended.abort();
    await loop;
    expect([seen[0]?.id, seen[3]?.id]).toEqual([had, late]);
    expect(seen.map(({ id, state }) => `${state} ${id}`).toSorted()).toEqual(
      [had, good, bad, late].map((id) => `CLAIMED ${id}`).toSorted(),
    );
    expect(told).toEqual(['RangeError: not today']);
    const states = (await claims.list(pond.queueId)).items.map(({ state }) => state);
    // What somebody else has is not taken up.
    expect(states).toEqual(['COMPLETED', 'CLAIMED', 'COMPLETED', 'OPEN', 'COMPLETED']);
    const { rows } = await database.db.query<{ reason: string }>(
      "select reason from ductor.audit where reason = 'not today'",
    );
    expect(rows).toHaveLength(1);
  });

  it('releases what it is at when it ends, and claims nothing more', { timeout: 30_000 }, async () => {
    const pond = await pondOf({}, [{ maxConcurrent: 5 }]);
    const [first = '', second = ''] = await pond.put('first', 'second');
    const ended = new AbortController();
    const begun: string[] = [];
    const handler = (item: ClaimItemView, { signal }: { readonly signal: AbortSignal }): Promise<void> =>
      new Promise((_, reject) => {
        begun.push(item.id);
        signal.addEventListener('abort', () => reject(new RangeError('stopped')));
      });
    const loop = claims.work(pond.queueId, pond.ids[0] ?? '', handler, { signal: ended.signal, pollMs: 50 });
    await until('the begin', () => begun.length === 1);
    ended.abort();
    await loop;
    // Which of both it begins with is drawn.
    expect([first, second]).toContain(begun[0]);
    expect([begun.length, (await claims.get(first)).state, (await claims.get(second)).state]).toEqual([
      1,
      'OPEN',
      'OPEN',
    ]);
  });

  it('shares a queue with others: each item is done once', { timeout: 60_000 }, async () => {
    const pond = await pondOf({}, [{ maxConcurrent: 1 }, { maxConcurrent: 1 }, { maxConcurrent: 1 }]);
    const items = await pond.put(...Array.from({ length: 30 }, (_, number) => `lead-${number}`));
    const [seen, ended]: [string[], AbortController] = [[], new AbortController()];
    const handler = ({ id }: ClaimItemView): void => void seen.push(id);
    const loops = pond.ids.map((id) => claims.work(pond.queueId, id, handler, { signal: ended.signal, pollMs: 50 }));
    await until('all of them', () => seen.length >= items.length);
    ended.abort();
    await Promise.all(loops);
    expect(seen.toSorted()).toEqual([...items].toSorted());
  });

  it('ends when it cannot go on', async () => {
    const nobody = claims.work('0198c1d0-0000-7000-8000-000000000001', 'r', () => undefined);
    await expect(nobody).rejects.toBeInstanceOf(DuctorError);
  });
});
