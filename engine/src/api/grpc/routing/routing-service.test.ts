/** Routing over REST and gRPC on two nodes of one database that do not hear of each other. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RouteBatchRequest, RouteRequest, RoutingServiceService as R } from '../../../gen/ductor/v1/routing.js';
import { replayExported } from '../../../routing/index.js';
import { testDatabase } from '../../../store/testing/index.js';
import { bearer, httpCall } from '../../testing/http-call.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let nodes: readonly [TestNode, TestNode];
let tenantId = '';
let apiKey = '';
let client: TestClient;

beforeAll(async () => {
  // Each has a bus of its own: as if the one between them were cut.
  nodes = [await startTestNode(database.db), await startTestNode(database.db)];
  ({ apiKey, tenantId } = await nodes[0].tenant('routes'));
  client = testClient(nodes[0].address, apiKey);
});
afterAll(async () => {
  client.close();
  await Promise.all(nodes.map((node) => node.stop()));
});

interface Answer {
  readonly status: number;
  readonly error: string;
  readonly data: Record<string, unknown> & { readonly id: string };
}

async function rest(method: string, path: string, body?: unknown, node = 0): Promise<Answer> {
  const { status, json } = await httpCall(nodes[node]?.address ?? '', {
    ...{ method, path, headers: { ...bearer(apiKey), 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { data, error } = json as { data: Answer['data']; error?: { code: string } };
  return { status, data, error: error?.code ?? '' };
}

let names = 0;

/** A pool with so many recipients of a capacity. */
async function poolOf(count: number, pool: object = {}, recipient: object = {}): Promise<[string, string[]]> {
  const made = await rest('POST', '/api/pools', { name: `pool-${(names += 1)}`, ...pool });
  if (made.status !== 200) throw new RangeError(JSON.stringify(made));
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const fields = { name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE', ...recipient };
    ids.push((await rest('POST', `/api/pools/${made.data.id}/recipients`, fields)).data.id);
  }
  return [made.data.id, ids];
}

const route = (body: object, node = 0): Promise<Answer> =>
  rest('POST', '/api/routing/route', { routable: { id: 'lead-1', type: 'lead' }, ...body }, node);

const winnerOf = ({ data }: Answer): string => (data['slate'] as { recipient_id: string }[])[0]?.recipient_id ?? '';

async function usedBy(recipientId: string): Promise<number> {
  const { rows } = await database.db.query<{ committed: number }>(
    'select committed from ductor.capacity_authority where tenant_id = $1 and recipient_id = $2',
    [tenantId, recipientId],
  );
  return rows[0]?.committed ?? -1;
}

describe('Route', () => {
  it('assigns, keeps a record that replays byte for byte, and frees what is completed once', async () => {
    const [poolId, [recipientId = '']] = await poolOf(1, {}, { capacity: { max_concurrent: 1 } });
    const first = await route({ pool_id: poolId, explain: true });
    expect(first.data).toMatchObject({
      ...{ outcome: 'assigned', outcome_class: 'success', reason: '', pool_id: poolId, routable_id: 'lead-1' },
      slate: [{ recipient_id: recipientId, units: 1 }],
      explanation: { hops: [{ considered: 1, eligible: 1, ranking: [{ name: 'r0', load: 0, limit: 1 }] }] },
    });
    expect(await usedBy(recipientId)).toBe(1);
    const full = await route({ pool_id: poolId, explain: true });
    expect(full.data).toMatchObject({
      outcome: 'no_eligible_recipient',
      explanation: { hops: [{ dropped: [{ verdict: 'at_concurrency', count: 1 }] }] },
    });
    const [assignmentId] = first.data['assignment_ids'] as string[];
    const complete = (): Promise<Answer> => rest('POST', `/api/assignments/${assignmentId}:complete`, {}, 1);
    const answers = await Promise.all([complete(), complete(), complete()]);
    expect(answers.map(({ data }) => data['state'])).toEqual(Array(3).fill('ASSIGNMENT_STATE_COMPLETED'));
    expect(await usedBy(recipientId)).toBe(0);
    expect((await rest('POST', `/api/assignments/${assignmentId}:release`, {})).error).toBe(
      'assignment_state_conflict',
    );
    for (const { id } of [first.data, full.data]) {
      const replayed = await rest('GET', `/api/routing/decisions/${id}:replay`, undefined, 1);
      expect(replayed.data).toMatchObject({ is_same: true, decision_id: id });
      const exported = await rest('GET', `/api/routing/decisions/${id}:export`);
      expect(replayExported(JSON.parse(JSON.stringify(exported.data)))).toMatchObject({ isSame: true });
    }
    const explained = await rest('GET', `/api/routing/decisions/${first.data.id}:explain`, undefined, 1);
    expect(explained.data).toMatchObject({
      explanation: { winners: [recipientId], hops: [{ ranking: [{ name: 'r0' }] }] },
    });
  });

  it('answers the same request of one idempotency key with the first decision, on any node', async () => {
    const [poolId, [recipientId = '']] = await poolOf(1);
    const body = { pool_id: poolId, idempotency_key: `key-${poolId}` };
    const answers = await Promise.all([0, 1, 0, 1].map((node) => route(body, node)));
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
    expect(await usedBy(recipientId)).toBe(1);
    const other = await route({ ...body, routable: { id: 'lead-2' } }, 1);
    expect([other.status, other.error]).toEqual([409, 'idempotency_conflict']);
  });

  it('goes by rules, falls over to another pool, and finds the rules of today', async () => {
    const [spare, [spareId = '']] = await poolOf(1);
    const [poolId, [recipientId = '']] = await poolOf(
      1,
      { config: { fallback: { kind: 'overflow' }, overflow_pool_id: spare } },
      { capacity: { max_concurrent: 1 } },
    );
    const expr = 'routable.type == "vip"';
    const rule = await rest('POST', '/api/rules', { name: 'vips', expr, pool_id: poolId });
    const vip = { routable: { id: 'v', type: 'vip' } };
    const [first, second] = [await route(vip), await route(vip)];
    expect([first, second].map(winnerOf)).toEqual([recipientId, spareId]);
    expect(first.data).toMatchObject({ rule_id: rule.data.id, pool_id: poolId });
    expect(second.data).toMatchObject({ rule_id: rule.data.id, pool_id: spare, outcome: 'assigned' });
    expect((await route({ routable: { type: 'other' } })).data).toMatchObject({ outcome: 'no_matching_rule' });
    await rest('PATCH', `/api/rules/${rule.data.id}`, { action: 'drop' });
    expect((await route(vip)).data).toMatchObject({ outcome: 'dropped', reason: 'dropped_by_rule' });
  });

  it('tells work that comes twice within the window of its pool', async () => {
    const [poolId, [recipientId = '']] = await poolOf(1, { config: { dedupe: { window: '1h' } } });
    const body = { pool_id: poolId, routable: { id: 'a', dedupe_key: 'customer-7' } };
    const answers = await Promise.all([route(body), route(body, 1), route(body)]);
    const outcomes = answers.map(({ data }) => String(data['outcome'])).toSorted((a, b) => (a < b ? -1 : 1));
    expect(outcomes).toEqual(['assigned', 'duplicate', 'duplicate']);
    const made = answers.find(({ data }) => data['outcome'] === 'assigned');
    const twice = answers.filter(({ data }) => data['outcome'] === 'duplicate');
    expect(twice.map(({ data }) => data['duplicate_of'])).toEqual([made?.data.id, made?.data.id]);
    expect(await usedBy(recipientId)).toBe(1);
  });

  it('takes turns exactly, whichever node is asked and however many ask at once', async () => {
    const [poolId, ids] = await poolOf(3, { strategy: 'round_robin' });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => route({ pool_id: poolId }, index % 2)));
    const counts = ids.map((id) => answers.filter((answer) => winnerOf(answer) === id).length);
    expect(counts).toEqual([10, 10, 10]);
  });

  it('keeps a key with the recipient it was bound to', async () => {
    const params = { key: 'routable.attributes.account', ttl: '1h' };
    const tree = { strategy: 'sticky', params, of: [{ strategy: 'round_robin' }] };
    const [poolId] = await poolOf(3, { config: { strategy_tree: tree } });
    const winners: string[] = [];
    for (const account of ['a', 'b', 'a', 'a', 'b']) {
      winners.push(
        winnerOf(await route({ pool_id: poolId, routable: { attributes: { account } } }, winners.length % 2)),
      );
    }
    const [a, b] = winners;
    expect(a).not.toBe(b);
    expect(winners).toEqual([a, b, a, a, b]);
  });

  it('assigns nothing from a pool once its kill switch is on, on a node that has not heard of it', async () => {
    const [poolId] = await poolOf(2);
    expect((await route({ pool_id: poolId }, 1)).data).toMatchObject({ outcome: 'assigned' });
    await rest('POST', `/api/pools/${poolId}:set_enabled`, { enabled: false, reason: 'outage' }, 0);
    expect((await route({ pool_id: poolId }, 1)).data).toMatchObject({
      outcome: 'pool_disabled',
      reason: 'pool_kill_switched',
    });
    await rest('POST', `/api/pools/${poolId}:set_enabled`, { enabled: true }, 0);
    expect((await route({ pool_id: poolId }, 1)).data).toMatchObject({ outcome: 'assigned' });
  });

  it('decides each item of a batch by itself', async () => {
    const [poolId] = await poolOf(2, {}, { capacity: { max_concurrent: 1 } });
    const item = (routableId: string) => ({ poolId, routable: { id: routableId, attributes: { a: 1 } } });
    const wrong = RouteRequest.fromPartial({ poolId: 'nothing', routable: {} });
    const items = [...['1', '2', '3'].map((id) => RouteRequest.fromPartial(item(id))), wrong];
    const { data } = await call(client, R.routeBatch, RouteBatchRequest.fromPartial({ items }));
    const outcomes = data.map(({ outcome }) =>
      outcome?.$case === 'decision' ? outcome.value.outcome : outcome?.value.code,
    );
    expect(outcomes).toEqual(['assigned', 'assigned', 'no_eligible_recipient', 'invalid_argument']);
  });

  it('answers what it can while one pool is locked, and says of the rest that it could not ask', async () => {
    const [held, [heldId = '']] = await poolOf(1);
    const [free] = await poolOf(1);
    const answers = await database.db.transaction(async (tx) => {
      await tx.query('select 1 from ductor.capacity_authority where recipient_id = $1 for update', [heldId]);
      return Promise.all([held, free, held].map((poolId) => route({ pool_id: poolId })));
    });
    expect(answers.map(({ status, error }) => [status, error])).toEqual([
      [503, 'capacity_authority_unavailable'],
      [200, ''],
      [503, 'capacity_authority_unavailable'],
    ]);
    expect((await route({ pool_id: held })).data).toMatchObject({ outcome: 'assigned' });
    expect(await usedBy(heldId)).toBe(1);
  });

  it('says what is wrong with a request, and lets work wait where its pool has a queue', async () => {
    const bad = await rest('POST', '/api/routing/route', { pool_id: 'x', routable: { priority: 2_000_000 } });
    expect([bad.status, bad.error]).toEqual([400, 'invalid_argument']);
    const [queues] = await poolOf(0, { config: { fallback: { kind: 'queue' } } });
    expect((await route({ pool_id: queues })).data).toMatchObject({ outcome: 'queued', assignment_ids: [] });
  });
});

describe('previews', () => {
  it('say what would be decided, and write nothing', async () => {
    const [poolId, ids] = await poolOf(2, { strategy: 'round_robin' });
    const ask = { pool_id: poolId, routable: { id: 'p' }, explain: true };
    const previews = await Promise.all([0, 1, 0].map((node) => rest('POST', '/api/routing/route:preview', ask, node)));
    expect(new Set(previews.map(winnerOf)).size).toBe(1);
    expect(previews[0]?.data).toMatchObject({ outcome: 'assigned', assignment_ids: [] });
    expect(await Promise.all(ids.map(usedBy))).toEqual([0, 0]);
    expect(winnerOf(await route({ pool_id: poolId }))).toBe(previews.map(winnerOf)[0]);
    expect(winnerOf(await rest('POST', '/api/routing/route:preview', ask))).not.toBe(previews.map(winnerOf)[0]);
  });
});

describe('offers and outcomes', () => {
  it('take capacity when they are accepted, and never above the limit', async () => {
    const [poolId, [recipientId = '']] = await poolOf(
      1,
      { config: { requires_acceptance: true } },
      { capacity: { max_concurrent: 1 } },
    );
    const offers = [await route({ pool_id: poolId }), await route({ pool_id: poolId })];
    expect(offers.map(({ data }) => data['outcome'])).toEqual(['offered', 'offered']);
    expect(await usedBy(recipientId)).toBe(0);
    const [first, second] = offers.map(({ data }) => (data['assignment_ids'] as string[])[0]);
    const accepted = await rest('POST', `/api/assignments/${first}:accept`, {});
    expect(accepted.data).toMatchObject({ state: 'ASSIGNMENT_STATE_ACTIVE', recipient_id: recipientId });
    const refused = await rest('POST', `/api/assignments/${second}:confirm`, {});
    expect([refused.status, refused.error]).toEqual([429, 'recipient_capacity_exhausted']);
    const batch = await rest('POST', '/api/assignments:batch', {
      items: [
        { assignment_id: first, verb: 'ASSIGNMENT_VERB_COMPLETE' },
        { assignment_id: second, verb: 'ASSIGNMENT_VERB_ACCEPT' },
        { assignment_id: first, verb: 'ASSIGNMENT_VERB_ACCEPT' },
      ],
    });
    expect(batch.data).toMatchObject([
      { assignment: { state: 'ASSIGNMENT_STATE_COMPLETED' } },
      { assignment: { state: 'ASSIGNMENT_STATE_ACTIVE' } },
      { error: { code: 'assignment_state_conflict' } },
    ]);
    expect(await usedBy(recipientId)).toBe(1);
    const open = await rest('GET', `/api/assignments?recipient_id=${recipientId}&state=ASSIGNMENT_STATE_ACTIVE`);
    expect(open.data).toMatchObject([{ id: second, decision_id: offers[1]?.data.id }]);
  });

  it('leave out who fails again and again, and who has a rate limit', async () => {
    const [poolId, ids] = await poolOf(3, { config: { health: { consecutive: 2 } } });
    const { data } = await route({ pool_id: poolId, recipient_id: ids[0] });
    const [assignmentId] = data['assignment_ids'] as string[];
    const fail = (more: object = {}): Promise<Answer> =>
      rest('POST', '/api/routing/outcomes', { assignment_id: assignmentId, success: false, latency: '2s', ...more });
    expect((await fail()).data).toMatchObject({ failures_in_a_row: 1, recipient_id: ids[0], latency_ms: 4000 });
    expect((await fail()).data).toHaveProperty('ejected_until');
    const preview = await rest('POST', '/api/routing/route:preview', { pool_id: poolId, routable: {}, explain: true });
    expect(preview.data).toMatchObject({ explanation: { hops: [{ eligible: 2, dropped: [{ verdict: 'ejected' }] }] } });
    await fail({ reset_at: '2100-01-01T00:00:00Z' });
    const limited = await rest('POST', '/api/routing/route:preview', { pool_id: poolId, routable: {}, explain: true });
    expect(limited.data).toMatchObject({ explanation: { hops: [{ dropped: [{ verdict: 'cooling_down' }] }] } });
  });
});

describe('seats', () => {
  const turn = { id: 'turn-1', attributes: { run: 'r7' } };

  it('stay with their owner on every node, until they are limited or released', async () => {
    const recipe = { name: 'seat_pool', params: { key: 'routable.attributes.run' } };
    const [poolId, ids] = await poolOf(3, { config: { recipe } }, { type: 'account_seat' });
    const seat = winnerOf(await route({ pool_id: poolId, routable: turn }));
    const again = [0, 1].map((node) => route({ pool_id: poolId, routable: { ...turn, id: `turn-${node}` } }, node));
    expect((await Promise.all(again)).map(winnerOf)).toEqual([seat, seat]);
    const limit = { pool_id: poolId, recipient_id: seat, reset_at: '2100-01-01T00:00:00Z' };
    const limited = await rest('POST', '/api/routing/outcomes', limit, 1);
    expect(limited.data).toMatchObject({ recipient_id: seat, cooldown_until: expect.any(String) });
    const next = winnerOf(await route({ pool_id: poolId, routable: turn }));
    expect(ids.filter((id) => id !== seat)).toContain(next);
    const released = await rest('POST', '/api/routing/seats:release', { owner: 'r7' }, 1);
    expect([released.status, released.data]).toEqual([200, { released: 1 }]);
    const others = await rest('POST', '/api/routing/seats:release', { owner: 'r7' });
    expect(others.data).toEqual({ released: 0 });
  });

  it('say what is wrong with a report or a release', async () => {
    const [poolId, [recipientId = '']] = await poolOf(1);
    const refused = async (body: object): Promise<readonly unknown[]> => {
      const { status, error } = await rest('POST', '/api/routing/outcomes', { success: true, ...body });
      return [status, error];
    };
    const missing = '0198c1d0-0000-7000-8000-000000000001';
    expect(await refused({})).toEqual([400, 'invalid_argument']);
    expect(await refused({ pool_id: poolId })).toEqual([400, 'invalid_argument']);
    const both = { assignment_id: missing, pool_id: poolId, recipient_id: recipientId };
    expect(await refused(both)).toEqual([400, 'invalid_argument']);
    expect(await refused({ pool_id: missing, recipient_id: recipientId })).toEqual([404, 'not_found']);
    expect(await refused({ pool_id: poolId, recipient_id: missing })).toEqual([404, 'not_found']);
    expect((await rest('POST', '/api/routing/seats:release', { owner: '' })).status).toBe(400);
  });
});
