/** Pools, recipients and rules from code, over the real wire: every verb, guards, and what an update leaves alone. */
import { DuctorClient, RecipientState, Status } from '@ductor/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { docsPage } from '../support/docs-page.js';

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const { apiKey } = await node.tenant('sdk-topology');
const client = new DuctorClient({ engine: node.address, apiKey });
afterAll(async () => {
  client.close();
  await node.stop();
  await database.drop();
});
const { pools, recipients, rules, routing } = client;
const AVAILABLE = { state: RecipientState.RECIPIENT_STATE_AVAILABLE };

describe('pools from code', () => {
  it('are made, read, changed, switched off and on, and deleted', async () => {
    const made = await pools.create({
      ...{ name: 'billing', description: 'Tier-2', strategy: 'smooth_weighted_round_robin' },
      config: { defaultTimeout: '30s', maxRoutingDepth: 3 },
      metadata: { team: 'billing', region: 'eu' },
    });
    expect(made).toMatchObject({ status: Status.STATUS_ACTIVE, recordVersion: 0, createdAt: expect.any(Date) });
    const changed = await pools.update(
      made.id,
      { strategy: 'weighted_round_robin', config: { defaultTimeout: '45s' }, metadata: { region: null } },
      { expectedVersion: made.recordVersion },
    );
    expect(changed).toMatchObject({ description: 'Tier-2', strategy: 'weighted_round_robin' });
    expect(changed).toMatchObject({
      config: { defaultTimeout: '45s', maxRoutingDepth: 3 },
      metadata: { team: 'billing' },
    });
    expect(Object.keys(changed.metadata)).toEqual(['team']);
    const old = pools.update(made.id, { description: 'x' }, { expectedVersion: made.recordVersion + 7 });
    await expect(old).rejects.toMatchObject({ code: 'version_conflict' });
    const off = await pools.setEnabled(made.id, false, { expectedVersion: changed.recordVersion, reason: 'outage' });
    expect(off.config).toMatchObject({ killSwitch: true, killSwitchReason: 'outage' });
    const stale = pools.setEnabled(made.id, true, { expectedVersion: changed.recordVersion });
    await expect(stale).rejects.toMatchObject({ code: 'version_conflict' });
    expect((await pools.setEnabled(made.id, true)).config?.killSwitch ?? false).toBe(false);
    expect(await pools.get(made.id)).toMatchObject({ name: 'billing' });
    await expect(pools.create({ name: 'billing' })).rejects.toMatchObject({ code: 'pool_exists' });
    await pools.delete(made.id);
    await expect(pools.get(made.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are listed page by page, by status', async () => {
    for (const name of ['a', 'b', 'c']) await pools.create({ name: `list-${name}`, status: Status.STATUS_PAUSED });
    const options = { status: Status.STATUS_PAUSED, pageSize: 2 };
    const first = await pools.list(options);
    const second = await pools.list({ ...options, cursor: first.nextCursor ?? '' });
    const names = [...first.pools, ...second.pools].map(({ name }) => name);
    expect([names, second.nextCursor]).toEqual([['list-a', 'list-b', 'list-c'], undefined]);
  });

  it('have figures, and counters that can be set to zero', async () => {
    const { id } = await pools.create({ name: 'figures' });
    await recipients.create(id, { name: 'Ana', ...AVAILABLE, capacity: { maxConcurrent: 4 } });
    await routing.route({ id: 'lead' }, { poolId: id });
    const stats = await pools.stats(id);
    expect(stats).toMatchObject({
      totalRecipients: 1,
      totalCapacity: 4,
      usedCapacity: 1,
      utilization: 0.25,
      queueDepth: 0,
    });
    expect(stats.updatedAt).toBeInstanceOf(Date);
    expect(await pools.resetCapacity(id)).toEqual({ poolId: id, recipientsAffected: 1 });
    expect(await pools.stats(id)).toMatchObject({ usedCapacity: 0 });
  });

  it('say what is wrong', async () => {
    await expect(pools.create({ name: 'bad', config: { maxOffers: 0 } })).rejects.toMatchObject({
      ...{ code: 'invalid_argument', details: [{ path: 'config.max_offers' }] },
    });
    await expect(pools.list({ state: 1 } as never)).rejects.toThrow(/state is no option/);
    const nothing = pools.update('0198c1d0-0000-7000-8000-000000000001', {});
    await expect(nothing).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('recipients from code', () => {
  it('are made, read, changed, paused, resumed, listed and deleted', async () => {
    const [pool, other] = [await pools.create({ name: 'from' }), await pools.create({ name: 'to' })];
    const made = await recipients.create(pool.id, {
      ...{ name: 'Jordan', type: 'agent', externalId: 'agent-4471', weight: 2, tags: ['billing'], ...AVAILABLE },
      capacity: { maxConcurrent: 5, dailyLimit: 40 },
      attributes: { skill: { stringValue: 'billing' }, seniority: { numberValue: 3 }, vip: { boolValue: true } },
      timezone: 'America/Chicago',
    });
    const guard = { expectedVersion: made.recordVersion };
    const change = { weight: 0, capacity: { maxConcurrent: 8 }, attributes: { seniority: null }, poolId: other.id };
    const changed = await recipients.update(made.id, change, guard);
    expect(changed).toMatchObject({ name: 'Jordan', weight: 0, poolId: other.id, tags: ['billing'] });
    expect(changed.capacity).toMatchObject({ maxConcurrent: 8, dailyLimit: 40, current: 0 });
    expect(Object.keys(changed.attributes).toSorted()).toEqual(['skill', 'vip']);
    const stale = recipients.update(made.id, { name: 'x' }, { expectedVersion: changed.recordVersion + 1 });
    await expect(stale).rejects.toMatchObject({ code: 'version_conflict' });
    const paused = await recipients.pause(made.id, 'lunch');
    expect(paused).toMatchObject({ state: RecipientState.RECIPIENT_STATE_PAUSED });
    const found = await recipients.list(other.id, { state: RecipientState.RECIPIENT_STATE_PAUSED });
    expect(found.recipients.map(({ id }) => id)).toEqual([made.id]);
    expect(await recipients.resume(made.id)).toMatchObject({ ...AVAILABLE, createdAt: expect.any(Date) });
    await expect(recipients.resume(made.id)).rejects.toMatchObject({ code: 'recipient_not_paused' });
    await recipients.delete(made.id);
    await expect(recipients.get(made.id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('rules from code', () => {
  it('are made, read, changed, reordered and deleted', async () => {
    const { id: poolId } = await pools.create({ name: 'ruled' });
    const effectiveTo = new Date('2100-01-01T00:00:00.000Z');
    const first = await rules.create({ name: 'vip', expr: 'routable.type == "lead"', poolId, effectiveTo });
    const second = await rules.create({ name: 'rest', expr: 'true', action: 'drop', enabled: false });
    expect(first).toMatchObject({ action: 'route', stop: true, enabled: true, effectiveTo });
    const guard = { expectedVersion: first.recordVersion };
    const changed = await rules.update(first.id, { priority: 5, effectiveTo: null, stop: false }, guard);
    expect(changed).toMatchObject({ name: 'vip', priority: 5, stop: false, effectiveTo: undefined, poolId });
    const ordered = await rules.reorder([second.id, first.id]);
    expect(ordered.map(({ id, priority }) => [id, priority])).toEqual([
      [second.id, 10],
      [first.id, 20],
    ]);
    expect((await rules.list()).rules.map(({ name }) => name)).toEqual(['rest', 'vip']);
    expect(await rules.get(second.id)).toMatchObject({ enabled: false });
    await rules.delete(second.id);
    expect((await rules.list({ pageSize: 5 })).rules).toHaveLength(1);
    await rules.delete(first.id);
  });
});

describe('decisions from code', () => {
  it('are made many at once, listed, read and exported', async () => {
    const { id: poolId } = await pools.create({ name: 'many' });
    const { id: recipientId } = await recipients.create(poolId, { name: 'Ana', ...AVAILABLE });
    const works = ['m1', 'm2'].map((id) => ({ work: { id }, poolId }));
    const answers = await routing.routeMany([...works, { work: { id: 'm3', dedupeKey: 'x'.repeat(300) }, poolId }]);
    expect(answers.slice(0, 2)).toMatchObject([
      { decision: { outcome: 'assigned' } },
      { decision: { outcome: 'assigned' } },
    ]);
    expect(answers[2]).toMatchObject({ error: { code: 'invalid_argument' } });
    const page = await routing.decisions({ poolId, outcome: 'assigned', pageSize: 1 });
    const rest = await routing.decisions({ poolId, cursor: page.nextCursor ?? '' });
    // Both were decided in one moment.
    const listed = [...page.decisions, ...rest.decisions].map(({ routableId }) => routableId);
    expect([page.decisions.length, listed.toSorted()]).toEqual([1, ['m1', 'm2']]);
    const id = page.decisions[0]?.id ?? '';
    expect(await routing.decision(id)).toMatchObject({ slate: [{ recipientId }] });
    const { record, documents } = await routing.exportDecision(id);
    expect(JSON.parse(record)).toMatchObject({ id, outcome: 'assigned' });
    expect(Object.keys(documents ?? {}).length).toBeGreaterThan(0);
  });

  it('of seats end with their owner, and at a rate limit of work without an assignment', async () => {
    const { id: poolId } = await pools.create({ name: 'seats', config: { recipe: { name: 'seat_pool' } } });
    const { id: recipientId } = await recipients.create(poolId, { name: 's', type: 'account_seat', ...AVAILABLE });
    await routing.route({ id: 'r7' }, { poolId });
    expect(await routing.releaseSeats('r7')).toBe(1);
    const resetAt = new Date('2100-01-01T00:00:00.000Z');
    const health = await routing.reportOutcome({ poolId, recipientId }, { success: false, resetAt });
    expect(health.cooldownUntil).toBeInstanceOf(Date);
    expect(await routing.route({ id: 'r8' }, { poolId })).toMatchObject({ outcome: 'all_cooling_down' });
  });

  it('and all of this stands on the pages', () => {
    const texts = [docsPage('pools.md').text, docsPage('routing.md').text].join('\n');
    for (const call of ['client.pools.update(', 'client.recipients.create(', 'client.rules.create(', 'routeMany']) {
      expect(texts).toContain(call);
    }
  });
});
