/** docs/bundles.md: its commands as they stand, its YAML, and its lines of the SDK. */
import { DuctorClient } from '@ductor/sdk';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { docsPage } from '../support/docs-page.js';
import { shellCurl } from '../support/shell-curl.js';

const { text: page, commands, printed, only } = docsPage('bundles.md');

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const acme = await node.tenant('acme');
const variables: Record<string, string> = { DUCTOR_API_KEY: acme.apiKey, DUCTOR_TENANT: acme.tenantId };
const client = new DuctorClient({ engine: node.address, apiKey: (await node.tenant('sdk')).apiKey });
afterAll(async () => {
  client.close();
  await node.stop();
  await database.drop();
});

interface Plan {
  readonly changes: readonly Readonly<Record<string, unknown>>[];
  readonly unchanged: number;
  readonly plan_digest: string;
}

async function run(text: string): Promise<Plan> {
  const { status, json } = await shellCurl(only(text), node.address, variables);
  expect([text, status, json]).toEqual([text, 200, json]);
  return (json as { data: Plan }).data;
}

describe('the page about bundles', () => {
  it('diffs, applies under the plan, and exports', async () => {
    expect(commands).toHaveLength(3);
    const shown = await run('bundle:diff');
    const [first = {}] = shown.changes;
    const [example] = (printed[0] as { data: Plan }).data.changes;
    expect(first).toEqual(example);
    variables['PLAN'] = shown.plan_digest;
    const done = await run('bundle:apply');
    expect(done.plan_digest).toBe(shown.plan_digest);
    expect(done.changes.map(({ kind, name }) => [kind, name])).toEqual([
      ['pool', 'billing-agents'],
      ['rule', 'leads'],
    ]);
    const { status, json } = await shellCurl(only('bundle:apply'), node.address, variables);
    expect([status, (json as { error: { code: string } }).error.code]).toEqual([412, 'version_conflict']);
    expect(await run('/api/routing/bundle ')).toMatchObject({ rules: [{ name: 'leads', pool_id: 'billing-agents' }] });
  });

  it('has YAML that is a bundle', async () => {
    const bundle: unknown = parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    const headers = { ...bearer(acme.apiKey), 'content-type': 'application/json' };
    const apply = (): Promise<{ status: number; json: unknown }> =>
      httpCall(node.address, {
        ...{ method: 'POST', path: '/api/routing/bundle:apply', headers },
        body: JSON.stringify({ bundle, prune: ['pools', 'recipients', 'rules'] }),
      });
    expect(await apply()).toMatchObject({ status: 200, json: { data: { warnings: [] } } });
    expect(await apply()).toMatchObject({ status: 200, json: { data: { changes: [], unchanged: 6 } } });
  });

  it('has lines of the SDK that work', async () => {
    const topology = {
      pools: [{ name: 'billing-agents', strategy: 'least_loaded' }],
      recipients: [{ name: 'Jordan Reyes', externalId: 'agent-4471', poolId: 'billing-agents' }],
    };
    for (const line of ['client.bundles.diff(topology)', 'expectedPlan: plan.planDigest']) expect(page).toContain(line);
    const plan = await client.bundles.diff(topology);
    const done = await client.bundles.apply(topology, { expectedPlan: plan.planDigest, reason: 'TICKET-12' });
    expect(done.changes.map(({ action }) => action)).toEqual(['create', 'create']);
    expect((await client.bundles.export()).recipients).toMatchObject([{ externalId: 'agent-4471' }]);
    expect((await client.bundles.diff(await client.bundles.export(), { prune: ['recipients'] })).changes).toEqual([]);
    const unknown = client.bundles.apply(topology, { plan: 'x' } as object);
    await expect(unknown).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
