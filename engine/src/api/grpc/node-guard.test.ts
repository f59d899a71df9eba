import { credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RelayRequest, RelayServiceClient, RelayServiceService } from '../../gen/ductor/relay/v1/relay.js';
import type { WorkResponse } from '../../gen/ductor/v1/bridge.js';
import { PASS_KEY } from '../../bridge/index.js';
import { systemClock, uuidV7, systemRandom, impossible, type Clock } from '../../kernel/index.js';
import { testDatabase } from '../../store/testing/index.js';
import { permissionOf } from '../../tenancy/index.js';
import { NodeGuard } from './node-guard.js';
import { rawCall, testClient } from './testing/test-client.js';
import { startTestNode, type TestNode } from './testing/test-node.js';

const database = testDatabase();
const clock = systemClock();
const foreignId = uuidV7(clock.nowUs(), systemRandom());
let owner: TestNode;
let lender: TestNode;
let tenantId: string;
let client: RelayServiceClient;

const idOf = ({ coordinator }: TestNode): string => coordinator.nodeId() ?? expect.fail('no node id');
const hello = {
  hello: { workflows: [{ familySlug: 'flow', handlers: ['work'], version: 0 }] },
  work: { hello: { workerId: '00000000-0000-4000-8000-000000000001', slots: 3 } },
};

beforeAll(async () => {
  owner = await startTestNode(database.db);
  lender = await startTestNode(database.db);
  ({ tenantId } = await owner.tenant('relays'));
  client = new RelayServiceClient(owner.address, credentials.createInsecure());
  for (let tries = 0; owner.coordinator.liveNodes().length < 2; tries += 1) {
    if (tries > 200) expect.fail('the nodes do not see each other');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
afterAll(async () => {
  client.close();
  await lender.stop();
  await owner.stop();
});

/** A pass of the lender for the owner, as of so many ms ago. */
function pass(parts: { sender?: string; receiver?: string } = {}, agoMs = 0): string {
  const facts = { tenantId, sender: idOf(lender), receiver: idOf(owner), ...parts };
  return lender.passes.issue(facts, clock.nowUs() - agoMs * 1_000);
}

/** Opens a stream with this metadata; resolves with the first answer or the failure. */
function opened(metadata: Metadata): Promise<WorkResponse | ServiceError> {
  return new Promise((resolve) => {
    const call = client.relay(metadata);
    call.on('error', (error: ServiceError) => resolve(error));
    call.on('data', ({ work }: { work: WorkResponse | undefined }) => {
      resolve(work ?? impossible('no-work', ''));
      call.cancel();
    });
    call.write(RelayRequest.fromPartial(hello));
  });
}

function withPass(text: string): Metadata {
  const metadata = new Metadata();
  metadata.set(PASS_KEY, text);
  return metadata;
}

describe('a node that lends a worker', () => {
  it('is let in by a pass, for its tenant', async () => {
    const answer = await opened(withPass(pass()));
    expect(answer).toMatchObject({ welcome: { nodeId: expect.any(String), tenantId } });
  });

  it('is refused without one, with one that is not genuine, foreign, old, shown before or of nobody', async () => {
    const { tenantId: other } = await owner.tenant('others');
    const used = pass();
    await opened(withPass(used));
    const bad = pass().replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const refused: readonly (readonly [Metadata, RegExp])[] = [
      [new Metadata(), /is missing/],
      [withPass(bad), /is not genuine/],
      [withPass(pass().replace(tenantId, other)), /is not genuine/],
      [withPass(pass({ receiver: idOf(lender) })), /another node/],
      [withPass(pass({ sender: foreignId })), /no live node/],
      [withPass(pass({}, 60_000)), /is not of now/],
      [withPass(used), /shown before/],
    ];
    for (const [metadata, why] of refused) {
      expect(await opened(metadata)).toMatchObject({
        code: status.UNAUTHENTICATED,
        details: expect.stringMatching(why),
      });
    }
  });

  it('is not let in by a key, of whatever scope', async () => {
    const { apiKey } = await owner.tenant('keyed');
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${apiKey}`);
    expect(await opened(metadata)).toMatchObject({ code: status.UNAUTHENTICATED });
  });

  it('has no door over HTTP/1.1, and stands in no contract', async () => {
    const { path } = RelayServiceService.relay;
    const body = new Uint8Array(5);
    const answer = await fetch(`http://${owner.address}${path}`, {
      ...{ method: 'POST', body, headers: { 'content-type': 'application/connect+proto' } },
    });
    expect(answer.status).toBe(404);
    const reflection = testClient(owner.address, null);
    const listed = await rawCall(
      reflection,
      { path: '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', responseStream: true },
      Buffer.from([0x3a, 0x01, 0x2a]),
    );
    reflection.close();
    expect(listed.answers[0]?.toString('latin1')).not.toContain('Relay');
  });

  it('loses its streams when it is a live node no more', () => {
    let live = [{ nodeId: 'lender', address: 'x:1' }];
    const due: (() => void)[] = [];
    const manual: Clock = { ...clock, setTimer: (_ms, callback) => (due.push(callback), { cancel: () => undefined }) };
    const guard = new NodeGuard(RelayServiceService.relay.path, {
      ...{ clock: manual, passes: owner.passes, report: (caught: unknown) => impossible('report', String(caught)) },
      coordinator: { nodeId: () => 'owner', liveNodes: () => live },
    });
    const refusals: unknown[] = [];
    const principal = { tenantId, principalId: 'lender', name: '', scopes: new Set([]) };
    guard.watch(new Metadata(), (error) => refusals.push(error), principal);
    due.shift()?.();
    expect(refusals).toEqual([]);
    live = [];
    due.shift()?.();
    expect(refusals).toMatchObject([{ code: 'unauthenticated' }]);
    expect(due).toEqual([]);
  });
});

describe('a method that keys open', () => {
  it('cannot stand behind passes', () => {
    const options = {
      ...{ clock, passes: owner.passes, coordinator: owner.coordinator },
      report: (caught: unknown) => impossible('report', String(caught)),
    };
    expect(permissionOf('/ductor.v1.BridgeService/Work')).toBeDefined();
    expect(() => new NodeGuard('/ductor.v1.BridgeService/Work', options)).toThrow(/permission table/);
  });
});
