/** A whole node whose login is no superuser: it owns the schema, and row-level security is forced on it, too. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ListAuditEventsRequest, AuditServiceService } from '../../../gen/ductor/v1/audit.js';
import { GetRunRequest, ListRunsRequest, RunServiceService, RunState } from '../../../gen/ductor/v1/run.js';
import { TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import { checkTenantWall, migrate, openDatabase, type Database } from '../../../store/index.js';
import { createTestDatabase, testDatabase, type CreatedDatabase } from '../../../store/testing/index.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const superuser = testDatabase();
const LOGIN = `ductor_test_plain_${process.pid}`;
let created: CreatedDatabase;
let db: Database;
let node: TestNode;
const clients: TestClient[] = [];

beforeAll(async () => {
  await superuser.db.query(`create role ${LOGIN} login password 'test'`);
  await superuser.db.query(`grant ductor_api, ductor_engine to ${LOGIN}`);
  created = await createTestDatabase({ isMigrated: false });
  await superuser.db.query(`alter database ${created.name} owner to ${LOGIN}`);
  const url = new URL(created.url);
  url.username = LOGIN;
  url.password = 'test';
  await migrate({ url: url.toString() });
  db = openDatabase({ url: url.toString(), applicationName: 'ductor test' });
  node = await startTestNode(db);
});
afterAll(async () => {
  for (const client of clients) client.close();
  await node.stop();
  await db.close();
  await created.drop();
  await superuser.db.query(`drop role ${LOGIN}`);
});

async function tenantWithRun(slug: string): Promise<{ readonly client: TestClient; readonly runId: string }> {
  const { tenantId, apiKey } = await node.tenant(slug);
  const client = testClient(node.address, apiKey);
  clients.push(client);
  const step = { ref: 'wait', type: 'STEP_TYPE_WAIT' as const, args: { duration: '10ms' } };
  const { id } = await node.registry.create(tenantId, { family_slug: 'waits', steps: [step] });
  await node.registry.publish(tenantId, id, 0);
  const request = TriggerRunRequest.fromPartial({
    familySlug: 'waits',
    idempotencyKey: 'once',
    attributes: { a: 'b' },
  });
  const { data } = await call(client, RunServiceService.triggerRun, request);
  return { client, runId: data?.id ?? '' };
}

describe('a node behind its own wall', () => {
  it('runs runs of all tenants and shows each its own', async () => {
    expect(await checkTenantWall(db)).toBeNull();
    const [mine, theirs] = [await tenantWithRun('mine'), await tenantWithRun('theirs')];
    for (const { client, runId } of [mine, theirs]) {
      const stream = client.runs.watchRun({ runId }, client.metadata);
      let last: RunState | undefined;
      for await (const { data } of stream as AsyncIterable<{ data: { state: RunState } }>) last = data.state;
      expect(last).toBe(RunState.RUN_STATE_COMPLETED);
      const { data } = await call(client, RunServiceService.listRuns, ListRunsRequest.fromPartial({}));
      expect(data.map(({ id, attributes }) => [id, attributes])).toEqual([[runId, { a: 'b' }]]);
      const trail = await call(client, AuditServiceService.listAuditEvents, ListAuditEventsRequest.fromPartial({}));
      expect(trail.data).toMatchObject([{ objectId: runId, outcome: 'ok' }]);
    }
    const request = GetRunRequest.fromPartial({ runId: theirs.runId });
    const foreign = await call(mine.client, RunServiceService.getRun, request).catch(wireErrorOf);
    expect(foreign).toMatchObject({ code: 'not_found' });
    expect(node.logged).toEqual([]);
  });
});
