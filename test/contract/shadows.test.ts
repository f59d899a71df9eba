/** Shadows of a pool on a whole node: compared behind the decisions, reported over gRPC, REST and the command line. */
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { createRecordReader, replay } from '../../engine/src/routing/index.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { commandLine } from '../../engine/src/cli/testing/command-line.js';
import { until } from '../support/wait.js';

const database = await createTestDatabase();
const node = await startTestNode(database.db);
const { apiKey, tenantId } = await node.tenant('shadows');
afterAll(async () => {
  await node.stop();
  await database.drop();
});

async function call<Data>(path: string, body?: object): Promise<Data> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const request = body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) };
  const { status, json } = await httpCall(node.address, { path, headers, ...request });
  if (status !== 200) throw new RangeError(JSON.stringify(json));
  return (json as { data: Data }).data;
}

interface Summary extends Record<string, unknown> {
  readonly strategy: string;
  readonly decisions: number;
}

const DECISIONS = 60;

describe('shadows of a pool', () => {
  it('say what they would have chosen, and change nothing of what is decided', { timeout: 60_000 }, async () => {
    const config = {
      shadow: [
        { strategy: 'lowest_cost' },
        { strategy: 'round_robin' },
        { strategy: 'waterfall', until: '2026-01-01T00:00:00Z' },
      ],
      sla: { first_response_within: '60s' },
    };
    const { id } = await call<{ id: string }>('/api/pools', { name: 'agents', strategy: 'waterfall', config });
    const ids: string[] = [];
    for (let order = 0; order < 3; order += 1) {
      const fields = { name: `r${order}`, state: 'RECIPIENT_STATE_AVAILABLE', order, currency: 'EUR' };
      const member = { ...fields, cost_micros: String(3_000_000 - order * 1_000_000) };
      ids.push((await call<{ id: string }>(`/api/pools/${id}/recipients`, member)).id);
    }
    const items = Array.from({ length: DECISIONS }, (_, index) => ({ pool_id: id, routable: { id: `work-${index}` } }));
    const outcomes = await call<{ decision: { id: string; slate: { recipient_id: string }[] } }[]>(
      '/api/routing/route:batch',
      { items },
    );
    expect(new Set(outcomes.map(({ decision }) => decision.slate[0]?.recipient_id))).toEqual(new Set([ids[0]]));
    const report = await until(
      'all decisions to be compared',
      async () => {
        const found = await call<{ shadows: Summary[]; caveat: string }>(`/api/pools/${id}/shadows`);
        const done = found.shadows.filter(({ decisions }) => decisions === DECISIONS);
        return done.length === 2 && found;
      },
      { limitMs: 30_000 },
    );
    const [cheap, turns] = ['lowest_cost', 'round_robin'].map((name) =>
      report.shadows.find((s) => s.strategy === name),
    );
    expect(report.shadows).toHaveLength(2);
    expect(report.caveat).toMatch(/live strategy/);
    expect(cheap).toMatchObject({
      ...{
        agreed: 0,
        agreed_milli: 0,
        costed: DECISIONS,
        live_cost_micros: '180000000',
        shadow_cost_micros: '60000000',
      },
      ...{
        live_fairness_milli: 333,
        shadow_fairness_milli: 333,
        with_deadline: DECISIONS,
        live_breaches: 0,
        errors: 0,
      },
    });
    // Its own state: it takes turns although the strategy that decides does not.
    expect(turns).toMatchObject({ agreed: DECISIONS / 3, shadow_fairness_milli: 1000, live_fairness_milli: 333 });
    const pages = new Set<string>();
    let last = { decision_id: '', shadow_recipient_id: '' };
    for (let cursor = ''; ;) {
      const query = `disagreeing=true&pagination.page_size=40&pagination.cursor=${cursor}`;
      const headers = bearer(apiKey);
      const path = `/api/pools/${id}/shadow_decisions?${query}`;
      const { json } = await httpCall(node.address, { method: 'GET', path, headers });
      const page = json as {
        data: { decision_id: string; shadow_id: string; shadow_recipient_id: string }[];
        pagination: { next_cursor: string };
      };
      for (const each of page.data) pages.add(`${each.decision_id}/${each.shadow_id}`);
      last = page.data.at(-1) ?? last;
      cursor = page.pagination.next_cursor;
      if (cursor === '') break;
    }
    expect(pages.size).toBe(DECISIONS + (DECISIONS * 2) / 3);
    expect([ids[1], ids[2]]).toContain(last.shadow_recipient_id);
    const { rows } = await database.db.query('select 1 from ductor.shadow_due where tenant_id = $1', [tenantId]);
    expect(rows).toEqual([]);
    const exported = await call<{ record: string; documents: object }>(
      `/api/routing/decisions/${outcomes[0]?.decision.id ?? ''}:export`,
    );
    const documents = new Map(Object.entries(exported.documents));
    expect(replay(exported.record, documents, createRecordReader()).isSame).toBe(true);
    const cli = commandLine({ DUCTOR_ADDRESS: node.address, DUCTOR_API_KEY: apiKey });
    expect(await cli.done('pool', 'shadow', 'agents')).toMatch(
      /lowest_cost +60 +0\.0 % +0\.333 > 0\.333 +180\.00 > 60\.00 +0 > 0 of 60/,
    );
    expect(await cli.done('pool', 'shadow-decisions', 'agents', '--disagreeing')).toContain(ids[2]);
  });

  it('of a pool that there is not are not found', async () => {
    await expect(call('/api/pools/0198c1d0-0000-7000-8000-000000000001/shadows')).rejects.toThrow(/not_found/);
  });
});
