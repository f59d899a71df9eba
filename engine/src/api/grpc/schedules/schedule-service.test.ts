/** Calls about schedules beside each other: more of them than the node has sessions, on one schedule. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BackfillScheduleRequest,
  CatchUpPolicy,
  CreateScheduleRequest,
  ListSchedulesRequest,
  OverlapPolicy,
  PauseScheduleRequest,
  ResumeScheduleRequest,
  ScheduleServiceService as S,
  SlotOutcome,
  TriggerScheduleRequest,
} from '../../../gen/ductor/v1/schedule.js';
import { testDatabase } from '../../../store/testing/index.js';
import { call, testClient, type TestClient } from '../testing/test-client.js';
import { startTestNode, type TestNode } from '../testing/test-node.js';

const database = testDatabase();
let node: TestNode;
let client: TestClient;
let scheduleId = '';

beforeAll(async () => {
  node = await startTestNode(database.db);
  const { tenantId, apiKey } = await node.tenant('busy');
  client = testClient(node.address, apiKey);
  const step = { ref: 'wait', type: 'STEP_TYPE_WAIT', args: { duration: '1h' } };
  const { id } = await node.registry.create(tenantId, { family_slug: 'waits', steps: [step] });
  await node.registry.publish(tenantId, id, 0);
  const { data } = await call(
    client,
    S.createSchedule,
    CreateScheduleRequest.fromPartial({
      ...{ slug: 'busy', familySlug: 'waits', overlap: OverlapPolicy.OVERLAP_POLICY_ALLOW },
      times: { $case: 'cron', value: { expression: '0 0 1 1 *', timeZone: 'Europe/Berlin' } },
      catchUp: { policy: CatchUpPolicy.CATCH_UP_POLICY_ALL },
    }),
  );
  scheduleId = data?.id ?? '';
});
afterAll(async () => {
  client.close();
  await node.stop();
});

describe('calls about one schedule', () => {
  it('queue for it and are all answered, though sessions are fewer and its slots start meanwhile', async () => {
    const [from, to] = [
      { seconds: BigInt(0), nanos: 0 },
      { seconds: BigInt(86_400 * 366), nanos: 0 },
    ];
    const kinds = [
      () => call(client, S.pauseSchedule, PauseScheduleRequest.fromPartial({ scheduleId })),
      () => call(client, S.triggerSchedule, TriggerScheduleRequest.fromPartial({ scheduleId })),
      () => call(client, S.backfillSchedule, BackfillScheduleRequest.fromPartial({ scheduleId, from, to })),
      () => call(client, S.listSchedules, ListSchedulesRequest.fromPartial({})),
      () => call(client, S.resumeSchedule, ResumeScheduleRequest.fromPartial({ scheduleId })),
    ];
    const rounds = Array.from({ length: 12 }, () => kinds).flat();
    const answers = await Promise.all(rounds.map((ask) => ask()));
    expect(answers).toHaveLength(60);
    // The one slot of the range was added once, whoever came first; each trigger made a slot of its own.
    const added = answers.flatMap(({ data }) => (data !== undefined && 'added' in data ? [data.added] : []));
    expect(added.reduce((sum, count) => sum + count, 0)).toBe(1);
    const triggered = answers.flatMap(({ data }) => (data !== undefined && 'slotAt' in data ? [data] : []));
    expect(new Set(triggered.map(({ slotAt }) => `${slotAt?.seconds}.${slotAt?.nanos}`)).size).toBe(12);
    await expect
      .poll(
        async () => {
          const { data } = await call(client, S.listScheduleSlots, { scheduleId, pagination: undefined, outcome: 0 });
          return data.filter(({ outcome }) => outcome === SlotOutcome.SLOT_OUTCOME_STARTED).length;
        },
        { timeout: 20_000 },
      )
      .toBe(13);
  });
});
