import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GetRunRequest, ListRunsRequest, RunServiceService } from '../../../gen/ductor/v1/run.js';
import {
  CreateApiKeyRequest,
  CreateTenantRequest,
  TenancyServiceService as T,
  type ApiKey,
  type NewApiKey,
} from '../../../gen/ductor/v1/tenancy.js';
import { WorkflowServiceService } from '../../../gen/ductor/v1/workflow.js';
import { testDatabase } from '../../../store/testing/index.js';
import { SCOPES, TENANT_SCOPES, type Scope } from '../../../tenancy/index.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let nodes: readonly [TestNode, TestNode];
const clients: TestClient[] = [];
let tenants = 0;

function connect(apiKey: string, node = nodes[0]): TestClient {
  const client = testClient(node.address, apiKey);
  clients.push(client);
  return client;
}
/** A client of a new tenant. */
async function fresh(scopes: readonly Scope[] = SCOPES): Promise<TestClient> {
  const { apiKey } = await nodes[0].tenant(`keys-${(tenants += 1)}`, scopes);
  return connect(apiKey);
}
const keyRequest = (name: string, scopes: readonly string[], expiresIn = ''): CreateApiKeyRequest =>
  CreateApiKeyRequest.fromPartial({ name, scopes: [...scopes], expiresIn });
async function createKey(
  client: TestClient,
  name: string,
  scopes: readonly string[] = ['run:read'],
): Promise<NewApiKey> {
  const { data } = await call(client, T.createApiKey, keyRequest(name, scopes));
  return data ?? expect.fail('no key');
}
const refusal = async (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'ok',
    (error: unknown) => wireErrorOf(error)?.code,
  );
const listKeys = async (client: TestClient): Promise<ApiKey[]> =>
  (await call(client, T.listApiKeys, { pagination: undefined })).data;

beforeAll(async () => {
  nodes = [await startTestNode(database.db), await startTestNode(database.db)];
});
afterAll(async () => {
  for (const client of clients) client.close();
  for (const node of nodes) await node.stop();
});

describe('keys', () => {
  it('are shown once, work, and are listed without their secret', async () => {
    const client = await fresh();
    const { key, secret } = await createKey(client, 'deploy', ['run:read', 'key:read', 'run:read']);
    expect(key).toMatchObject({ name: 'deploy', scopes: ['key:read', 'run:read'], expiresAt: undefined });
    const made = connect(secret);
    expect((await listKeys(made)).map(({ id }) => id)).toContain(key?.id);
    expect(JSON.stringify(await listKeys(made), (_, value: unknown) => String(value))).not.toContain(secret);
    const [newest] = await listKeys(client);
    expect(newest?.id).toBe(key?.id);
  });

  it('grant nothing that their maker has not', async () => {
    const client = await fresh(['key:write', 'run:read']);
    expect(await refusal(createKey(client, 'more', ['run:read', 'run:write']))).toBe('permission_denied');
    expect(await refusal(createKey(client, 'most', ['tenant:admin']))).toBe('permission_denied');
    expect(await refusal(createKey(client, 'same', ['run:read', 'key:write']))).toBe('ok');
  });

  it('have at most two live ones of a name, however they are made', async () => {
    const client = await fresh();
    const made = await Promise.allSettled(Array.from({ length: 6 }, () => createKey(client, 'rotated')));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const [first] = await listKeys(client);
    expect(await refusal(createKey(client, 'rotated'))).toBe('key_limit_reached');
    await call(client, T.revokeApiKey, { keyId: first?.id ?? '', reason: '' });
    expect(await refusal(createKey(client, 'rotated'))).toBe('ok');
    expect(await refusal(createKey(client, 'another'))).toBe('ok');
    expect(await refusal(createKey(await fresh(), 'rotated'))).toBe('ok');
  });

  it('expire when they should', async () => {
    const client = await fresh();
    const { data } = await call(client, T.createApiKey, keyRequest('brief', ['run:read'], '2s'));
    const brief = connect(data?.secret ?? '');
    const get = (): Promise<unknown> =>
      refusal(call(brief, RunServiceService.listRuns, ListRunsRequest.fromPartial({})));
    expect(await get()).toBe('ok');
    await new Promise((resolve) => setTimeout(resolve, 2_050));
    expect(await get()).toBe('unauthenticated');
    // Expired ones leave room for a new one.
    for (const _ of [1, 2]) expect(await refusal(createKey(client, 'brief'))).toBe('ok');
  });

  it('are refused with everything that is wrong with them', async () => {
    const client = await fresh();
    const wrong = await call(client, T.createApiKey, keyRequest('', ['moon:fly'], '20 years')).catch(wireErrorOf);
    expect(wrong).toMatchObject({ code: 'invalid_argument' });
    const details = 'details' in (wrong ?? {}) ? Reflect.get(wrong ?? {}, 'details') : [];
    expect(details).toMatchObject([{ path: 'name' }, { path: 'scopes[0]', value: 'moon:fly' }, { path: 'expires_in' }]);
    for (const expiresIn of ['0s', '3651d', '-1d']) {
      expect(await refusal(call(client, T.createApiKey, keyRequest('k', ['run:read'], expiresIn)))).toBe(
        'invalid_argument',
      );
    }
    expect(await refusal(call(client, T.createApiKey, keyRequest('x'.repeat(129), ['run:read'])))).toBe(
      'invalid_argument',
    );
    expect(await refusal(call(client, T.createApiKey, keyRequest('k', [])))).toBe('invalid_argument');
  });

  it('are listed page by page', async () => {
    const client = await fresh();
    for (let n = 0; n < 6; n += 1) await createKey(client, `key-${n}`);
    const names: string[] = [];
    for (let cursor = ''; ;) {
      const pagination = { pageSize: 3, cursor, nextCursor: '' };
      const page = await call(client, T.listApiKeys, { pagination });
      names.push(...page.data.map(({ name }) => name));
      cursor = page.pagination?.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(names).toEqual(['key-5', 'key-4', 'key-3', 'key-2', 'key-1', 'key-0', expect.stringMatching(/^keys-/)]);
    const pagination = { pageSize: 3, cursor: 'bm9uc2Vuc2U', nextCursor: '' };
    expect(await refusal(call(client, T.listApiKeys, { pagination }))).toBe('invalid_argument');
  });
});

describe('revocation', () => {
  it('works here at once, on another node within 5 seconds, and can be repeated', async () => {
    const client = await fresh();
    const { key, secret } = await createKey(client, 'leaked', ['run:read']);
    const [here, there] = [connect(secret, nodes[0]), connect(secret, nodes[1])];
    const get = (at: TestClient): Promise<unknown> =>
      refusal(
        call(
          at,
          RunServiceService.getRun,
          GetRunRequest.fromPartial({ runId: '01900000-0000-7000-8000-00000000000a' }),
        ),
      );
    expect([await get(here), await get(there)]).toEqual(['not_found', 'not_found']);
    const revoke = { keyId: key?.id ?? '', reason: 'found in a log' };
    const first = await call(client, T.revokeApiKey, revoke);
    const beganMs = performance.now();
    expect(await get(here)).toBe('unauthenticated');
    while ((await get(there)) !== 'unauthenticated') {
      expect(performance.now() - beganMs).toBeLessThan(5_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const again = await call(client, T.revokeApiKey, revoke);
    // When it was used last is written down a moment after the use.
    expect({ ...again.data, lastUsedAt: undefined }).toEqual({ ...first.data, lastUsedAt: undefined });
    expect(first.data?.revokedAt).toBeDefined();
  });
});

describe('tenants', () => {
  it('are made with a first key for everything the operator may, but making tenants', async () => {
    const operator = await fresh();
    const made = await call(operator, T.createTenant, CreateTenantRequest.fromPartial({ slug: 'acme' }));
    expect(made).toMatchObject({ data: { slug: 'acme' }, firstKey: { key: { name: 'admin', scopes: TENANT_SCOPES } } });
    const admin = connect(made.firstKey?.secret ?? '');
    expect((await listKeys(admin)).map(({ name }) => name)).toEqual(['admin']);
    expect((await call(admin, WorkflowServiceService.listWorkflows, { pagination: undefined })).data).toEqual([]);
    expect(await refusal(call(admin, T.listTenants, { pagination: undefined }))).toBe('permission_denied');
    expect(await refusal(call(operator, T.createTenant, CreateTenantRequest.fromPartial({ slug: 'acme' })))).toBe(
      'tenant_exists',
    );
  });

  it('get no key with more than their maker has', async () => {
    const operator = await fresh(['tenant:admin', 'run:read']);
    const make = (slug: string, scopes: string[]): Promise<unknown> =>
      refusal(call(operator, T.createTenant, CreateTenantRequest.fromPartial({ slug, scopes })));
    expect(await make('greedy', ['run:write'])).toBe('permission_denied');
    expect(await make('greedy', ['tenant:admin'])).toBe('permission_denied');
    expect(await make('modest', [])).toBe('ok');
    const bare = await fresh(['tenant:admin']);
    const slug = CreateTenantRequest.fromPartial({ slug: 'empty' });
    expect(await refusal(call(bare, T.createTenant, slug))).toBe('permission_denied');
  });

  it('have slugs of lower case letters, digits and hyphens', async () => {
    const operator = await fresh();
    for (const slug of ['', 'A', 'a_b', '-a', 'a-', 'a b', 'x'.repeat(64), 'ä']) {
      expect(await refusal(call(operator, T.createTenant, CreateTenantRequest.fromPartial({ slug })))).toBe(
        'invalid_argument',
      );
    }
  });

  it('are listed by slug, page by page', async () => {
    const operator = await fresh();
    const slugs: string[] = [];
    for (let cursor = ''; ;) {
      const page = await call(operator, T.listTenants, { pagination: { pageSize: 2, cursor, nextCursor: '' } });
      slugs.push(...page.data.map(({ slug }) => slug));
      cursor = page.pagination?.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(slugs).toEqual([...slugs].sort());
    expect(slugs).toContain('acme');
    expect(new Set(slugs).size).toBe(slugs.length);
  });
});
