/** A node on a database of its own, a worker that serves some workflows, and a client: what a pattern runs in. */
import { type AnyWorkflow, createWorker, DuctorClient } from '@ductor/sdk';
import { afterAll } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';

/** Starts it, and ends it after the tests of the file. */
export async function patternWorld(workflows: readonly AnyWorkflow[], capacity = 100): Promise<DuctorClient> {
  const database = await createTestDatabase();
  const node = await startTestNode(database.db);
  const { apiKey } = await node.tenant('patterns');
  const connection = { engine: node.address, apiKey };
  const worker = createWorker({ ...connection, workflows: [...workflows], capacity, handleSignals: false });
  const client = new DuctorClient(connection);
  afterAll(async () => {
    client.close();
    await worker.stop();
    await node.stop();
    await database.drop();
  });
  await worker.ready;
  return client;
}
