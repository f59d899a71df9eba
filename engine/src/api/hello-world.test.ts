/** The introduction's first definition, as it stands there, by what curl sends. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../store/testing/index.js';
import { startTestNode, type TestNode } from './grpc/testing/test-node.js';
import { bearer, httpCall, member, type HttpAnswer } from './testing/http-call.js';

/** Verbatim, line breaks and all. */
const HELLO_WORLD = `{
  "family_slug": "hello-world",
  "title": "Hello World",
  "steps": [
    {"ref": "greet", "type": "STEP_TYPE_DATAFLOW", "title": "Build greeting",
     "args": {"operation": "project", "project": {"message": "\\"hello\\""}}},
    {"ref": "pause", "type": "STEP_TYPE_WAIT", "title": "Short delay",
     "args": {"duration": "2s"}}
  ],
  "edges": [{"source_ref": "greet", "target_ref": "pause", "type": "EDGE_TYPE_SUCCESS"}]
}`;

const database = testDatabase();
let node: TestNode;
let key: string;

beforeAll(async () => {
  node = await startTestNode(database.db);
  key = (await node.tenant('hello')).apiKey;
});
afterAll(() => node.stop());

/** What `curl -H "authorization: Bearer KEY" [-d BODY]` sends: its own content type, unless a test says otherwise. */
function curl(path: string, body?: string): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${key}`, accept: '*/*', 'user-agent': 'curl/8.5.0' };
  if (body === undefined) return httpCall(node.address, { path, headers });
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  return httpCall(node.address, { method: 'POST', path, headers: form, body });
}

async function runUntil(path: string, state: string): Promise<HttpAnswer> {
  for (let tries = 0; tries < 400; tries += 1) {
    const answer = await curl(path);
    if (member(answer.json, 'data', 'state') === state) return answer;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return expect.fail(`the run never became ${state}`);
}

describe('hello world by curl', () => {
  it('is created, published, triggered, watched to its end', async () => {
    const created = await curl('/api/workflows', HELLO_WORLD);
    expect(created.status).toBe(200);
    expect(created.json).toMatchObject({
      data: {
        family_slug: 'hello-world',
        title: 'Hello World',
        status: 'STATUS_INACTIVE',
        current_version: 0,
        draft: {
          steps: [
            { ref: 'greet', args: { operation: 'project' } },
            { ref: 'pause', args: { duration: '2s' } },
          ],
        },
      },
    });
    const published = await curl('/api/workflows/hello-world:publish', '');
    expect([published.status, member(published.json, 'data', 'current_version')]).toEqual([200, 1]);

    const startedMs = performance.now();
    const triggered = await curl('/api/workflows/hello-world:trigger', '{}');
    expect(triggered.status).toBe(200);
    const run = `/api/runs/${String(member(triggered.json, 'data', 'id'))}`;

    const done = await runUntil(run, 'RUN_STATE_COMPLETED');
    expect(performance.now() - startedMs).toBeGreaterThan(1_990);
    expect(done.json).toMatchObject({
      data: {
        steps: [
          { path: 'greet', state: 'STEP_STATE_COMPLETED' },
          { path: 'pause', state: 'STEP_STATE_COMPLETED' },
        ],
      },
    });
    const history = await curl(`${run}/history?pagination.page_size=2`);
    expect(member(history.json, 'data')).toHaveLength(2);
    expect(member(history.json, 'pagination', 'next_cursor')).not.toBe('');
  });

  it('answers by name, as JSON of the contract: implicit fields written, absent messages left out', async () => {
    const { json, headers, status } = await curl('/api/workflows/hello-world');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(json).toMatchObject({ data: { current_version: 1, draft: { edges: [{ condition: '' }] } } });
    expect(member(json, 'data', 'draft', 'output')).toBeUndefined();
    expect(member(json, 'data', 'created_at')).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('is watched line by line until it has ended', async () => {
    const triggered = await curl('/api/workflows/hello-world:trigger', '{"attributes": {"region": "CA"}}');
    const id = String(member(triggered.json, 'data', 'id'));
    const { headers, body } = await curl(`/api/runs/${id}:watch`);
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = body
      .toString()
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(member(lines[0], 'data', 'state')).toBe('RUN_STATE_WAITING');
    expect(member(lines.at(-1), 'data')).toMatchObject({ state: 'RUN_STATE_COMPLETED', attributes: { region: 'CA' } });
  });
});

describe('who may', () => {
  it('is asked before anything is read', async () => {
    const refused = await httpCall(node.address, { method: 'POST', path: '/api/workflows', body: '{' });
    expect([refused.status, member(refused.json, 'error', 'code')]).toEqual([401, 'unauthenticated']);
    expect(refused.headers['www-authenticate']).toBe('Bearer');
    const other = await httpCall(node.address, {
      path: '/api/runs',
      headers: { ...bearer(key), 'x-tenant-id': '00000000-0000-4000-8000-000000000000' },
    });
    expect([other.status, member(other.json, 'error', 'code')]).toEqual([403, 'permission_denied']);
    const strange = await httpCall(node.address, {
      path: '/api/runs',
      headers: { authorization: 'Bearer \u00ff\u00fe' },
    });
    expect(member(strange.json, 'error', 'code')).toBe('unauthenticated');
  });
});
