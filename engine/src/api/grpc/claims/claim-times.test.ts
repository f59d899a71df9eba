/** What time does to work that waits to be claimed, on two nodes that both look at it. */
import { describe, expect, it } from 'vitest';
import { sleep, systemClock } from '../../../kernel/index.js';
import { ClaimKit, freshName, type Data } from '../testing/claim-kit.js';

const { act, item, itemsFor, once, pondOf, queued, rest, routed } = new ClaimKit();

describe('time', () => {
  it('begins waves, and declines begin them sooner', async () => {
    const { poolId, ids, queueId } = await pondOf(3, {
      waves: [{ size: 1 }, { size: 1, after: '1s' }, { after: '1h' }],
    });
    const itemId = await queued(poolId);
    const found = await once(itemId, ({ offered }) => offered === 2);
    expect(found).toMatchObject({ offered: 2, state: 'CLAIM_STATE_OPEN' });
    const offers = found['offers'] as readonly { recipient_id: string }[];
    const last = ids.find((id) => !offers.some((each) => each.recipient_id === id)) ?? '';
    for (const { recipient_id: id } of offers) expect((await act('decline', itemId, id)).error.code).toBe('');
    expect((await act('claim', itemId, offers[0]?.recipient_id)).error.message).toContain('turned the item down');
    await once(itemId, ({ offered }) => offered === 3);
    expect(await itemsFor(queueId, last)).toEqual([itemId]);
    expect((await act('claim', itemId, last)).data).toMatchObject({ state: 'CLAIM_STATE_CLAIMED' });
  });

  it('begins no wave in a paused pool, and what is claimed there is finished', async () => {
    const { poolId } = await pondOf(2, { waves: [{ size: 1 }, { after: '1s' }] });
    const itemId = await queued(poolId);
    const [{ recipient_id: offered } = { recipient_id: '' }] = (await item(itemId))['offers'] as readonly {
      recipient_id: string;
    }[];
    await rest('PATCH', `/api/pools/${poolId}`, { status: 'STATUS_PAUSED' });
    expect(await routed(poolId)).toMatchObject({ outcome: 'pool_disabled' });
    await sleep(systemClock(), 2_500);
    expect(await item(itemId)).toMatchObject({ offered: 1 });
    expect((await act('claim', itemId, offered)).data).toMatchObject({ state: 'CLAIM_STATE_CLAIMED' });
    expect((await act('complete', itemId, offered)).data).toMatchObject({ state: 'CLAIM_STATE_COMPLETED' });
  });

  it('lets what nobody claims expire, once, and its pool falls back', async () => {
    const spare = (await rest('POST', '/api/pools', { name: freshName() })).data.id;
    const one = { name: 'r', state: 'RECIPIENT_STATE_AVAILABLE' };
    const spareId = (await rest('POST', `/api/pools/${spare}/recipients`, one)).data.id;
    const fallback = { kind: 'overflow', on: ['claim_expired'] };
    const claim = { claim_ttl: '1s' };
    const { poolId, ids } = await pondOf(1, claim, {}, { fallback, overflow_pool_id: spare });
    const itemId = await queued(poolId);
    expect(await once(itemId, ({ state }) => state !== 'CLAIM_STATE_OPEN')).toMatchObject({
      ...{ state: 'CLAIM_STATE_EXPIRED', ended_at: expect.any(String) },
    });
    expect((await act('claim', itemId, ids[0])).error.code).toBe('claim_state_conflict');
    const decisions = async (pool: string): Promise<readonly Data[]> => {
      const { data } = await rest('GET', `/api/routing/decisions?pool_id=${pool}`);
      return data as unknown as readonly Data[];
    };
    for (let tries = 0; tries < 100 && (await decisions(spare)).length === 0; tries += 1) {
      await sleep(systemClock(), 50);
    }
    const [decision] = await decisions(spare);
    expect(decision).toMatchObject({ outcome: 'assigned', slate: [{ recipient_id: spareId }] });
    const again = await rest('GET', `/api/routing/decisions/${decision?.id}:replay`);
    expect(again.data).toMatchObject({ is_same: true });
    expect(await decisions(spare)).toHaveLength(1);

    const lonely = await pondOf(1, claim);
    await queued(lonely.poolId);
    for (let tries = 0; tries < 100 && (await decisions(lonely.poolId)).length < 2; tries += 1) {
      await sleep(systemClock(), 50);
    }
    expect((await decisions(lonely.poolId))[0]).toMatchObject({ outcome: 'claim_expired', reason: 'claim_expired' });
  });
});
