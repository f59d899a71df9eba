/** docs/pools.md by its own commands: each is run as it stands, and answers what the page prints. */
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall, type HttpAnswer } from '../../engine/src/api/testing/http-call.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { TENANT_SCOPES, type Scope } from '../../engine/src/tenancy/index.js';
import { docsPage } from '../support/docs-page.js';
import { shellCurl } from '../support/shell-curl.js';

const { printed, only } = docsPage('pools.md');

const database = await createTestDatabase();
const node = await startTestNode(database.db);
afterAll(async () => {
  await node.stop();
  await database.drop();
});
const { apiKey, tenantId } = await node.tenant('acme');
const variables: Record<string, string> = { DUCTOR_API_KEY: apiKey, DUCTOR_TENANT: tenantId };

/** Runs the command that holds this text. */
async function run(text: string): Promise<{ readonly status: number; readonly data: Record<string, unknown> }> {
  const { status, json } = await shellCurl(only(text), node.address, variables);
  if (status !== 200) throw new RangeError(`${status}: ${JSON.stringify(json)}`);
  return { status, data: (json as { data: Record<string, unknown> }).data };
}

const rest = (method: string, path: string, body?: unknown, key = apiKey): Promise<HttpAnswer> =>
  httpCall(node.address, {
    ...{ method, path, headers: { ...bearer(key), 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Fails unless each thing that is printed is there with its type; texts that are elided or times may differ. */
function expectShape(shown: unknown, answered: unknown, at = ''): void {
  expect(typeof answered, at).toBe(typeof shown);
  expect(Array.isArray(answered), at).toBe(Array.isArray(shown));
  if (typeof shown !== 'object' || shown === null) return;
  for (const [key, value] of Object.entries(shown)) {
    expectShape(value, (answered as Record<string, unknown>)[key], `${at}.${key}`);
  }
}

describe('the page about pools', () => {
  it('creates a pool and prints what it answers', async () => {
    const { status, data } = await run('"name": "billing-agents"');
    expect(status).toBe(200);
    expectShape(printed[0], { data });
    const { id: _id, created_at: _at, ...rest } = (printed[0] as { data: Record<string, unknown> }).data;
    expect(data).toMatchObject(rest);
    // Lists are always there; what was not sent is not.
    const config = { routing_mode: 'auto', default_timeout: '30s', max_routing_depth: 3, enrichments: [] };
    expect(data['config']).toEqual(config);
    variables['POOL_ID'] = String(data['id']);
  });

  it('reads one and lists those that are active', async () => {
    const one = await run('-s https://api.ductor.io/api/pools/$POOL_ID \\\n');
    expect(one.data).toMatchObject({ name: 'billing-agents', description: 'Tier-2 billing support' });
    await rest('POST', '/api/pools', { name: 'asleep', status: 'STATUS_PAUSED' });
    const { data } = await run('status=STATUS_ACTIVE');
    expect(data).toMatchObject([{ name: 'billing-agents' }]);
    expect(data).toHaveLength(1);
  });

  it('updates only what is sent', async () => {
    const { data } = await run('"weighted_round_robin", "config"');
    expect(data).toMatchObject({ strategy: 'weighted_round_robin', record_version: 1, metadata: { team: 'billing' } });
    expect(data['config']).toMatchObject({ routing_mode: 'auto', default_timeout: '45s', max_routing_depth: 3 });
    const cleared = await rest('PATCH', `/api/pools/${variables['POOL_ID']}`, { config: { max_routing_depth: null } });
    expect(cleared.json).toMatchObject({ data: { config: { default_timeout: '45s' }, record_version: 2 } });
    expect(JSON.stringify(cleared.json)).not.toContain('max_routing_depth');
  });

  it('refuses a guard that is behind with 412 and the current version, and takes one that is not', async () => {
    const behind = await shellCurl(only(':set_enabled'), node.address, variables);
    expect(behind.status).toBe(412);
    expect(behind.json).toMatchObject({
      error: { code: 'version_conflict', details: [{ path: 'expected_version', value: '4' }] },
    });
    expect(JSON.stringify(behind.json)).toContain('record_version 2');
    for (const description of ['once', 'twice']) {
      await rest('PATCH', `/api/pools/${variables['POOL_ID']}`, { description });
    }
    const { status, data } = await run(':set_enabled');
    expect(status).toBe(200);
    expect(data).toMatchObject({
      record_version: 5,
      config: { kill_switch: true, kill_switch_reason: 'provider outage — halting dispatch', kill_switch_by: 'acme' },
    });
    const on = await rest('POST', `/api/pools/${variables['POOL_ID']}:set_enabled`, { enabled: true });
    expect(JSON.stringify(on.json)).not.toContain('kill_switch');
  });

  it('creates a recipient in the pool', async () => {
    const { status, data } = await run('"name": "Jordan Reyes"');
    expect(status).toBe(200);
    expect(data).toMatchObject({
      pool_id: variables['POOL_ID'],
      external_id: 'agent-4471',
      state: 'RECIPIENT_STATE_AVAILABLE',
      status: 'STATUS_ACTIVE',
      weight: 2,
      capacity: { max_concurrent: 5, daily_limit: 40, current: 0, held: 0, daily_count: 0 },
      tags: ['billing', 'spanish'],
      attributes: {
        skill: { string_value: 'billing' },
        seniority: { number_value: 3 },
        vip_certified: { bool_value: true },
      },
      timezone: 'America/Chicago',
      record_version: 0,
    });
    variables['RECIPIENT_ID'] = String(data['id']);
    const pool = await run('-s https://api.ductor.io/api/pools/$POOL_ID \\\n');
    expect(pool.data).toMatchObject({ recipient_ids: [data['id']] });
  });

  it('reads it, lists it by state, updates it', async () => {
    const one = await run('-s https://api.ductor.io/api/recipients/$RECIPIENT_ID \\\n');
    expect(one.data).toMatchObject({ name: 'Jordan Reyes' });
    const { data } = await run('state=RECIPIENT_STATE_AVAILABLE');
    expect(data).toMatchObject([{ name: 'Jordan Reyes' }]);
    const updated = await run('"weight": 1.5');
    expect(updated.data).toMatchObject({ weight: 1.5, capacity: { max_concurrent: 8, daily_limit: 40 } });
  });

  it('adds the pool up', async () => {
    const { json } = await rest('GET', `/api/pools/${variables['POOL_ID']}/stats`);
    expectShape(printed[1], json);
    expect(json).toMatchObject({
      data: { total_recipients: 1, active_recipients: 1, total_capacity: 8, used_capacity: 0, utilization: 0 },
    });
    const reset = await rest('POST', `/api/pools/${variables['POOL_ID']}/capacity/reset`);
    expect(reset.json).toMatchObject({ data: { recipients_affected: 1 } });
  });

  it('shows who has which capacity', async () => {
    const sent = await rest('POST', '/api/routing/route', {
      ...{ routable: { id: 'lead-7' }, pool_id: variables['POOL_ID'] },
    });
    const [assignment] = (sent.json as { data: { assignment_ids: string[] } }).data.assignment_ids;
    const { json } = await shellCurl(only('/api/capacity?pool_id'), node.address, variables);
    expectShape(printed[2], json);
    const shown = (printed[2] as { data: [{ holders: [object] }] }).data[0];
    const ids = { pool_id: variables['POOL_ID'], recipient_id: variables['RECIPIENT_ID'] };
    const moment = { since: expect.any(String), decision_id: expect.any(String) };
    const holders = [{ ...shown.holders[0], pool_id: ids.pool_id, assignment_id: assignment, ...moment }];
    expect(json).toMatchObject({ data: [{ ...shown, ...ids, holders }], pagination: { next_cursor: '' } });
    await rest('POST', `/api/assignments/${assignment}:complete`, {});
    const after = await rest('GET', '/api/capacity');
    expect(after.json).toMatchObject({ data: [{ committed: 0, free: 8, used_today: 1, holders: [] }] });
    const unknown = await rest('GET', '/api/capacity?pool_id=01932c07-0000-7000-8000-00000000000a');
    expect(unknown).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
  });

  it('pauses and resumes', async () => {
    expect((await run('/pause')).data).toMatchObject({ state: 'RECIPIENT_STATE_PAUSED' });
    expect((await run('/resume')).data).toMatchObject({ state: 'RECIPIENT_STATE_AVAILABLE' });
    const again = await rest('POST', `/api/recipients/${variables['RECIPIENT_ID']}/resume`);
    expect(again).toMatchObject({ status: 412, json: { error: { code: 'recipient_not_paused' } } });
  });

  it('deletes the pool and keeps its recipients', async () => {
    const gone = await rest('DELETE', `/api/pools/${variables['POOL_ID']}`);
    expect(gone.status).toBe(200);
    const left = await rest('GET', `/api/recipients/${variables['RECIPIENT_ID']}`);
    expect(left.json).toMatchObject({ data: { pool_id: '', memberships: [] } });
    expect(await rest('DELETE', `/api/recipients/${variables['RECIPIENT_ID']}`)).toMatchObject({ status: 200 });
    expect(await rest('GET', `/api/recipients/${variables['RECIPIENT_ID']}`)).toMatchObject({ status: 404 });
  });
});

describe('a key without the scope', () => {
  const CALLS: readonly (readonly [scope: Scope, method: string, path: string, body: object | undefined])[] = [
    ['pool:write', 'POST', '/api/pools', { name: 'x' }],
    ['pool:read', 'GET', '/api/pools', undefined],
    ['pool:read', 'GET', '/api/capacity', undefined],
    ['pool:delete', 'DELETE', '/api/pools/01932c07-0000-7000-8000-00000000000a', undefined],
    ['recipient:write', 'POST', '/api/recipients/01932c07-0000-7000-8000-00000000000a/pause', undefined],
    ['recipient:read', 'GET', '/api/recipients/01932c07-0000-7000-8000-00000000000a', undefined],
    ['recipient:delete', 'DELETE', '/api/recipients/01932c07-0000-7000-8000-00000000000a', undefined],
  ];
  it.each(CALLS)('%s is refused', async (scope, method, path, body) => {
    const others = TENANT_SCOPES.filter((each) => each !== scope);
    const lesser = await node.tenancy.createKey({ tenantId, name: `without ${scope}`, scopes: others });
    const answer = await rest(method, path, body, lesser.apiKey);
    expect(answer).toMatchObject({ status: 403, json: { error: { code: 'permission_denied' } } });
  });
});
