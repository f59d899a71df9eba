import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkRequest } from '../../gen/ductor/v1/bridge.js';
import { ListRunsRequest, RunServiceService, RunState, TriggerRunRequest } from '../../gen/ductor/v1/run.js';
import { isAuditMissing, PERMISSIONS, SCOPES } from '../../tenancy/index.js';
import { DuctorError, systemClock } from '../../kernel/index.js';
import { testDatabase } from '../../store/testing/index.js';
import { MethodGuard, scopeOf, type GuardOptions } from './guard.js';
import { ServiceBuilder } from './service.js';
import { goodBytes, MATRIX_METHODS } from '../testing/matrix/methods.js';
import type { Ids } from '../testing/matrix/requests.js';
import { call, rawCall, testClient, wireErrorOf, type RawOutcome, type TestClient } from './testing/test-client.js';
import { startTestNode, type TestNode } from './testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let own: Ids;
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
async function makeIds(tenantId: string, apiKey: string): Promise<Ids> {
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
  const runId = data?.id ?? '';
  const { keyId } = await node.tenancy.createKey({ tenantId, name: 'named', scopes: ['run:read'] });
  const nobody = '01900000-0000-7000-8000-00000000000e';
  const others = {
    endpointId: nobody,
    poolId: nobody,
    recipientId: nobody,
    ruleId: nobody,
    decisionId: nobody,
    assignmentId: nobody,
    ...{ queueId: nobody, itemId: nobody, claimantId: nobody, waitingId: nobody },
  };
  return { runId, openRunId: runId, workflowId: id, familySlug, keyId, scheduleId: keyId, ...others };
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
describe('the permission table', () => {
  it('has no entry that is not served', async () => {
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
    expect(isAuditMissing('/ductor.v1.RunService/Forgotten')).toBe(false);
    for (const path of Object.keys(PERMISSIONS)) expect([path, isAuditMissing(path)]).toEqual([path, false]);
  });
});

describe.each(MATRIX_METHODS)('$name', ({ name, method: { kind }, bytes, request }) => {
  it('takes the tenant from the key: naming another is refused, naming its own is fine', async () => {
    const client = connect(ownKey);
    const naming = async (tenantId: string): Promise<string> => {
      const metadata = client.metadata.clone();
      metadata.set('x-tenant-id', tenantId);
      const method = { path: name, responseStream: kind !== 'unary' };
      return codeOf(await rawCall(client, method, bytes(request(own)), metadata));
    };
    expect(await naming(otherTenant)).toBe('permission_denied');
    expect(await naming('nonsense')).toBe('permission_denied');
    expect(['permission_denied', 'unauthenticated']).not.toContain(await naming(ownTenant));
  });
});

describe('lists and streams of another tenant', () => {
  it('are empty, and its idempotency keys are its own', async () => {
    const stranger = connect(otherKey);
    const theirs = await makeIds(otherTenant, otherKey);
    const listed = await call(stranger, RunServiceService.listRuns, ListRunsRequest.fromPartial({}));
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
      client.runs.streamTriggers(client.metadata),
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
    expect(await Promise.all(codes)).toEqual(streams.map(() => 'unauthenticated'));
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
    const [get] = MATRIX_METHODS.filter(({ name }) => name.endsWith('GetRun'));
    if (get === undefined) throw new TypeError('GetRun');
    const large = client.metadata.clone();
    large.set('x-large', 'x'.repeat(17_000));
    expect(codeOf(await rawCall(client, { path: get.name, responseStream: false }, goodBytes(get, own), large))).toBe(
      'invalid_argument',
    );
  });
});

describe('the log', () => {
  it('holds no key, and nothing at all of refusals', () => {
    expect(node.logged.join('')).not.toMatch(/dk_[0-9A-Za-z]{8}/);
    expect(node.logged).toEqual([]);
  });
});
