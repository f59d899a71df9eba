/** Claims over two nodes: queues, budgets, capacity, and which pools have their work claimed. */
import { describe, expect, it } from 'vitest';
import { ClaimKit, freshName } from '../testing/claim-kit.js';

const { act, committed, item, itemsFor, pondOf, queue, queued, rest, routed } = new ClaimKit();

describe('a claim queue', () => {
  it('is made, changed, listed, and removed once no work is in it', async () => {
    const name = freshName();
    const made = await rest('POST', '/api/claim-queues', { name, metadata: { team: 'west' } });
    expect(made.data).toMatchObject({ name, description: '', metadata: { team: 'west' }, record_version: 0 });
    expect((await rest('POST', '/api/claim-queues', { name })).error.code).toBe('claim_queue_exists');
    expect((await rest('POST', '/api/claim-queues', { name: 'a b' })).error.code).toBe('invalid_argument');
    const path = `/api/claim-queues/${made.data.id}`;
    const changed = await rest('PATCH', path, { description: 'leads that nobody has' }, 1);
    expect(changed.data).toMatchObject({ name, description: 'leads that nobody has', record_version: 1 });
    expect((await rest('PATCH', `${path}?expected_version=7`, { description: '' })).error.code).toBe(
      'version_conflict',
    );
    const { data: all } = await rest('GET', '/api/claim-queues?pagination.page_size=200');
    expect(all).toContainEqual((await rest('GET', path)).data);
    const { poolId, queueId } = await pondOf(1);
    await queued(poolId);
    expect((await rest('DELETE', `/api/claim-queues/${queueId}`)).error.code).toBe('claim_queue_in_use');
    expect((await rest('DELETE', path)).data.id).toBe(made.data.id);
    expect((await rest('GET', path)).error.code).toBe('not_found');
  });

  it('has to be there for the pools that name it', async () => {
    const gone = '01900000-0000-7000-8000-000000000001';
    const config = { routing_mode: 'claim', claim_queue_id: gone };
    const answer = await rest('POST', '/api/pools', { name: freshName(), config });
    expect([answer.error.code, answer.error.message]).toEqual(['not_found', expect.stringContaining(gone)]);
    const without = { routing_mode: 'claim' };
    const lacking = await rest('POST', '/api/pools', { name: freshName(), config: without });
    expect(lacking.error.message).toContain('config.claim_queue_id is missing');
  });
});

describe('work in a claim pool', () => {
  it('waits with its claimants, is claimed by one, and rescinded for the others', async () => {
    const { poolId, ids, queueId } = await pondOf(3);
    const [first = '', second = '', third = ''] = ids;
    const decision = await routed(poolId);
    expect(decision).toMatchObject({ outcome: 'queued_for_claim', outcome_class: 'waiting', assignment_ids: [] });
    const itemId = String(decision['claim_item_id']);
    expect(itemId).toBe(decision.id);
    expect(await itemsFor(queueId, second)).toEqual([itemId]);
    const claims = await Promise.all(ids.map((id, index) => act('claim', itemId, id, index)));
    const [winner] = claims.filter(({ error }) => error.code === '');
    expect(claims.map(({ error }) => error.code).sort()).toEqual(['', 'claim_rescinded', 'claim_rescinded']);
    const winnerId = String(winner?.data['recipient_id']);
    expect(winner?.data).toMatchObject({ state: 'CLAIM_STATE_CLAIMED', offer: 'CLAIM_OFFER_STATE_CLAIMED' });
    const whole = await item(itemId);
    const states = (whole['offers'] as readonly { recipient_id: string; state: string }[]).map((each) => each.state);
    expect(states.sort()).toEqual([
      'CLAIM_OFFER_STATE_CLAIMED',
      'CLAIM_OFFER_STATE_RESCINDED',
      'CLAIM_OFFER_STATE_RESCINDED',
    ]);
    const assignment = await rest('GET', `/api/assignments/${String(whole['assignment_id'])}`);
    expect(assignment.data).toMatchObject({
      ...{ state: 'ASSIGNMENT_STATE_ACTIVE', recipient_id: winnerId, decision_id: decision.id, pool_id: poolId },
    });
    expect(await committed(winnerId)).toBe(1);
    // Claiming again is fine; completing twice frees once.
    expect((await act('claim', itemId, winnerId)).data['assignment_id']).toBe(whole['assignment_id']);
    await Promise.all([act('complete', itemId, winnerId), act('complete', itemId, winnerId, 1)]);
    expect(await item(itemId)).toMatchObject({ state: 'CLAIM_STATE_COMPLETED' });
    expect(await committed(winnerId)).toBe(0);
    const late = await act(
      'claim',
      itemId,
      [first, second, third].find((id) => id !== winnerId),
    );
    expect(late.error.code).toBe('claim_rescinded');
    expect((await act('release', itemId, winnerId)).error.code).toBe('claim_state_conflict');
    expect(await itemsFor(queueId, winnerId)).toEqual([]);
  });

  it('replays byte for byte and explains who was ranked', async () => {
    const { poolId } = await pondOf(3, { waves: [{ size: 1 }, { after: '1h' }] });
    const { id } = await routed(poolId);
    const replayed = await rest('GET', `/api/routing/decisions/${id}:replay`, undefined, 1);
    expect(replayed.data).toMatchObject({ is_same: true, replayed_outcome: 'queued_for_claim' });
    const { data } = await rest('GET', `/api/routing/decisions/${id}:explain`);
    expect(data).toMatchObject({ explanation: { winners: [], hops: [{ eligible: 3 }] } });
    expect(await item(id)).toMatchObject({ offered: 1, claimants: 3 });
  });

  it('comes to nobody when nobody may be chosen, and comes twice once', async () => {
    const { poolId } = await pondOf(1, {}, { state: 'RECIPIENT_STATE_AWAY' });
    expect(await routed(poolId)).toMatchObject({ outcome: 'no_eligible_recipient', claim_item_id: '' });
    const twice = await pondOf(1, {}, {}, { dedupe: { window: '1h' } });
    const first = await routed(twice.poolId, { dedupe_key: 'k' });
    expect(await routed(twice.poolId, { dedupe_key: 'k' })).toMatchObject({
      ...{ outcome: 'duplicate', duplicate_of: first.id },
    });
  });

  it('is released for others, or not at all', async () => {
    const { poolId, ids } = await pondOf(2, { cooldown_after_release: '1h' }, { capacity: { max_concurrent: 1 } });
    const [first = '', second = ''] = ids;
    const itemId = await queued(poolId);
    await act('claim', itemId, first);
    expect((await act('release', itemId, second)).error.code).toBe('claim_state_conflict');
    const released = await act('release', itemId, first);
    expect(released.data).toMatchObject({ state: 'CLAIM_STATE_OPEN', recipient_id: '', assignment_id: '' });
    expect((await act('release', itemId, first)).error.code).toBe('');
    expect(await committed(first)).toBe(0);
    const rests = await act('claim', itemId, first);
    expect([rests.error.code, rests.error.retry_after]).toEqual([
      'claim_budget_exhausted',
      expect.stringMatching(/ms$/),
    ]);
    expect((await act('claim', itemId, second)).data).toMatchObject({ state: 'CLAIM_STATE_CLAIMED' });

    const kept = await pondOf(1, { allow_release: false });
    const [only = ''] = kept.ids;
    const keptId = await queued(kept.poolId);
    await act('claim', keptId, only);
    const refused = await act('release', keptId, only);
    expect([refused.error.code, refused.error.message]).toEqual([
      'claim_state_conflict',
      expect.stringContaining('allow_release'),
    ]);
  });

  it('ends with its assignment: what was completed is completed, what was taken away goes to nobody else', async () => {
    const { poolId, ids } = await pondOf(1);
    const [only = ''] = ids;
    const [done, taken] = [await queued(poolId), await queued(poolId)];
    for (const [itemId, verb] of [
      [done, 'complete'],
      [taken, 'release'],
    ] as const) {
      const { data } = await act('claim', itemId, only);
      await rest('POST', `/api/assignments/${String(data['assignment_id'])}:${verb}`, {}, 1);
    }
    expect(await item(done)).toMatchObject({ state: 'CLAIM_STATE_COMPLETED' });
    expect(await item(taken)).toMatchObject({ state: 'CLAIM_STATE_WITHDRAWN' });
    expect((await act('complete', done, only)).error.code).toBe('');
    expect(await committed(only)).toBe(0);
  });
});

describe('a claim', () => {
  it('is refused at capacity by the same numbers as every other door', async () => {
    const { poolId, ids } = await pondOf(1, {}, { capacity: { max_concurrent: 2, unit_costs: { chat: 2 } } });
    const [only = ''] = ids;
    const [small, large] = [await queued(poolId), await queued(poolId, { channel: 'chat' })];
    await act('claim', small, only);
    const refused = await act('claim', large, only);
    expect([refused.error.code, refused.error.message]).toEqual([
      'recipient_capacity_exhausted',
      expect.stringContaining('1 of 2 in use'),
    ]);
    await act('complete', small, only);
    expect((await act('claim', large, only)).data).toMatchObject({ state: 'CLAIM_STATE_CLAIMED' });
    expect(await committed(only)).toBe(2);
  });

  it('is bounded by the budget, which names what is used and when its period ends', async () => {
    const budget = { max_claims: 2, period: { fixed: 'day', timezone: 'America/Chicago' }, release_refunds: true };
    const { poolId, ids } = await pondOf(2, { budget });
    const [first = '', second = ''] = ids;
    const items = await Promise.all([1, 2, 3].map(() => queued(poolId)));
    const [a = '', b = '', c = ''] = items;
    await act('claim', a, first);
    await act('claim', b, first);
    await act('complete', a, first);
    const refused = await act('claim', c, first);
    expect(refused.error).toMatchObject({
      code: 'claim_budget_exhausted',
      message: expect.stringMatching(/has used 2 of 2 claims .* the period ends at 20\d\d-.*Z/),
      retry_after: expect.stringMatching(/^\d+ms$/),
    });
    // Another recipient has a budget of its own; what is released is refunded.
    expect((await act('claim', c, second)).error.code).toBe('');
    await act('release', b, first);
    expect((await act('claim', b, first)).error.code).toBe('');
    const open = await pondOf(1, { budget: { max_claims: 9, period: { rolling: '1h' }, max_open: 1 } });
    const [only = ''] = open.ids;
    const [d, e] = [await queued(open.poolId), await queued(open.poolId)];
    await act('claim', d, only);
    expect((await act('claim', e, only)).error.message).toContain('1 of 1 claims');
    await act('complete', d, only);
    expect((await act('claim', e, only)).error.code).toBe('');
  });

  it('counts for the team that the recipient is in, where the budget is shared', async () => {
    const budget = { max_claims: 2, period: { rolling: '1h' }, scope: 'team', release_refunds: true };
    const { poolId, ids } = await pondOf(2, { budget }, { attributes: { team: { string_value: 'west' } } });
    const [first = '', second = ''] = ids;
    const alone = { name: 'alone', state: 'RECIPIENT_STATE_AVAILABLE' };
    const third = (await rest('POST', `/api/pools/${poolId}/recipients`, alone)).data.id;
    const [a = '', b = '', c = '', d = ''] = await Promise.all([1, 2, 3, 4].map(() => queued(poolId)));
    await act('claim', a, first);
    await act('claim', b, second, 1);
    const refused = await act('claim', c, first, 1);
    expect(refused.error).toMatchObject({
      code: 'claim_budget_exhausted',
      message: expect.stringMatching(/the team "west" of recipient .* has used 2 of 2 claims/),
    });
    // Who is in no team counts by itself; who moves has what its new team has left.
    expect((await act('claim', c, third)).error.code).toBe('');
    await rest('PATCH', `/api/recipients/${first}`, { attributes: { team: { string_value: 'east' } } });
    expect((await act('claim', d, first, 1)).error.code).toBe('');
    // What it gives back counts no more for the team that it was counted for.
    await act('release', a, first, 1);
    expect((await act('claim', a, second)).error.code).toBe('');
    const e = await queued(poolId);
    expect((await act('claim', e, second)).error.message).toContain('the team "west"');
    expect((await act('claim', e, first)).error.code).toBe('');
  });

  it('bounds what a team has open together, and lets its recipients rest each for itself', async () => {
    const budget = { max_claims: 9, period: { rolling: '1h' }, scope: 'team', max_open: 1, cooldown_after_claim: '1h' };
    const { poolId, ids } = await pondOf(2, { budget }, { attributes: { team: { string_value: 'west' } } });
    const [first = '', second = ''] = ids;
    const [a, b, c] = [await queued(poolId), await queued(poolId), await queued(poolId)];
    await act('claim', a, first);
    expect((await act('claim', b, second, 1)).error.message).toMatch(/the team "west" .* has 1 of 1 claims .* open/);
    await act('complete', a, first);
    expect((await act('claim', b, second, 1)).error.code).toBe('');
    await act('complete', b, second);
    expect((await act('claim', c, first)).error.message).toMatch(/recipient \S+ claims nothing of queue \S+ until/);
  });

  it('is for those alone to whom the item is offered', async () => {
    const { poolId, ids } = await pondOf(2, { waves: [{ size: 1 }, { after: '1h' }] });
    const stranger = await pondOf(1);
    const itemId = await queued(poolId);
    const { data } = await rest('GET', `/api/claims/${itemId}`);
    const [{ recipient_id: offered } = { recipient_id: '' }] = data['offers'] as readonly { recipient_id: string }[];
    const other = ids.find((id) => id !== offered);
    expect((await act('claim', itemId, other)).error.message).toContain('its wave has not begun');
    expect((await act('claim', itemId, stranger.ids[0])).error.code).toBe('claim_not_offered');
    await rest('POST', `/api/recipients/${offered}/pause`, { reason: 'lunch' });
    expect((await act('claim', itemId, offered)).error.message).toContain('RECIPIENT_STATE_PAUSED');
    await rest('POST', `/api/recipients/${offered}/resume`, {});
    await rest('POST', `/api/pools/${poolId}:set_enabled`, { enabled: false, reason: 'stop' });
    const killed = await act('claim', itemId, offered);
    expect([killed.error.code, killed.error.message]).toEqual(['claim_not_offered', expect.stringContaining('kill')]);
    expect((await act('claim', itemId, '01900000-0000-7000-8000-000000000001')).error.code).not.toBe('');
  });
});

describe('fallbacks and strategies', () => {
  it('kind claim offers work to those who are away or full now', async () => {
    const queueId = await queue();
    const config = { fallback: { kind: 'claim', target: queueId } };
    const { data: pool } = await rest('POST', '/api/pools', { name: freshName(), config });
    const limit = { capacity: { max_concurrent: 1 } };
    const one = { name: 'r', state: 'RECIPIENT_STATE_AVAILABLE', ...limit };
    const only = (await rest('POST', `/api/pools/${pool.id}/recipients`, one)).data.id;
    const inactive = { name: 's', status: 'STATUS_INACTIVE', state: 'RECIPIENT_STATE_AVAILABLE' };
    await rest('POST', `/api/pools/${pool.id}/recipients`, inactive);
    const [assignmentId] = (await routed(pool.id))['assignment_ids'] as string[];
    const waiting = await routed(pool.id);
    expect(waiting).toMatchObject({ outcome: 'queued_for_claim', reason: 'no_eligible_recipient' });
    expect(await item(waiting.id)).toMatchObject({ claimants: 1, queue_id: queueId });
    expect((await act('claim', waiting.id, only)).error.code).toBe('recipient_capacity_exhausted');
    await rest('POST', `/api/assignments/${assignmentId}:complete`, {});
    expect((await act('claim', waiting.id, only)).error.code).toBe('');
    const replayed = await rest('GET', `/api/routing/decisions/${waiting.id}:replay`);
    expect(replayed.data).toMatchObject({ is_same: true });
  });

  it('shark_tank and its recipes claim without being told to', async () => {
    const queueId = await queue();
    const pool = async (fields: object): Promise<string> => {
      const answer = await rest('POST', '/api/pools', { name: freshName(), ...fields });
      if (answer.error.code !== '') return answer.error.message;
      for (const name of ['a', 'b']) {
        const one = { name, state: 'RECIPIENT_STATE_AVAILABLE' };
        await rest('POST', `/api/pools/${answer.data.id}/recipients`, one);
      }
      return answer.data.id;
    };
    const waves = { waves: [{ size: 1 }, { after: '60s' }], claim_ttl: '90s' };
    const tank = await pool({ strategy: 'shark_tank', config: { claim_queue_id: queueId, strategy_params: waves } });
    const found = await item(await queued(tank));
    expect(found).toMatchObject({ offered: 1, claimants: 2 });
    expect(Date.parse(String(found['expires_at'])) - Date.parse(String(found['queued_at']))).toBe(90_000);
    const pond = await pool({ config: { recipe: { name: 'lead_pond' }, claim_queue_id: queueId } });
    expect(await item(await queued(pond))).toMatchObject({ offered: 2, claimants: 2 });
    const speed = await pool({ config: { recipe: { name: 'speed_to_lead' }, claim_queue_id: queueId } });
    expect(await item(await queued(speed))).toMatchObject({ offered: 1, claimants: 2 });
    expect(await pool({ strategy: 'shark_tank' })).toContain('shark_tank needs it');
    const auto = { strategy: 'shark_tank', config: { claim_queue_id: queueId, routing_mode: 'auto' } };
    expect(await pool(auto)).toContain('at odds');
    const nested = { strategy_tree: { strategy: 'chain', of: ['shark_tank'] }, claim_queue_id: queueId };
    expect(await pool({ config: nested })).toContain('decides how the whole pool works');
  });
});
