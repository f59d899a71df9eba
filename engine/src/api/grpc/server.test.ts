import { loadPackageDefinition, status, type ServiceError } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunServiceService, TriggerRunRequest } from '../../gen/ductor/v1/run.js';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../../gen/descriptors.js';
import { testDatabase } from '../../store/testing/index.js';
import { MAX_MESSAGE_BYTES, MESSAGE_MARGIN_BYTES } from './message-size.js';
import { call, rawCall, testClient, wireErrorOf, type TestClient } from './testing/test-client.js';
import { startTestNode, type TestNode } from './testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;

beforeAll(async () => {
  node = await startTestNode(database.db);
  client = testClient(node.address, null);
});
afterAll(async () => {
  client.close();
  await node.stop();
});

/** Status of the whole node by the health service: 1 is SERVING, 2 NOT_SERVING. */
async function health(): Promise<number | undefined> {
  const { answers } = await rawCall(
    client,
    { path: '/grpc.health.v1.Health/Check', responseStream: false },
    Buffer.alloc(0),
  );
  return answers[0]?.[1];
}

/** Waits until the health is as expected; gives it back. */
async function until(expected: number): Promise<number> {
  for (let tries = 0; (await health()) !== expected; tries += 1) {
    if (tries > 100) expect.fail(`health did not become ${expected}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return expected;
}

describe('without a key', () => {
  it('the health is told: SERVING with shards, NOT_SERVING while draining', async () => {
    expect(await until(1)).toBe(1);
    node.server.drain();
    expect(await until(2)).toBe(2);
  });

  it('reflection lists the services and gives their files', async () => {
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    // ServerReflectionRequest { list_services = 7 }, { file_containing_symbol = 4 }
    const list = await rawCall(client, { path, responseStream: true }, Buffer.from([0x3a, 0x01, 0x2a]));
    const named = list.answers[0]?.toString('latin1') ?? '';
    for (const service of ['WorkflowService', 'RunService', 'BridgeService'])
      expect(named).toContain(`ductor.v1.${service}`);
    const symbol = Buffer.from('ductor.v1.RunService', 'latin1');
    const ask = Buffer.concat([Buffer.from([0x22, symbol.length]), symbol]);
    const file = await rawCall(client, { path, responseStream: true }, ask);
    expect(file.answers[0]?.toString('latin1')).toContain('TriggerRunRequest');
  });

  it('the descriptors load as a contract for clients without generated code', async () => {
    const contract = loadPackageDefinition(
      loadFileDescriptorSetFromBuffer(Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64'), { keepCase: true }),
    );
    expect(contract).toHaveProperty('ductor.v1.RunService.service.GetRun');
  });

  it('a method that does not exist is UNIMPLEMENTED', async () => {
    const { error } = await rawCall(
      client,
      { path: '/ductor.v1.RunService/Nothing', responseStream: false },
      Buffer.alloc(0),
    );
    expect(error?.code).toBe(status.UNIMPLEMENTED);
  });
});

describe('bounds', () => {
  it('a message beyond 4 MiB is refused', async () => {
    const { apiKey } = await node.tenant('bounds');
    const keyed = testClient(node.address, apiKey);
    const send = (bytes: number): Promise<unknown> => {
      const inputPayload = { data: Buffer.alloc(bytes) };
      const request = TriggerRunRequest.fromPartial({ familySlug: 'x', inputPayload });
      return call(keyed, RunServiceService.triggerRun, request).catch((caught: ServiceError) => caught);
    };
    const beyond = await send(MAX_MESSAGE_BYTES);
    expect(beyond).toMatchObject({ code: status.INVALID_ARGUMENT });
    expect(wireErrorOf(beyond)?.code).toBe('message_too_large');
    // Far beyond, grpc-js refuses by itself as soon as it reads the length.
    const farBeyond = await send(MAX_MESSAGE_BYTES + MESSAGE_MARGIN_BYTES);
    expect(farBeyond).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
    keyed.close();
  });
});
