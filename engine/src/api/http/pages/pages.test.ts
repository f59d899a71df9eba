/** Pages, health and metrics on the same port. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../../store/testing/index.js';
import { startTestNode, type TestNode } from '../../grpc/testing/test-node.js';
import { httpCall, member, type HttpAnswer } from '../../testing/http-call.js';
import { CONTRACT } from '../../testing/three-doors.js';
import { docsPage } from './docs-page.js';
import { html } from './html.js';
import { mayReadMetrics } from './metrics-access.js';

const database = testDatabase();
let node: TestNode;

beforeAll(async () => {
  node = await startTestNode(database.db);
});
afterAll(() => node.stop());

const get = (path: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  httpCall(node.address, { path, headers });

describe('pages', () => {
  it('show every service, method, message and field, with a call of each', async () => {
    const { status, headers, body } = await get('/docs');
    const page = body.toString();
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    for (const method of CONTRACT.methods.values()) {
      expect(page).toContain(`id="${method.path}"`);
      for (const { template } of method.bindings) expect(page).toContain(template);
      for (const { name } of [...method.input.fields, ...method.output.fields])
        expect(page).toContain(`<code>${name}</code>`);
    }
    const example = `curl -s -X POST &quot;http://${node.address}/api/workflows/$FAMILY_SLUG:trigger&quot;`;
    expect(page).toContain(example);
    const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
    expect((await get('/')).body.toString()).toBe(page);
  });

  it('escape what is put into them, also the name of the host', async () => {
    expect(html`<p title="${'"><script>'}">${"it's"} ${html`<b>${'&'}</b>`}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;script&gt;">it&#39;s <b>&amp;</b></p>',
    );
    const page = docsPage(CONTRACT, { 'ductor.v1.RunService': '<script>' }, 'http://x');
    expect(page).not.toContain('<script>');
    const strange = (await get('/docs', { host: 'a"onload=b' })).body.toString();
    expect(strange).not.toContain('onload');
  });

  it('are no place for other sites: no CORS', async () => {
    const { headers } = await get('/api/runs', { origin: 'https://elsewhere.example' });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('have the OpenAPI document beside them', async () => {
    const { status, json } = await get('/openapi.json');
    expect([status, member(json, 'openapi')]).toEqual([200, '3.1.0']);
  });

  it('end where nothing is', async () => {
    for (const path of ['/nothing', '/docs/more', '/favicon.ico', '/api-docs']) {
      const { status, json } = await get(path);
      expect([status, member(json, 'error', 'code')]).toEqual([404, 'route_not_found']);
    }
  });
});

describe('health', () => {
  it('is live always, and ready while the node owns shards', async () => {
    const other = await startTestNode(database.db);
    const ask = async (path: string): Promise<unknown[]> => {
      const { status, json } = await httpCall(other.address, { path });
      return [status, member(json, 'status')];
    };
    for (let tries = 0; (await ask('/readyz'))[0] !== 200 && tries < 100; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await ask('/readyz')).toEqual([200, 'ready']);
    other.server.drain();
    expect(await ask('/readyz')).toEqual([503, 'not ready']);
    expect(await ask('/healthz')).toEqual([200, 'live']);
    await other.stop();
  });
});

describe('metrics', () => {
  it('are for this machine alone unless the settings say otherwise', async () => {
    const { status, body } = await get('/metrics');
    expect([status, body.toString()]).toEqual([200, expect.stringContaining('ductor_commit_seconds_bucket')]);
    const forwarded = await get('/metrics', { 'x-forwarded-for': '203.0.113.5' });
    expect([forwarded.status, member(forwarded.json, 'error', 'code')]).toEqual([404, 'route_not_found']);
  });

  it.each([
    ['loopback', '127.0.0.1', {}, true],
    ['loopback', '::1', {}, true],
    ['loopback', '::ffff:127.0.0.1', {}, true],
    ['loopback', '10.0.0.5', {}, false],
    ['loopback', undefined, {}, false],
    ['loopback', '127.0.0.1', { forwarded: 'for=10.0.0.5' }, false],
    ['all', '10.0.0.5', {}, true],
    ['off', '127.0.0.1', {}, false],
  ] as const)('%s: asked by %s', (access, remoteAddress, headers, expected) => {
    expect(mayReadMetrics(access, { socket: { remoteAddress }, headers })).toBe(expected);
  });
});
