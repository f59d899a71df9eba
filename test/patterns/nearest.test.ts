import { createWorker } from '@ductor/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { nearestAgent } from '../../docs/patterns/nearest.js';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';

const MINUTES: Readonly<Record<string, number | undefined>> = { Ada: 40, Ben: 12, Cleo: undefined };

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const { apiKey } = await node.tenant('nearest');
const strategies = [nearestAgent(async (agent) => MINUTES[agent])];
const worker = createWorker({ engine: node.address, apiKey, strategies, handleSignals: false });
await worker.ready;
afterAll(async () => {
  await worker.stop();
  await node.stop();
  await database.drop();
});

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const { json } = await httpCall(node.address, { method: 'POST', path, headers, body: JSON.stringify(body) });
  return (json as { data: Record<string, unknown> }).data;
}

describe('work for the nearest agent', () => {
  it('goes to who is nearest and has room, and to nobody who cannot get there', async () => {
    const strategy_tree = { strategy: 'custom', params: { name: 'nearest-agent' }, of: ['least_loaded'] };
    const { id } = await post('/api/pools', { name: 'field-agents', config: { strategy_tree } });
    const names = new Map<unknown, string>();
    for (const name of Object.keys(MINUTES)) {
      const fields = { name, state: 'RECIPIENT_STATE_AVAILABLE', capacity: { max_concurrent: 1 } };
      names.set((await post(`/api/pools/${String(id)}/recipients`, fields))['id'], name);
    }
    const route = async (): Promise<unknown> => {
      const routed = await post('/api/routing/route', {
        pool_id: id,
        routable: { id: 'job', attributes: { place: 'Oslo' } },
      });
      const [first] = routed['slate'] as { recipient_id: string }[];
      return first === undefined ? routed['outcome'] : names.get(first.recipient_id);
    };
    expect([await route(), await route(), await route()]).toEqual(['Ben', 'Ada', 'no_eligible_recipient']);
  });
});
