/** Routing from code, over the real wire. */
import { DuctorClient } from '@ductor/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { docsPage } from '../support/docs-page.js';

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const { apiKey } = await node.tenant('sdk-routing');
const client = new DuctorClient({ engine: node.address, apiKey });
afterAll(async () => {
  client.close();
  await node.stop();
  await database.drop();
});

async function post(path: string, body: object): Promise<string> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const { json } = await httpCall(node.address, { method: 'POST', path, headers, body: JSON.stringify(body) });
  return (json as { data: { id: string } }).data.id;
}

const member = { state: 'RECIPIENT_STATE_AVAILABLE', capacity: { max_concurrent: 1 }, tags: ['billing'] };
const poolId = await post('/api/pools', { name: 'agents' });
const recipientId = await post(`/api/pools/${poolId}/recipients`, { name: 'Jordan', ...member });
const offers = await post('/api/pools', { name: 'offers', config: { requires_acceptance: true } });
await post(`/api/pools/${offers}/recipients`, { name: 'Ana', ...member });

describe('routing from code', () => {
  it('is as the page says', async () => {
    const { text } = docsPage('routing.md');
    for (const line of [
      'client.routing.route(lead, { poolId, idempotencyKey: lead.id })',
      'client.routing.complete(',
    ]) {
      expect(text).toContain(line);
    }
    const lead = {
      id: 'lead-4473',
      type: 'lead',
      attributes: { state: 'TX', amount: 62000 },
      requiredSkills: ['billing'],
    };
    const decision = await client.routing.route(lead, { poolId, idempotencyKey: lead.id });
    expect(decision).toMatchObject({
      ...{ outcome: 'assigned', outcomeClass: 'success', routableId: lead.id, poolId },
      ...{ slate: [{ recipientId, units: 1 }], decidedAt: expect.any(Date), explanation: undefined },
    });
    const [assignmentId = ''] = decision.assignmentIds;
    expect(await client.routing.assignment(assignmentId)).toMatchObject({ state: 'ACTIVE', endedAt: undefined });
    expect((await client.routing.route(lead, { poolId, idempotencyKey: lead.id })).id).toBe(decision.id);
    const full = await client.routing.preview({ id: 'lead-2' }, { poolId, explain: true });
    expect(full).toMatchObject({ outcome: 'no_eligible_recipient', outcomeClass: 'refused', assignmentIds: [] });
    expect(full.explanation?.hops[0]?.dropped).toMatchObject([{ verdict: 'at_concurrency', count: 1 }]);
    const health = await client.routing.reportOutcome(assignmentId, { success: true, latency: '350ms' });
    expect(health).toEqual({
      ...{ recipientId, failuresInARow: 0, latencyMs: 350, ejectedUntil: undefined, cooldownUntil: undefined },
    });
    expect(await client.routing.complete(assignmentId)).toMatchObject({
      state: 'COMPLETED',
      endedAt: expect.any(Date),
    });
    expect((await client.routing.explain(decision.id)).explanation?.winners).toEqual([recipientId]);
    expect(await client.routing.replay(decision.id)).toBe(true);
  });

  it('offers work that is accepted, confirmed, declined or released', async () => {
    const offer = async (): Promise<string> => {
      const { outcome, assignmentIds } = await client.routing.route({ id: 'lead' }, { poolId: offers });
      expect(outcome).toBe('offered');
      return assignmentIds[0] ?? '';
    };
    const [first, second] = [await offer(), await offer()];
    expect(await client.routing.accept(first)).toMatchObject({ id: first, state: 'ACTIVE' });
    await expect(client.routing.confirm(second)).rejects.toMatchObject({ code: 'recipient_capacity_exhausted' });
    expect(await client.routing.decline(second, 'at lunch')).toMatchObject({ state: 'DECLINED' });
    expect(await client.routing.release(first, 'gone')).toMatchObject({ state: 'RELEASED' });
    expect(await client.routing.confirm(await offer())).toMatchObject({ state: 'ACTIVE' });
  });

  it('says what is wrong', async () => {
    const misspelt = { pool: poolId } as never;
    await expect(client.routing.route({ id: 'lead' }, misspelt)).rejects.toThrow(/pool is no option/);
    await expect(client.routing.route({ id: 'lead', skills: [] } as never)).rejects.toThrow(/skills is no option/);
    await expect(client.routing.complete('x')).rejects.toMatchObject({ code: 'invalid_argument' });
    const missing = client.routing.explain('0198c1d0-0000-7000-8000-000000000001');
    await expect(missing).rejects.toMatchObject({ code: 'not_found' });
  });
});
