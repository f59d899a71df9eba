import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { egressGuard } from '../../egress/index.js';
import { WorkflowRegistration } from '../../gen/ductor/v1/bridge.js';
import { DuctorError } from '../../kernel/index.js';
import { testDatabase } from '../../store/testing/index.js';
import type { Principal } from '../../tenancy/index.js';
import { createEndpointRegistry, type EndpointRegistry } from './endpoint-registry.js';
import { MAX_ENDPOINTS, type EndpointSpec } from './endpoint.js';
import { loadEndpoints, sweepEndpoints } from './sql/sweep-endpoints.js';

const test = testDatabase();
const METHOD = '/ductor.v1.EndpointService/RegisterEndpoint';
const SPEC: EndpointSpec = {
  ...{ name: 'web', form: 'http', url: 'https://app.example.com/callbacks', audience: 'a', queues: ['default'] },
  ...{ concurrency: 50, timeoutMs: 30_000 },
};
const FLOW = WorkflowRegistration.fromPartial({ definition: { familySlug: 'flow' }, handlers: ['one', 'two'] });

interface Fixture {
  readonly registry: EndpointRegistry;
  readonly by: Principal;
  readonly other: Principal;
  changes: number;
}

let ids = 0;
const newId = (): string => `01900000-0000-7000-8000-${(ids += 1).toString(16).padStart(12, '0')}`;
const principal = (): Principal => ({
  ...{ tenantId: randomUUID(), principalId: randomUUID(), name: 'key' },
  scopes: new Set(['bridge:work'] as const),
});

function fixture(): Fixture {
  const names: Record<string, string[]> = { 'app.example.com': ['93.184.216.34'], 'inner.example.com': ['10.0.0.1'] };
  const guard = egressGuard({ allowed: [], ports: new Set([443]) }, (name) => {
    const found = names[name];
    return found === undefined ? Promise.reject(new DuctorError('host_unreachable', name)) : Promise.resolve(found);
  });
  const made: Fixture = {
    ...{ by: principal(), other: principal(), changes: 0 },
    registry: createEndpointRegistry({
      ...{ db: test.db, newId, guard },
      register: () => Promise.resolve({ version: 3, isNew: true }),
      onChange: () => (made.changes += 1),
    }),
  };
  return made;
}

const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => DuctorError.from(error).code,
  );

describe('the registry of endpoints', () => {
  it('makes an endpoint, and changes the one of the same name', async () => {
    const made = fixture();
    const { registry, by } = made;
    const { endpoint, outcomes } = await registry.register(by, METHOD, SPEC, [FLOW]);
    expect(outcomes).toMatchObject([{ familySlug: 'flow', version: 3, published: true }]);
    const served = [{ familySlug: 'flow', handlers: ['one', 'two'], pinnedVersion: null }];
    expect(endpoint).toMatchObject({ ...SPEC, tenantId: by.tenantId, revision: 1, workflows: served });
    const again = await registry.register(by, METHOD, { ...SPEC, concurrency: 7 }, [{ ...FLOW, pin: true }]);
    expect(again.endpoint).toMatchObject({ endpointId: endpoint.endpointId, revision: 2, concurrency: 7 });
    expect(again.endpoint.workflows).toMatchObject([{ pinnedVersion: 3 }]);
    expect(await registry.get(by.tenantId, endpoint.endpointId)).toEqual(again.endpoint);
    expect(made.changes).toBe(2);
  });

  it('counts no change where nothing is another, and keeps what is served where nothing is said of it', async () => {
    const { registry, by } = fixture();
    const first = await registry.register(by, METHOD, SPEC, [FLOW]);
    const same = await registry.register(by, METHOD, SPEC, [FLOW]);
    expect(same.endpoint).toEqual(first.endpoint);
    const silent = await registry.register(by, METHOD, SPEC, []);
    expect(silent.endpoint).toEqual(first.endpoint);
  });

  it('shows and takes away those of the own tenant only', async () => {
    const { registry, by, other } = fixture();
    const { endpoint } = await registry.register(by, METHOD, SPEC, []);
    const { endpoint: theirs } = await registry.register(other, METHOD, SPEC, []);
    expect(theirs.endpointId).not.toBe(endpoint.endpointId);
    expect(await registry.list(by.tenantId, null, 10)).toEqual([endpoint]);
    expect(await refusal(registry.get(other.tenantId, endpoint.endpointId))).toBe('not_found');
    expect(await refusal(registry.remove(other, METHOD, endpoint.endpointId))).toBe('not_found');
    expect(await registry.remove(by, METHOD, endpoint.endpointId)).toEqual(endpoint);
    expect(await registry.list(by.tenantId, null, 10)).toEqual([]);
    expect(await refusal(registry.remove(by, METHOD, endpoint.endpointId))).toBe('not_found');
  });

  it('is behind the second wall: without its tenant’s sessions nothing of a tenant is seen', async () => {
    const { registry, by, other } = fixture();
    await registry.register(by, METHOD, SPEC, []);
    const count = 'select count(*)::integer as count from ductor.endpoint';
    expect((await test.db.asTenant(other.tenantId).query(count)).rows).toEqual([{ count: 0 }]);
    expect((await test.db.asTenant(by.tenantId).query(count)).rows).toEqual([{ count: 1 }]);
    const stolen = `update ductor.endpoint set url = 'https://evil.example.com/'`;
    expect((await test.db.asTenant(other.tenantId).query(stolen)).rowCount).toBe(0);
  });

  it('refuses what the egress guard refuses, and takes a host that has no address yet', async () => {
    const { registry, by } = fixture();
    for (const url of [
      'http://app.example.com/',
      'https://inner.example.com/',
      'https://127.0.0.1/',
      'ftp://a/',
      'x',
    ]) {
      expect([url, await refusal(registry.register(by, METHOD, { ...SPEC, url }, []))]).toEqual([
        url,
        'egress_refused',
      ]);
    }
    const url = 'https://soon.example.com/';
    expect(await refusal(registry.register(by, METHOD, { ...SPEC, url }, []))).toBe('done');
  });

  it('refuses what is out of bounds, with the field', async () => {
    const { registry, by } = fixture();
    for (const [field, wrong] of [
      ['name', { name: '-x' }],
      ['name', { name: 'a/b' }],
      ['name', { name: 'x'.repeat(64) }],
      ['concurrency', { concurrency: 0 }],
      ['concurrency', { concurrency: 10_001 }],
      ['timeout', { timeoutMs: 86_400_001 }],
      ['queues', { queues: [] }],
      ['queues[0]', { queues: [' x'] }],
      ['audience', { audience: '' }],
      ['url', { form: 'grpc' }],
    ] as const) {
      const caught = await registry.register(by, METHOD, { ...SPEC, ...wrong }, []).catch(DuctorError.from);
      expect(caught).toMatchObject({ code: 'invalid_argument', details: [{ path: field }] });
    }
    const nameless = WorkflowRegistration.fromPartial({ handlers: [''] });
    expect(await refusal(registry.register(by, METHOD, SPEC, [nameless]))).toBe('invalid_argument');
  });

  it('has at most so many a tenant, however many come at once', async () => {
    const { registry, by } = fixture();
    const calls = Array.from({ length: MAX_ENDPOINTS + 5 }, (_, n) =>
      refusal(registry.register(by, METHOD, { ...SPEC, name: `e${n}` }, [])),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer === 'done')).toHaveLength(MAX_ENDPOINTS);
    expect(answers.filter((answer) => answer === 'limit_exceeded')).toHaveLength(5);
    const [newest] = await registry.list(by.tenantId, null, 1);
    const change = registry.register(by, METHOD, { ...SPEC, name: newest?.name ?? '', concurrency: 3 }, []);
    expect(await refusal(change)).toBe('done');
  });

  it('shows the engine those of all tenants', async () => {
    const { registry, by, other } = fixture();
    const one = (await registry.register(by, METHOD, SPEC, [FLOW])).endpoint;
    const two = (await registry.register(other, METHOD, SPEC, [])).endpoint;
    const swept = await sweepEndpoints(test.db);
    for (const { tenantId, endpointId, revision } of [one, two]) {
      expect(swept).toContainEqual({ tenantId, endpointId, revision });
    }
    expect(await loadEndpoints(test.db, [one, two])).toEqual(expect.arrayContaining([one, two]));
    expect(await loadEndpoints(test.db, [{ ...one, tenantId: two.tenantId }])).toEqual([]);
  });
});
