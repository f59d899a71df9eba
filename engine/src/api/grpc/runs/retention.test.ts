/** Retention over the wire: who says how long a run is kept, and what is answered once it is gone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GetRunHistoryRequest, ListRunsRequest, TriggerRunRequest } from '../../../gen/ductor/v1/run.js';
import { RunServiceService as R } from '../../../gen/ductor/v1/run.js';
import {
  CatchUpPolicy,
  CreateScheduleRequest,
  ListScheduleSlotsRequest,
  OverlapPolicy,
} from '../../../gen/ductor/v1/schedule.js';
import { ScheduleServiceService as S, TriggerScheduleRequest } from '../../../gen/ductor/v1/schedule.js';
import { CreateTenantRequest, TenancyServiceService as T } from '../../../gen/ductor/v1/tenancy.js';
import { sleep, systemClock } from '../../../kernel/index.js';
import type { Row } from '../../../store/index.js';
import { testDatabase } from '../../../store/testing/index.js';
import { SCOPES } from '../../../tenancy/index.js';
import { createJanitor } from '../../../workflow/index.js';
import { call, testClient, wireErrorOf, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
const clock = systemClock();
const DAY_US = 86_400_000_000;
let node: TestNode;
let client: TestClient;
let tenantId: string;

async function publish(familySlug: string, more: object = {}): Promise<void> {
  const steps = [{ ref: 'one', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'project', project: { n: '1' } } }];
  const { id } = await node.registry.create(tenantId, { family_slug: familySlug, steps, ...more });
  await node.registry.publish(tenantId, id, 0);
}

beforeAll(async () => {
  node = await startTestNode(database.db);
  const made = await node.tenant('kept', SCOPES);
  ({ tenantId } = made);
  client = testClient(node.address, made.apiKey);
  await publish('plain');
  await publish('short', { retention: '2h' });
});
afterAll(async () => {
  client.close();
  await node.stop();
});

const trigger = (request: Partial<TriggerRunRequest>) =>
  call(client, R.triggerRun, TriggerRunRequest.fromPartial({ familySlug: 'plain', ...request }));

async function ended(runId: string): Promise<void> {
  while ((await call(client, R.getRun, { runId })).data?.closedAt === undefined) await sleep(clock, 10);
}

async function keptDays(runId: string): Promise<number> {
  const { rows } = await database.db.query<Row & { us: number }>(
    'select retention_us as us from ductor.runs where run_id = $1',
    [runId],
  );
  return (rows[0]?.us ?? 0) / DAY_US;
}

/** As if the runs had ended so long ago. */
async function age(days: number): Promise<void> {
  await database.db.query('update ductor.runs set closed_at = closed_at - $1::bigint', [days * DAY_US]);
  await createJanitor({
    ...{ db: database.db, clock, onStep: () => undefined, onPass: () => undefined },
    onError: (error) => void expect.unreachable(String(error)),
  }).pass();
}

describe('how long a run is kept', () => {
  it('is what the trigger says, else the workflow, else the tenant, else 30 days', async () => {
    const days = async (request: Partial<TriggerRunRequest>): Promise<number> =>
      keptDays((await trigger(request)).data?.id ?? '');
    expect(await days({})).toBe(30);
    await database.db.query('update ductor.tenants set retention_us = $1 where tenant_id = $2', [
      90 * DAY_US,
      tenantId,
    ]);
    expect(await days({})).toBe(90);
    expect(await days({ familySlug: 'short' })).toBe(2 / 24);
    expect(await days({ familySlug: 'short', retention: '400d' })).toBe(400);
  });

  it('is refused with what is wrong with it', async () => {
    for (const retention of ['1s', '4000d', 'soon']) {
      await expect(trigger({ retention })).rejects.toThrow(/retention: is (no duration|too short or too long)/);
    }
  });

  it('is set for a tenant where it is made', async () => {
    const make = (slug: string, retention: string) =>
      call(client, T.createTenant, CreateTenantRequest.fromPartial({ slug, retention }));
    expect((await make('half-a-year', '180d')).data?.retention).toBe('180d');
    expect((await make('usual', '')).data?.retention).toBe('30d');
    await expect(make('brief', '1s')).rejects.toThrow('retention');
  });
});

describe('a run whose retention is over', () => {
  it('is not found any more, its idempotency key is free, and others are as they were', async () => {
    const gone = (await trigger({ retention: '1d', idempotencyKey: 'k', attributes: { a: 'gone' } })).data?.id ?? '';
    const kept = (await trigger({ retention: '5d', attributes: { a: 'kept' } })).data?.id ?? '';
    await Promise.all([gone, kept].map(ended));
    await age(2);
    const failure = async (answer: Promise<unknown>): Promise<unknown> => wireErrorOf(await answer.catch((e) => e));
    expect(await failure(call(client, R.getRun, { runId: gone }))).toMatchObject({ code: 'not_found' });
    const history = GetRunHistoryRequest.fromPartial({ runId: gone });
    expect(await failure(call(client, R.getRunHistory, history))).toMatchObject({ code: 'not_found' });
    const list = await call(client, R.listRuns, ListRunsRequest.fromPartial({ attributes: { a: 'gone' } }));
    expect(list.data).toEqual([]);
    expect((await call(client, R.getRun, { runId: kept })).data).toMatchObject({ id: kept, output: { one: { n: 1 } } });
    const again = (await trigger({ retention: '1d', idempotencyKey: 'k' })).data?.id;
    expect(again).not.toBe(gone);
  });

  it('leaves the slot of the schedule that started it readable', async () => {
    const { data } = await call(
      client,
      S.createSchedule,
      CreateScheduleRequest.fromPartial({
        ...{ slug: 'nightly', familySlug: 'short', overlap: OverlapPolicy.OVERLAP_POLICY_ALLOW },
        catchUp: { policy: CatchUpPolicy.CATCH_UP_POLICY_ALL },
        times: { $case: 'cron', value: { expression: '0 0 1 1 *', timeZone: 'Europe/Berlin' } },
      }),
    );
    const scheduleId = data?.id ?? '';
    await call(client, S.triggerSchedule, TriggerScheduleRequest.fromPartial({ scheduleId }));
    const slots = async () =>
      (await call(client, S.listScheduleSlots, ListScheduleSlotsRequest.fromPartial({ scheduleId }))).data;
    while ((await slots())[0]?.runId === undefined || (await slots())[0]?.runId === '') await sleep(clock, 20);
    const before = await slots();
    const runId = before[0]?.runId ?? '';
    await ended(runId);
    await age(1);
    await expect(call(client, R.getRun, { runId })).rejects.toThrow('there is no run');
    expect((await slots())[0]).toMatchObject({ runId, outcome: before[0]?.outcome });
  });
});
