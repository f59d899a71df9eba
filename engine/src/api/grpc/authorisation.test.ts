import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../../gen/descriptors.js';
import { WorkRequest } from '../../gen/ductor/v1/bridge.js';
import { RunServiceService, RunState, TriggerRunRequest } from '../../gen/ductor/v1/run.js';
import { newApiKey, PERMISSIONS, SCOPES, type Scope } from '../../tenancy/index.js';
import { DuctorError, seededRandom, systemClock } from '../../kernel/index.js';
import { testDatabase } from '../../store/testing/index.js';
import { MethodGuard, scopeOf, type GuardOptions } from './guard.js';
import { ServiceBuilder } from './service.js';
import { EVERY_METHOD, type OwnIds } from './testing/every-method.js';
import { call, rawCall, testClient, wireErrorOf, type RawOutcome, type TestClient } from './testing/test-client.js';
import { startTestNode, type TestNode } from './testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let own: OwnIds;
let ownKey: string;
let otherKey: string;
let ownTenant: string;
let otherTenant: string;
const clients: TestClient[] = [];

function connect(apiKey: string | null): TestClient {
  const client = testClient(node.address, apiKey);
  clients.push(client);
  return client;
}

/** A workflow that waits for an hour, and a run of it. */
async function makeIds(tenantId: string, apiKey: string): Promise<OwnIds> {
  const familySlug = 'waits';
  const step = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
  const definition = { family_slug: familySlug, steps: [step] };
  const { id } = await node.registry.create(tenantId, definition);
  await node.registry.publish(tenantId, id, 0);
  const { data } = await call(
    connect(apiKey),
    RunServiceService.triggerRun,
    TriggerRunRequest.fromPartial({ familySlug }),
  );
  return { runId: data?.id ?? '', workflowId: id, familySlug };
}

beforeAll(async () => {
  node = await startTestNode(database.db);
  const mine = await node.tenant('own');
  const theirs = await node.tenant('other');
  [ownTenant, ownKey, otherTenant, otherKey] = [mine.tenantId, mine.apiKey, theirs.tenantId, theirs.apiKey];
  own = await makeIds(ownTenant, ownKey);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await node.stop();
});

const guardParts = (): Pick<GuardOptions, 'clock' | 'report'> => ({
  clock: systemClock(),
  report: (caught) => DuctorError.from(caught),
});
const codeOf = ({ error }: RawOutcome): string => {
  if (error === null) return 'ok';
  return wireErrorOf(error)?.code ?? `status ${status[error.code]}`;
};
const others = (scope: Scope): Scope[] => SCOPES.filter((candidate) => candidate !== scope);

async function keyWith(scopes: readonly Scope[], expiresInMs?: number): Promise<string> {
  const key = { tenantId: ownTenant, name: 'test', scopes };
  const { apiKey } = await node.tenancy.createKey(expiresInMs === undefined ? key : { ...key, expiresInMs });
  return apiKey;
}

async function revokedKey(): Promise<string> {
  const { apiKey, keyId } = await node.tenancy.createKey({ tenantId: ownTenant, name: 'test', scopes: SCOPES });
  await node.tenancy.revokeKey(ownTenant, keyId);
  return apiKey;
}

describe('the permission table', () => {
  it('has every method of the contract, and every entry is served', async () => {
    const contract = Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64').toString('latin1');
    const named = EVERY_METHOD.map(({ name }) => name);
    expect(
      Object.keys(PERMISSIONS)
        .filter((name) => name.startsWith('/ductor.'))
        .sort(),
    ).toEqual([...named].sort());
    for (const name of named) expect(contract).toContain(name.slice(name.lastIndexOf('/') + 1));
    const client = connect(null);
    for (const path of Object.keys(PERMISSIONS)) {
      const { error } = await rawCall(
        client,
        { path, responseStream: /Watch|Info|Await|Work$/.test(path) },
        Buffer.alloc(0),
      );
      expect([path, error?.code]).not.toEqual([path, status.UNIMPLEMENTED]);
    }
  });

  it('stops a server that serves a method it does not know, or a public one behind a key', () => {
    expect(() => scopeOf('/ductor.v1.RunService/DropEverything')).toThrow(/permission-missing/);
    expect(() => scopeOf('/grpc.health.v1.Health/Check')).toThrow(/permission-public/);
    const guard = { ...guardParts(), tenancy: node.tenancy };
    const method = { ...RunServiceService.getRun, path: '/ductor.v1.RunService/Forgotten' };
    expect(() => new ServiceBuilder(guard).unary(method, () => expect.fail())).toThrow(/Forgotten has no entry/);
  });
});

describe.each(EVERY_METHOD)('$name', ({ method, request, scope, namesObject }) => {
  const outcome = (apiKey: string | null, ids = own): Promise<RawOutcome> =>
    rawCall(connect(apiKey), method, request(ids));

  it('needs a key that exists, lives and has the scope', async () => {
    const expired = await keyWith(SCOPES, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const typo = ownKey.slice(0, -1) + (ownKey.endsWith('A') ? 'B' : 'A');
    const unknown = newApiKey(seededRandom(1));
    for (const key of [null, 'garbage', typo, unknown, expired, await revokedKey()]) {
      const refused = await outcome(key);
      expect(codeOf(refused)).toBe('unauthenticated');
      expect(refused.error?.code).toBe(status.UNAUTHENTICATED);
      expect(refused.answers).toEqual([]);
    }
    expect(codeOf(await outcome(await keyWith(others(scope))))).toBe('permission_denied');
  });

  it('answers its own tenant, also with a key for nothing else', async () => {
    expect(codeOf(await outcome(await keyWith([scope])))).toBe('ok');
  });

  it('shows another tenant nothing, and a foreign object exactly as a missing one', async () => {
    const foreign = await outcome(otherKey);
    if (!namesObject) {
      for (const answer of foreign.answers) expect(answer.toString('latin1')).not.toContain(own.workflowId);
      return;
    }
    const missing = {
      runId: own.runId.replace(/^......../, 'ffffffff'),
      workflowId: own.workflowId.replace(/^......../, 'ffffffff'),
      familySlug: 'nobody-has',
    };
    const absent = await outcome(otherKey, missing);
    const masked = (text: string | undefined, ids: OwnIds): string | undefined =>
      Object.values(ids).reduce<string | undefined>((masking, id: string) => masking?.replaceAll(id, 'X'), text);
    expect(codeOf(foreign)).toBe('not_found');
    expect(codeOf(absent)).toBe('not_found');
    expect(foreign.error?.code).toBe(absent.error?.code);
    expect(masked(foreign.error?.details, own)).toBe(masked(absent.error?.details, missing));
    expect(masked(wireErrorOf(foreign.error)?.remedy, own)).toBe(masked(wireErrorOf(absent.error)?.remedy, missing));
  });

  it('takes the tenant from the key: naming another is refused, naming its own is fine', async () => {
    const client = connect(ownKey);
    const naming = async (tenantId: string): Promise<string> => {
      const metadata = client.metadata.clone();
      metadata.set('x-tenant-id', tenantId);
      return codeOf(await rawCall(client, method, request(own), metadata));
    };
    expect(await naming(otherTenant)).toBe('permission_denied');
    expect(await naming('nonsense')).toBe('permission_denied');
    expect(['ok', 'run_closed']).toContain(await naming(ownTenant));
  });
});

describe('lists and streams of another tenant', () => {
  it('are empty, and its idempotency keys are its own', async () => {
    const stranger = connect(otherKey);
    const theirs = await makeIds(otherTenant, otherKey);
    const listed = await call(stranger, RunServiceService.listRuns, {
      pagination: undefined,
      state: 0,
      familySlug: '',
    });
    expect(listed.data.map(({ id }) => id)).toEqual([theirs.runId]);
    const withKey = TriggerRunRequest.fromPartial({ familySlug: 'waits', idempotencyKey: 'same' });
    const a = await call(connect(ownKey), RunServiceService.triggerRun, withKey);
    const b = await call(stranger, RunServiceService.triggerRun, withKey);
    expect(a.data?.id).not.toBe(b.data?.id);
    expect(b.data?.state).toBe(RunState.RUN_STATE_WAITING);
  });

  it('end when the key is revoked', async () => {
    const { apiKey, keyId } = await node.tenancy.createKey({ tenantId: ownTenant, name: 'brief', scopes: SCOPES });
    const { data } = await call(
      connect(apiKey),
      RunServiceService.triggerRun,
      TriggerRunRequest.fromPartial({ familySlug: 'waits' }),
    );
    const client = connect(apiKey);
    const worker = client.bridge.work(client.metadata);
    worker.write(WorkRequest.fromPartial({ hello: { workerId: '00000000-0000-4000-8000-000000000009', slots: 1 } }));
    const streams = [
      client.runs.watchRun({ runId: data?.id ?? '' }, client.metadata),
      client.runs.awaitRuns(client.metadata),
      worker,
    ];
    const codes = streams.map(
      (stream) =>
        new Promise((resolve) => {
          stream.on('data', () => undefined);
          stream.on('error', (error) => resolve(wireErrorOf(error)?.code));
          stream.on('end', () => resolve('ended'));
        }),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const startMs = performance.now();
    await node.tenancy.revokeKey(ownTenant, keyId);
    expect(await Promise.all(codes)).toEqual(['unauthenticated', 'unauthenticated', 'unauthenticated']);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});

describe('metadata', () => {
  it('with two keys, or far too much of it, is refused', async () => {
    const client = connect(ownKey);
    const twice = client.metadata.clone();
    twice.add('authorization', `Bearer ${otherKey}`);
    // Clients of this process refuse to send that: other ones may.
    const guard = new MethodGuard('/ductor.v1.RunService/GetRun', { ...guardParts(), tenancy: node.tenancy });
    expect(() => guard.enter(twice)).toThrow(/2 values of authorization/);
    const [get] = EVERY_METHOD.filter(({ name }) => name.endsWith('GetRun'));
    if (get === undefined) throw new TypeError('GetRun');
    const large = client.metadata.clone();
    large.set('x-large', 'x'.repeat(17_000));
    expect(codeOf(await rawCall(client, get.method, get.request(own), large))).toBe('invalid_argument');
  });
});

describe('the log', () => {
  it('holds no key, and nothing at all of refusals', () => {
    expect(node.logged.join('')).not.toMatch(/dk_[0-9A-Za-z]{8}/);
    expect(node.logged).toEqual([]);
  });
});
