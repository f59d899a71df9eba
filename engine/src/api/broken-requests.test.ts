/** What is refused: with the same code at every door, telling where and why, never as a fault, storing nothing. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../store/testing/index.js';
import { MAX_MESSAGE_BYTES } from './grpc/message-size.js';
import { testClient } from './grpc/testing/test-client.js';
import { startTestNode, type TestNode } from './grpc/testing/test-node.js';
import { BOUNDS } from './testing/bounds.js';
import { BROKEN_FIELDS } from './testing/broken-requests.js';
import { BROKEN_WHOLES } from './testing/broken-wholes.js';
import { DRAFTS } from './testing/drafts.js';
import { nested } from './testing/request-parts.js';
import { httpCall } from './testing/http-call.js';
import {
  bytesOf,
  methodNamed,
  restCall,
  viaConnect,
  viaGrpc,
  viaRest,
  type Caller,
  type DoorAnswer,
} from './testing/three-doors.js';

const BROKEN = [...BROKEN_FIELDS, ...BROKEN_WHOLES];
const database = testDatabase();
let node: TestNode;
let caller: Caller;

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { apiKey, tenantId } = await node.tenant('broken');
  caller = { address: node.address, apiKey, grpc: testClient(node.address, apiKey) };
  for (const draft of DRAFTS) await node.registry.create(tenantId, draft);
  for (const slug of ['waits', 'strict']) await node.registry.publish(tenantId, slug, 0);
});
afterAll(async () => {
  caller.grpc.close();
  await node.stop();
});

/** Rows of everything that is stored but the audit trail, which tells of refusals, too. */
async function stored(): Promise<unknown> {
  const tables = await database.db.query(
    `select relname from pg_class
     where relkind in ('r', 'p') and relnamespace = 'ductor'::regnamespace and not relispartition
       and relname <> 'audit'`,
  );
  expect(tables.rows.length).toBeGreaterThan(8);
  const counts = tables.rows.map(async ({ relname }) => {
    const { rows } = await database.db.query(`select count(*)::int as count from ductor.${String(relname)}`);
    return [relname, rows[0]];
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** No fault; and when it is the request's fault, everything is said about it. */
function expectTold(answer: DoorAnswer, code: string, path: string | undefined, elsewhere = path): void {
  expect(answer.code).toBe(code);
  expect(Number(answer.status) || 400).toBeLessThan(500);
  expect(answer.remedy).not.toBe('');
  if (path === undefined) return;
  const paths = answer.problems.map((problem) => problem.path);
  expect(paths.some((found) => found === path || found === elsewhere)).toBe(true);
  for (const { problem, remedy } of answer.problems) expect([problem, remedy]).not.toContain('');
}

describe('broken requests', () => {
  it('are more than sixty', () => {
    expect(BROKEN.length + BOUNDS.length * 2).toBeGreaterThanOrEqual(60);
  });

  it.each(BROKEN)(
    '$method: $name is $code at every door, and nothing is stored',
    async ({ method: name, json, code, path, onlyJson }) => {
      const method = methodNamed(name);
      const before = await stored();
      const bytes = onlyJson === true ? Buffer.from([0x0a, 0xff]) : bytesOf(method, json);
      expectTold(await viaGrpc(caller, method, bytes), code, onlyJson === true ? undefined : path);
      expectTold(await viaConnect(caller, method, JSON.stringify(json)), code, path);
      expectTold(await viaRest(caller, method, json), code, path);
      expect(await stored()).toEqual(before);
      expect(node.logged).toEqual([]);
    },
  );

  it.each(BOUNDS)('$method: $name may be $n, and no more', async ({ name, method: called, make, n, code, path }) => {
    const method = methodNamed(called);
    for (const fine of [
      await viaRest(caller, method, make(n)),
      await viaConnect(caller, method, JSON.stringify(make(n))),
    ]) {
      // Done by the first door, some cannot be done again.
      expect(['ok', 'workflow_exists']).toContain(fine.code);
    }
    const before = await stored();
    for (const much of [n + 1, 10 * n]) {
      const json = make(much);
      // What nests deeper than any value may is no message to gRPC: it cannot say where.
      expectTold(
        await viaGrpc(caller, method, bytesOf(method, json)),
        code,
        path,
        name.startsWith('depth') ? '' : path,
      );
      expectTold(await viaConnect(caller, method, JSON.stringify(json)), code, path);
      expectTold(await viaRest(caller, method, json), code, path);
    }
    expect(await stored()).toEqual(before);
    expect(node.logged).toEqual([]);
  });
});

const TRIGGER = '/api/workflows/waits:trigger';

describe('bodies', () => {
  it.each([
    ['{', 'invalid_argument'],
    ['{"input": nul}', 'invalid_argument'],
    ['{"input": 1,}', 'invalid_argument'],
    ['\ufeff{}', 'invalid_argument'],
    ['[]', 'invalid_argument'],
    ['"x"', 'invalid_argument'],
    ['5', 'invalid_argument'],
    ['null', 'invalid_argument'],
    [Buffer.from([0x22, 0xff, 0x22]), 'invalid_argument'],
    ['['.repeat(100_000), 'invalid_argument'],
    [`{"input": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'invalid_argument'],
    [`{"a": ${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`, 'invalid_argument'],
    ['{"input": 1e400}', 'invalid_argument'],
  ])('no. %# are refused by both', async (body, code) => {
    const before = await stored();
    expectTold(await restCall(caller, { method: 'POST', path: TRIGGER, body }), code, undefined);
    expectTold(await viaConnect(caller, methodNamed('TriggerRun'), body), code, undefined);
    expect(await stored()).toEqual(before);
    expect(node.logged).toEqual([]);
  });

  it('may be deep as far as values may', async () => {
    const fine = await restCall(caller, { method: 'POST', path: TRIGGER, body: JSON.stringify({ input: nested(64) }) });
    expect(fine.code).toBe('ok');
  });

  it('may have 4 MiB, and no more, however they are sent', async () => {
    const ofBytes = (bytes: number): string => {
      const [head, tail] = ['{"title": "', '"}'];
      return head + 'x'.repeat(bytes - head.length - tail.length) + tail;
    };
    const path = '/api/workflows';
    const fine = await restCall(caller, { method: 'POST', path, body: ofBytes(MAX_MESSAGE_BYTES) });
    expect(fine.code).toBe('invalid_definition');
    for (const bytes of [MAX_MESSAGE_BYTES + 1, MAX_MESSAGE_BYTES * 10]) {
      const body = ofBytes(bytes);
      const refused = await restCall(caller, { method: 'POST', path, body }).catch(() => null);
      // Far too much is refused before it was sent; whether the sender reads that is its own affair.
      if (refused !== null) expect([refused.status, refused.code]).toEqual([413, 'message_too_large']);
      if (bytes === MAX_MESSAGE_BYTES + 1) expect(refused).not.toBeNull();
      const chunked = { 'transfer-encoding': 'chunked' };
      const more = await restCall(caller, { method: 'POST', path, body, headers: chunked }).catch(() => null);
      if (more !== null) expect(more.code).toBe('message_too_large');
    }
    expect(node.logged).toEqual([]);
  });

  it('may be gzip, and are cut when they inflate without end', async () => {
    const gzip = { 'content-encoding': 'gzip' };
    const send = (body: Buffer, headers: Record<string, string> = gzip): Promise<DoorAnswer> =>
      restCall(caller, { method: 'POST', path: TRIGGER, body, headers });
    expect((await send(gzipSync('{"input": {"a": 1}}'))).code).toBe('ok');
    expect((await send(gzipSync(' '.repeat(60_000) + '{}'))).code).toBe('ok');
    expectTold(await send(gzipSync(Buffer.alloc(50_000_000, ' '))), 'message_too_large', '');
    expectTold(await send(Buffer.from('no gzip')), 'invalid_argument', '');
    expectTold(
      await send(Buffer.from('{}'), { 'content-encoding': 'br' }),
      'unsupported_media_type',
      'content-encoding',
    );
  });

  it('have to be JSON in UTF-8', async () => {
    const send = (type: string): Promise<DoorAnswer> =>
      restCall(caller, { method: 'POST', path: TRIGGER, body: '{}', headers: { 'content-type': type } });
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/json; charset=latin1',
    ]) {
      expectTold(await send(type), 'unsupported_media_type', 'content-type');
    }
    for (const type of ['application/json', 'application/json; charset=UTF-8', 'application/problem+json']) {
      expect((await send(type)).code).toBe('ok');
    }
  });

  it('have no place where nothing is taken', async () => {
    const refused = await restCall(caller, {
      path: '/api/runs',
      body: '{"state": 1}',
      headers: { 'content-length': '12' },
    });
    expectTold(refused, 'invalid_argument', '');
  });
});

describe('paths', () => {
  it.each([
    ['GET', '/api', 404, 'route_not_found'],
    ['GET', '/api/', 404, 'route_not_found'],
    ['GET', '/api/workflow', 404, 'route_not_found'],
    ['GET', '/api/workflows/', 404, 'route_not_found'],
    ['GET', '/api/runs//history', 404, 'route_not_found'],
    ['POST', '/api/workflows/waits:publsih', 404, 'route_not_found'],
    ['GET', '/api/runs/%ff', 400, 'invalid_argument'],
    ['GET', '/api/runs/%', 400, 'invalid_argument'],
    ['GET', '/api/runs/a%2fb', 400, 'invalid_argument'],
    ['GET', '/api/runs?%ff=1', 400, 'invalid_argument'],
    ['GET', '/api/runs?state=RUN_STATE_FAILED&state=RUN_STATE_FAILED', 400, 'invalid_argument'],
    ['GET', '/api/runs?pagination=1', 400, 'invalid_argument'],
    ['GET', '/api/runs?pagination.page_size.x=1', 400, 'invalid_argument'],
    ['GET', '/api/runs?state.x=1', 400, 'invalid_argument'],
    ['GET', '/api/runs?__proto__=1', 400, 'invalid_argument'],
    ['POST', '/api/workflows/waits:trigger?version=1', 400, 'invalid_argument'],
    ['GET', '/api/runs/00000000-0000-7000-8000-000000000000?run_id=1', 400, 'invalid_argument'],
    ['DELETE', '/api/workflows', 405, 'method_not_allowed'],
    ['PUT', '/api/runs', 405, 'method_not_allowed'],
    ['GET', '/api/workflows/waits:trigger', 405, 'method_not_allowed'],
    ['OPTIONS', '/api/workflows', 405, 'method_not_allowed'],
    ['GET', '/ductor.v1.RunService/GetRun', 405, 'method_not_allowed'],
    ['GET', '/nothing', 404, 'route_not_found'],
    ['GET', '/%', 400, 'invalid_argument'],
  ])('%s %s: %i %s', async (method, path, status, code) => {
    const answer = await restCall(caller, { method, path });
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.problems).toHaveLength(1);
    expect(node.logged).toEqual([]);
  });

  it('say which methods they take, and what was probably meant', async () => {
    const { headers } = await httpCall(node.address, { method: 'DELETE', path: '/api/workflows' });
    expect(headers.allow).toBe('POST, GET, HEAD');
    const { problems } = await restCall(caller, { path: '/api/workflow' });
    expect(problems[0]?.remedy).toContain('Did you mean "/api/workflows"?');
    const misspelt = await restCall(caller, { path: '/api/runs?stat=RUN_STATE_FAILED' });
    expect(misspelt.problems[0]?.remedy).toBe('Did you mean "state"?');
  });

  it('may be asked for their headers alone', async () => {
    const headers = { authorization: `Bearer ${caller.apiKey}` };
    const {
      status,
      body,
      headers: received,
    } = await httpCall(node.address, { method: 'HEAD', path: '/api/runs', headers });
    expect([status, body.length]).toEqual([200, 0]);
    expect(Number(received['content-length'])).toBeGreaterThan(0);
  });

  it('may differ from the body only where the body says nothing', async () => {
    const same = await restCall(caller, { method: 'POST', path: TRIGGER, body: '{"family_slug": "waits"}' });
    expect(same.code).toBe('ok');
    const other = await restCall(caller, { method: 'POST', path: TRIGGER, body: '{"familySlug": "strict"}' });
    expectTold(other, 'invalid_argument', 'family_slug');
  });
});
