/** Rules over the wire: their order, their guard, and what is said of expressions that are wrong. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../../store/testing/index.js';
import { bearer, httpCall, type HttpAnswer } from '../../testing/http-call.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let apiKey = '';

beforeAll(async () => {
  node = await startTestNode(database.db);
  ({ apiKey } = await node.tenant('ruled'));
});
afterAll(() => node.stop());

const rest = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
  httpCall(node.address, {
    ...{ method, path, headers: { ...bearer(apiKey), 'content-type': 'application/json' } },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const drop = (name: string, priority: number): Promise<HttpAnswer> =>
  rest('POST', '/api/rules', { name, priority, expr: 'routable.type == "lead"', action: 'drop' });

/** A rule as it is answered. */
interface Answered {
  readonly id: string;
  readonly name: string;
  readonly priority: number;
  readonly record_version: number;
}
const one = ({ json }: HttpAnswer): Answered => (json as { data: Answered }).data;
const all = ({ json }: HttpAnswer): readonly Answered[] => (json as { data: readonly Answered[] }).data;

describe('rules', () => {
  it('are created with their defaults, read, changed in part under a guard, and removed', async () => {
    const pool = await rest('POST', '/api/pools', { name: 'vips' });
    const poolId = one(pool).id;
    const expr = 'routable.type == "lead" && double(routable.attributes.amount) > 1000.0';
    const made = await rest('POST', '/api/rules', { name: 'vip-leads', expr, pool_id: poolId });
    expect(made.json).toMatchObject({
      data: { name: 'vip-leads', priority: 0, action: 'route', stop: true, enabled: true, record_version: 0 },
    });
    const path = `/api/rules/${one(made).id}`;
    const changed = await rest('PATCH', `${path}?expected_version=0`, {
      priority: 5,
      effective_to: '2030-01-01T00:00:00Z',
    });
    expect(changed.json).toMatchObject({
      data: { expr, priority: 5, effective_to: '2030-01-01T00:00:00Z', record_version: 1 },
    });
    const stale = await rest('PATCH', `${path}?expected_version=7`, { enabled: false });
    expect([stale.status, JSON.stringify(stale.json)]).toEqual([
      412,
      expect.stringContaining('record_version 1, not 7'),
    ]);
    expect((await rest('PATCH', path, { pool_id: null })).status).toBe(400);
    expect((await rest('POST', '/api/rules', { name: 'vip-leads', expr: 'true', action: 'hold' })).status).toBe(409);
    expect(one(await rest('DELETE', path))).toMatchObject({ name: 'vip-leads', record_version: 1 });
    expect((await rest('GET', path)).status).toBe(404);
  });

  it('are checked when they are written: type, position and a hint', async () => {
    const wrong = async (expr: string): Promise<string> => {
      const { status, json } = await rest('POST', '/api/rules', { name: 'wrong', expr, action: 'drop' });
      expect(status).toBe(400);
      return JSON.stringify(json);
    };
    expect(await wrong('routable.prio > 1.0')).toMatch(/expr.*prio/);
    expect(await wrong('routable.priority')).toMatch(/expr.*bool/);
    expect(await wrong('routable.type ==')).toMatch(/expr.*line 1, column/);
    const missing = '01900000-0000-7000-8000-00000000000f';
    expect((await rest('POST', '/api/rules', { name: 'lost', expr: 'true', pool_id: missing })).status).toBe(404);
  });

  it('are listed in the order in which they are asked, page by page, and put in another one at once', async () => {
    const [b, a, first] = await Promise.all([drop('b', 3), drop('a', 3), drop('z', -4)]);
    const page = await rest('GET', '/api/rules?pagination.page_size=2');
    expect(all(page).map(({ name }) => name)).toEqual(['z', 'a']);
    const { next_cursor: cursor } = (page.json as { pagination: { next_cursor: string } }).pagination;
    const next = await rest('GET', `/api/rules?pagination.page_size=2&pagination.cursor=${cursor}`);
    expect(all(next).map(({ name }) => name)).toEqual(['b']);
    const ids = [b, first, a].map((answer) => one(answer).id);
    const ordered = await rest('POST', '/api/rules:reorder', { rule_ids: ids });
    expect(all(ordered).map(({ name, priority }) => [name, priority])).toEqual([
      ['b', 10],
      ['z', 20],
      ['a', 30],
    ]);
    const again = await rest('POST', '/api/rules:reorder', { rule_ids: ids });
    expect(all(again).map(({ record_version }) => record_version)).toEqual([1, 1, 1]);
    const lacking = await rest('POST', '/api/rules:reorder', { rule_ids: ids.slice(1) });
    expect([lacking.status, JSON.stringify(lacking.json)]).toEqual([400, expect.stringContaining('lacks rule b')]);
    const twice = await rest('POST', '/api/rules:reorder', { rule_ids: [...ids, ...ids.slice(0, 1)] });
    expect([twice.status, JSON.stringify(twice.json)]).toEqual([400, expect.stringContaining('rule_ids[3]')]);
  });
});
