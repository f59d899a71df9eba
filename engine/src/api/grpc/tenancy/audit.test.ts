import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditServiceService, ListAuditEventsRequest, type AuditEvent } from '../../../gen/ductor/v1/audit.js';
import { RunServiceService, TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import { CreateApiKeyRequest, TenancyServiceService } from '../../../gen/ductor/v1/tenancy.js';
import { StepType } from '../../../gen/ductor/v1/workflow.js';
import { testDatabase } from '../../../store/testing/index.js';
import { auditedMethod, SCOPES, type Scope } from '../../../tenancy/index.js';
import { MATRIX_METHODS } from '../../testing/matrix/methods.js';
import { GRPC_DOOR } from '../../testing/matrix/doors.js';
import { matrixWorld, type MatrixWorld } from '../../testing/matrix/world.js';
import type { Ids } from '../../testing/matrix/requests.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { testWorker } from '../testing/test-worker.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let world: MatrixWorld;
let reader: TestClient;
const clients: TestClient[] = [];
const WRITING = MATRIX_METHODS.filter(({ name }) => auditedMethod(name) !== undefined);

beforeAll(async () => {
  node = await startTestNode(database.db);
  world = await matrixWorld(node, 'audit');
  const [method] = MATRIX_METHODS.filter(({ scope }) => scope === 'audit:read');
  reader = testClient(node.address, (method && (await world.key('own', method))) ?? '');
});
afterAll(async () => {
  world.close();
  reader.close();
  for (const client of clients) client.close();
  await node.stop();
});

async function trail(filter: Partial<ListAuditEventsRequest> = {}, by = reader): Promise<AuditEvent[]> {
  await node.tenancy.trail.flush();
  const pagination = { pageSize: 200, cursor: '', nextCursor: '' };
  const request = ListAuditEventsRequest.fromPartial({ pagination, ...filter });
  return (await call(by, AuditServiceService.listAuditEvents, request)).data;
}

/** What was added since; both as far as a page goes, newest first. */
async function addedSince([last]: readonly AuditEvent[]): Promise<AuditEvent[]> {
  const now = await trail();
  const known = now.findIndex(({ id }) => id === last?.id);
  return known === -1 ? now : now.slice(0, known);
}
const fresh = async (slug: string, scopes: readonly Scope[] = SCOPES): Promise<TestClient> => {
  const client = testClient(node.address, (await node.tenant(slug, scopes)).apiKey);
  clients.push(client);
  return client;
};

/** What a bundle changes has a row for each object, of its own kind; that of the good request changes a rule. */
function kindIn(method: string): string | undefined {
  const kind = auditedMethod(method)?.kind;
  return kind === 'bundle' ? 'rule' : kind;
}

describe('the audit trail', () => {
  it('knows every method that writes', () => {
    const writing = MATRIX_METHODS.filter(({ scope }) => scope.endsWith(':write') || scope === 'tenant:admin');
    const left = writing.filter(({ name }) => auditedMethod(name) === undefined).map(({ name }) => name);
    expect(left).toEqual(['/ductor.v1.TenancyService/ListTenants']);
  });

  it.each(WRITING.filter(({ answer, isPreview }) => answer === undefined && isPreview !== true))(
    'has one row for what $name did',
    async (method) => {
      const ids = await world.ids('own');
      const apiKey = await world.key('own', method);
      const before = await trail();
      expect(await GRPC_DOOR.call(node.address, method, apiKey, method.request(ids))).toMatchObject({ code: 'ok' });
      const [row, ...more] = await addedSince(before);
      expect(more).toEqual([]);
      expect(row).toMatchObject({
        method: method.name,
        objectKind: kindIn(method.name),
        outcome: 'ok',
        actor: expect.stringMatching(/^own /),
      });
      expect(row?.objectId).toMatch(/^[0-9a-f-]{36}$/);
      expect(await trail({ objectId: row?.objectId ?? '', objectKind: row?.objectKind ?? '' })).toContainEqual(row);
      expect((await trail({ actorId: row?.actorId ?? '' }))[0]).toEqual(row);
    },
  );

  it.each(WRITING.filter(({ namesObject }) => namesObject !== false))(
    'has one row for what $name was refused',
    async (method) => {
      const missing: Ids = await world.ids('missing');
      for (const [kind, outcome] of [
        ['own', 'not_found'],
        ['lower', 'permission_denied'],
      ] as const) {
        const before = await trail();
        await GRPC_DOOR.call(node.address, method, await world.key(kind, method), method.request(missing));
        const rows = await addedSince(before);
        expect(rows).toMatchObject([{ method: method.name, outcome }]);
        // Who may not call has nothing read of what they sent.
        expect(rows[0]?.objectId === '').toBe(kind === 'lower');
      }
    },
  );

  it('tells a repetition from a start, and what a worker registered from both', async () => {
    const client = await fresh('repeats');
    const worker = testWorker(client, {
      workerId: '00000000-0000-4000-8000-000000000003',
      slots: 1,
      workflows: [{ definition: { familySlug: 'repeated', steps: [{ ref: 'a', type: StepType.STEP_TYPE_CALLBACK }] } }],
    });
    await worker.next((message) => message.welcome);
    const request = TriggerRunRequest.fromPartial({ familySlug: 'repeated', idempotencyKey: 'one' });
    const first = await call(client, RunServiceService.triggerRun, request);
    await call(client, RunServiceService.triggerRun, request);
    expect(await trail({}, client)).toMatchObject([
      { method: '/ductor.v1.RunService/TriggerRun', objectId: first.data?.id, outcome: 'existing' },
      { method: '/ductor.v1.RunService/TriggerRun', objectId: first.data?.id, outcome: 'ok' },
      { method: '/ductor.v1.BridgeService/Work', objectKind: 'workflow', outcome: 'ok' },
    ]);
    worker.stream.end();
  });

  it('says why, where the caller does', async () => {
    const client = await fresh('reasons');
    const key = { name: 'k', scopes: ['run:read'] };
    const { data } = await call(client, TenancyServiceService.createApiKey, CreateApiKeyRequest.fromPartial(key));
    const keyId = data?.key?.id ?? '';
    await call(client, TenancyServiceService.revokeApiKey, { keyId, reason: 'leaked' });
    expect(await trail({ objectId: keyId }, client)).toMatchObject([{ reason: 'leaked' }, { reason: '' }]);
  });

  it('is paged from the newest on, and is each tenant’s own', async () => {
    const client = await fresh('pages');
    for (let n = 0; n < 5; n += 1) {
      const key = CreateApiKeyRequest.fromPartial({ name: `k${n}`, scopes: ['run:read'] });
      await call(client, TenancyServiceService.createApiKey, key);
    }
    const whole = await trail({}, client);
    expect(whole).toHaveLength(5);
    const paged: AuditEvent[] = [];
    for (let cursor = ''; ;) {
      const request = ListAuditEventsRequest.fromPartial({ pagination: { pageSize: 2, cursor, nextCursor: '' } });
      const page = await call(client, AuditServiceService.listAuditEvents, request);
      paged.push(...page.data);
      cursor = page.pagination?.nextCursor ?? '';
      if (cursor === '') break;
    }
    expect(paged).toEqual(whole);
    const stranger = await fresh('pages-stranger');
    expect(await trail({}, stranger)).toEqual([]);
    expect(await trail({ objectId: whole[0]?.objectId ?? '' }, stranger)).toEqual([]);
  });

  it('refuses filters that make no sense', async () => {
    for (const wrong of [{ objectKind: 'moon' }, { actorId: 'me' }, { objectId: 'x'.repeat(200) }]) {
      const failed = await trail(wrong).catch(wireErrorOf);
      expect(failed).toMatchObject({ code: 'invalid_argument' });
    }
  });

  it('is never changed', async () => {
    await expect(database.db.query("update ductor.audit set outcome = 'ok'")).rejects.toThrow('never changed');
    const own = database.db.asTenant('01900000-0000-7000-8000-00000000000a');
    await expect(own.query('delete from ductor.audit')).rejects.toThrow('permission denied');
    await expect(own.query("update ductor.audit set actor = ''")).rejects.toThrow('permission denied');
  });
});
