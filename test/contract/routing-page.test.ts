/** docs/routing.md by its own commands: each is run as it stands, and answers what the page prints. */
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { OUTCOMES } from '../../engine/src/routing/index.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { until } from '../support/wait.js';
import { docsPage } from '../support/docs-page.js';
import { shellCurl } from '../support/shell-curl.js';

const { text: page, commands, printed, only } = docsPage('routing.md');

const database = await createTestDatabase();
const node = await startTestNode(database.db);
afterAll(async () => {
  await node.stop();
  await database.drop();
});
const { apiKey, tenantId } = await node.tenant('acme');
const variables: Record<string, string> = { DUCTOR_API_KEY: apiKey, DUCTOR_TENANT: tenantId };
const done = new Set<string>();

interface Data extends Record<string, unknown> {
  readonly id: string;
}

/** Runs the one command that holds this text. */
async function run(text: string): Promise<Data> {
  const command = only(text);
  done.add(command);
  const { status, json } = await shellCurl(command, node.address, variables);
  if (status !== 200) throw new RangeError(`${status}: ${JSON.stringify(json)}`);
  return (json as { data: Data }).data;
}

async function post(path: string, body: object): Promise<Data> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const { json } = await httpCall(node.address, { method: 'POST', path, headers, body: JSON.stringify(body) });
  return (json as { data: Data }).data;
}

/** Fails unless each thing that is printed is there with its type. */
function expectShape(shown: unknown, answered: unknown, at = ''): void {
  expect(typeof answered, at).toBe(typeof shown);
  expect(Array.isArray(answered), at).toBe(Array.isArray(shown));
  if (typeof shown !== 'object' || shown === null) return;
  for (const [key, value] of Object.entries(shown)) {
    expectShape(value, (answered as Record<string, unknown>)[key], `${at}.${key}`);
  }
}

describe('the page about routing', () => {
  it('routes, previews, explains and replays', async () => {
    variables['POOL_ID'] = (await post('/api/pools', { name: 'billing-agents' })).id;
    const member = { name: 'Jordan', state: 'RECIPIENT_STATE_AVAILABLE', tags: ['billing'] };
    await post(`/api/pools/${variables['POOL_ID']}/recipients`, member);
    const decision = await run('"idempotency_key"');
    expectShape(printed[0], { data: decision });
    expect(decision).toMatchObject({ outcome: 'assigned', routable_id: 'lead-4471', duplicate_of: '' });
    variables['DECISION_ID'] = decision.id;
    variables['ASSIGNMENT_ID'] = (decision['assignment_ids'] as string[])[0] ?? '';
    expect(await run('route:preview')).toMatchObject({ outcome: 'assigned', explanation: { hops: [{ eligible: 1 }] } });
    expect(await run('outcome=assigned')).toMatchObject([{ id: decision.id }]);
    expect(await run(':explain')).toMatchObject({ explanation: { hops: [{ ranking: [{ name: 'Jordan' }] }] } });
    const replayed = await run(':replay');
    expectShape(printed[1], { data: replayed });
    expect(replayed['is_same']).toBe(true);
  });

  it('lets work wait', async () => {
    variables['QUEUE_POOL_ID'] = (await run('"name": "support"')).id;
    const queued = await post('/api/routing/route', { pool_id: variables['QUEUE_POOL_ID'], routable: { id: 'later' } });
    expect(queued['outcome']).toBe('queued');
    variables['QUEUED_ID'] = queued.id;
    const waits = { decision_id: queued.id, reason: 'no_eligible_recipient', state: 'WAITING_STATE_WAITING' };
    expect(await run('waiting?pool_id')).toMatchObject([waits]);
    expect(await run(':remove')).toMatchObject({ decision_id: queued.id, state: 'WAITING_STATE_REMOVED' });
  });

  it('works values out of the work', async () => {
    const { id } = await run('"name": "by-region"');
    const member = { name: 'West', state: 'RECIPIENT_STATE_AVAILABLE', tags: ['west'] };
    await post(`/api/pools/${id}/recipients`, member);
    const preview = (zip: string, amount: number): Promise<Data> => {
      const routable = { id: 'w', attributes: { zip, amount } };
      return post('/api/routing/route:preview', { pool_id: id, routable, explain: true });
    };
    const enrichments = [
      { name: 'region', value: 'west', problem: '' },
      { name: 'is_large', value: false, problem: '' },
    ];
    const hops = [{ eligible: 1, enrichments }];
    expect(await preview('50667', 1)).toMatchObject({ outcome: 'assigned', explanation: { hops } });
    expect(await preview('50667', 1000)).toMatchObject({ outcome: 'no_eligible_recipient' });
    const problem = 'its table has no such row';
    const failed = { hops: [{ enrichments: [{ name: 'region', problem }, { name: 'is_large' }] }] };
    expect(await preview('1', 1)).toMatchObject({ outcome: 'error', reason: 'enrichment_failed', explanation: failed });
  });

  it('ends assignments, and hears how they went', async () => {
    expect(await run('state=ASSIGNMENT_STATE_ACTIVE')).toMatchObject([{ id: variables['ASSIGNMENT_ID'] }]);
    expect(await run('/api/routing/outcomes')).toMatchObject({ failures_in_a_row: 0, latency_ms: 350 });
    expect(await run(':respond')).toMatchObject({ responded_at: expect.any(String) });
    expect(await run(':set_work_state')).toMatchObject({ work_state: 'waiting_customer', clocks: [] });
    expect(await run(':complete')).toMatchObject({ state: 'ASSIGNMENT_STATE_COMPLETED' });
  });

  it('compares with shadows', { timeout: 30_000 }, async () => {
    const config = { shadow: [{ strategy: 'least_loaded', sample_bps: 2500 }] };
    expect(await run('"shadow": [')).toMatchObject({ config });
    const pool = variables['POOL_ID'] ?? '';
    // A quarter of them, by their ids: of so many there is one.
    const items = Array.from({ length: 60 }, (_, index) => ({ pool_id: pool, routable: { id: `shadowed-${index}` } }));
    await post('/api/routing/route:batch', { items });
    await until('a comparison', async () => ((await run('/shadows'))['shadows'] as unknown[]).length > 0);
    expect(await run('/shadows')).toMatchObject({ shadows: [{ strategy: 'least_loaded', agreed_milli: 1000 }] });
    expect(await run('disagreeing=true')).toEqual([]);
  });

  it('writes rules', async () => {
    const rule = await run('"name": "vip-leads"');
    variables['RULE_ID'] = rule.id;
    expect(await run('expected_version=0')).toMatchObject({ priority: 5, record_version: 1 });
    expect(await run('curl -s https://api.ductor.io/api/rules ')).toMatchObject([{ name: 'vip-leads' }]);
    expect(await run('rules:reorder')).toMatchObject([{ priority: 10 }]);
  });

  it('has no command that was not run, and names every outcome that there can be', () => {
    expect(commands.filter((command) => !done.has(command))).toEqual([]);
    const later = ['queued', 'no_bid', 'below_reserve', 'insufficient_funds', 'offers_exhausted'];
    const named = Object.keys(OUTCOMES).filter((name) => !later.includes(name));
    expect(named.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
