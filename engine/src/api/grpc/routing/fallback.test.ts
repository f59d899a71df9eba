/** Fallbacks on two nodes of one database that do not hear of each other. */
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../../store/testing/index.js';
import { type Data, twoNodes } from '../testing/two-nodes.js';

const database = testDatabase();
const rest = twoNodes(database, 'falls');

async function recipientIn(poolId: string, fields: object): Promise<string> {
  const made = await rest('POST', `/api/pools/${poolId}/recipients`, { state: 'RECIPIENT_STATE_AVAILABLE', ...fields });
  return made.id;
}

const route = (poolId: string, node = 0, more: object = {}): Promise<Data> =>
  rest('POST', '/api/routing/route', { pool_id: poolId, routable: { id: 'lead-1' }, explain: true, ...more }, node);

describe('a fallback', () => {
  it('to a recipient outside of the pool is exact, follows its changes on every node, and replays', async () => {
    const spares = await rest('POST', '/api/pools', { name: 'spares' });
    const spareId = await recipientIn(spares.id, { name: 'spare', capacity: { max_concurrent: 3 } });
    const config = { fallback: { kind: 'default_recipient' }, fallback_recipient_id: spareId };
    const { id } = await rest('POST', '/api/pools', { name: 'crew', config });
    const memberId = await recipientIn(id, { name: 'member', capacity: { max_concurrent: 1 } });

    const first = await route(id);
    expect(first).toMatchObject({ outcome: 'assigned', slate: [{ recipient_id: memberId }] });
    const both = await Promise.all(Array.from({ length: 6 }, (_, index) => route(id, index % 2)));
    const got = both.filter(({ outcome }) => outcome === 'assigned');
    expect(got).toHaveLength(3);
    for (const each of got) expect(each).toMatchObject({ slate: [{ recipient_id: spareId }], pool_id: id });
    expect(got[0]).toMatchObject({
      explanation: { hops: [{ fallback: 'default_recipient' }, { notes: [`override_by ${spareId}`] }] },
    });
    for (const each of both) {
      expect(await rest('GET', `/api/routing/decisions/${each.id}:replay`)).toMatchObject({ is_same: true });
    }
    await rest('PATCH', `/api/recipients/${spareId}`, { capacity: { max_concurrent: 4 } });
    expect((await route(id, 1))['outcome']).toBe('assigned');
    await rest('POST', `/api/recipients/${spareId}/pause`, {});
    expect((await route(id, 1))['outcome']).toBe('no_eligible_recipient');
    expect(await rest('GET', `/api/pools/${id}`)).toMatchObject({ recipient_ids: [memberId] });
  });

  it('puts work off as often as it says, and goes by what the caller says of that', async () => {
    const fallback = [{ kind: 'retry', delay: '5s', max_attempts: 1 }, { kind: 'dead_letter' }];
    const { id } = await rest('POST', '/api/pools', { name: 'nobody', config: { fallback } });
    expect((await route(id))['outcome']).toBe('deferred');
    const last = await route(id, 1, { tried: 1 });
    expect(last['outcome']).toBe('dead_lettered');
    expect(await rest('GET', `/api/routing/decisions/${last.id}:replay`)).toMatchObject({ is_same: true });
  });

  it('never spills over because of an outage unless it says so', async () => {
    const target = await rest('POST', '/api/pools', { name: 'target' });
    await recipientIn(target.id, { name: 'there' });
    const spill = { kind: 'overflow', target: target.id };
    const plain = await rest('POST', '/api/pools', { name: 'plain', config: { fallback: spill } });
    const brave = await rest('POST', '/api/pools', {
      name: 'brave',
      config: { fallback: { ...spill, on_outage: true } },
    });
    for (const { id } of [plain, brave]) {
      // Nobody counts for this one: the authority cannot be asked.
      const lostId = await recipientIn(id, { name: 'lost' });
      await database.db.query('delete from ductor.capacity_authority where recipient_id = $1::uuid', [lostId]);
    }
    const stays = await route(plain.id);
    expect(stays).toMatchObject({ outcome: 'capacity_authority_unavailable', pool_id: plain.id });
    const spilt = await route(brave.id);
    expect(spilt).toMatchObject({ outcome: 'assigned', pool_id: target.id });
    for (const { id } of [stays, spilt]) {
      expect(await rest('GET', `/api/routing/decisions/${id}:replay`)).toMatchObject({ is_same: true });
    }
  });
});
