/** The second wall: statements that lost their condition on the tenant show and change nothing of another tenant. */
import { createHash, randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../engine/src/expressions/index.js';
import { seededRandom, systemClock } from '../../engine/src/kernel/index.js';
import { createSchedules, type NewSchedule, type Schedules } from '../../engine/src/schedules/index.js';
import type { TenantAccess } from '../../engine/src/store/index.js';
import { testDatabase, withoutTenantFilter } from '../../engine/src/store/testing/index.js';
import {
  createWorkflowRegistry,
  postgresRunReader,
  type RunReader,
  type WorkflowRegistry,
} from '../../engine/src/workflow/index.js';

const test = testDatabase();
const MINE = randomUUID();
const THEIRS = randomUUID();

const PAYLOAD = { digest: createHash('sha256').update('x').digest('hex'), size: 1 };

/** Statements that lost a condition. */
const stripped = new Set<string>();

interface Rooms {
  readonly registry: WorkflowRegistry;
  readonly reader: RunReader;
  readonly schedules: Schedules;
}

function roomsOn(access: TenantAccess): Rooms {
  const registry = createWorkflowRegistry({
    db: access,
    clock: systemClock(),
    cel: createCelCompiler(),
    newId: randomUUID,
  });
  const [clock, random, changed] = [systemClock(), seededRandom(3), (): void => undefined];
  return {
    ...{ registry, reader: postgresRunReader(access) },
    schedules: createSchedules({ db: access, clock, random, changed }),
  };
}

const definition = (slug: string): { family_slug: string; steps: { ref: string; type: 'STEP_TYPE_CALLBACK' }[] } => ({
  family_slug: slug,
  steps: [{ ref: 'a', type: 'STEP_TYPE_CALLBACK' }],
});

const schedule = (slug: string): NewSchedule => ({
  ...{ slug, familySlug: 'theirs', title: '', version: 0, attributes: {}, startsAtUs: null, endsAtUs: null },
  spec: { kind: 'interval', everyMs: 3_600_000, offsetMs: 0 },
  input: { data: Buffer.from('null'), encoding: '' },
  ...{ overlap: 'allow', catchUp: 'none', catchUpWindowMs: 1_000, jitterMs: 0 },
});

async function addRun(tenantId: string, familySlug: string): Promise<string> {
  const runId = randomUUID();
  const ids = [tenantId, runId];
  await test.db.query(
    `insert into ductor.runs (started_at, closed_at, version, shard, status, active, tenant_id, run_id, family_slug)
      values (1, 2, 1, 0, 1, false, $1, $2, $3)`,
    [...ids, familySlug],
  );
  await test.db.query(
    "insert into ductor.run_journal (at, tenant_id, run_id, seq, entries) values (1, $1, $2, 1, 'x')",
    ids,
  );
  await test.db.query("insert into ductor.payloads values ($1, $2, sha256('x'), 'x')", ids);
  await test.db.query("insert into ductor.run_attribute values ($1, $2, 'whose', $1::uuid::text)", ids);
  return runId;
}

let their: {
  readonly workflowId: string;
  readonly runId: string;
  readonly chainedId: string;
  readonly scheduleId: string;
};

beforeAll(async () => {
  const { registry, schedules } = roomsOn(test.db);
  await registry.create(MINE, definition('mine'));
  const { id } = await registry.create(THEIRS, definition('theirs'));
  await registry.publish(THEIRS, id, 0);
  await addRun(MINE, 'mine');
  await schedules.create(MINE, schedule('mine'));
  const { id: scheduleId } = await schedules.create(THEIRS, schedule('theirs'));
  await schedules.trigger(THEIRS, scheduleId, null);
  const runId = await addRun(THEIRS, 'theirs');
  const chainedId = await addRun(THEIRS, 'theirs');
  await test.db.query('update ductor.runs set chain_id = $1, chain_no = 2 where run_id = $2', [chainedId, runId]);
  their = { workflowId: id, runId, chainedId, scheduleId };
});

describe('statements without their condition on the tenant', () => {
  const walled = roomsOn({ asTenant: (tenantId) => withoutTenantFilter(test.db.asTenant(tenantId), stripped) });
  const open = roomsOn({ asTenant: () => withoutTenantFilter(test.db, stripped) });
  const key = (): { tenantId: string; runId: string } => ({ tenantId: MINE, runId: their.runId });

  it('would show foreign rows without the wall', async () => {
    expect((await open.reader.list({ tenantId: MINE, limit: 10 })).headers).toHaveLength(3);
    expect((await open.reader.lastOfChain({ ...key(), runId: their.chainedId })).runId).toBe(their.runId);
    expect(await open.reader.get(MINE, their.runId)).toBeDefined();
    expect(await open.reader.history(key(), 0, 10)).toHaveLength(1);
    expect(await open.reader.payloads([{ ...key(), ...PAYLOAD }])).toHaveLength(1);
    expect(await open.registry.list(MINE, '', 10)).toHaveLength(2);
    expect(await open.registry.get(MINE, their.workflowId)).toMatchObject({ familySlug: 'theirs' });
  });

  it('show no foreign run behind it', async () => {
    const { reader } = walled;
    const { headers } = await reader.list({ tenantId: MINE, limit: 10 });
    expect(headers.map(({ familySlug, attributes }) => [familySlug, attributes])).toEqual([['mine', { whose: MINE }]]);
    expect(await reader.get(MINE, their.runId)).toBeUndefined();
    expect(await reader.getMany([key(), { tenantId: THEIRS, runId: their.runId }])).toHaveLength(1);
    expect(await reader.history(key(), 0, 10)).toEqual([]);
    expect(await reader.payloads([{ ...key(), ...PAYLOAD }])).toEqual([]);
    expect(await reader.payloads([{ ...key(), ...PAYLOAD, tenantId: THEIRS }])).toHaveLength(1);
    expect(await reader.closedAmong([key()])).toEqual([]);
    expect((await reader.lastOfChain({ ...key(), runId: their.chainedId })).runId).toBe(their.chainedId);
    const want = [{ kind: 'concurrency', key: 'k', limit: 5 }] as const;
    expect(await reader.waiting(key(), '', want)).toEqual([{ key: 'k', limit: 5, held: 0, place: 0, holders: [] }]);
  });

  it('show no foreign workflow behind it', async () => {
    const { registry } = walled;
    const missing = expect.objectContaining({ code: 'not_found' });
    expect((await registry.list(MINE, '', 10)).map(({ familySlug }) => familySlug)).toEqual(['mine']);
    await expect(registry.get(MINE, their.workflowId)).rejects.toThrow(missing);
    await expect(registry.get(MINE, 'theirs')).rejects.toThrow(missing);
    await expect(registry.versions(MINE, their.workflowId, 0, 10)).rejects.toThrow(missing);
    await expect(registry.currentVersion(MINE, 'theirs')).rejects.toThrow(missing);
    expect(await registry.planSource.load(MINE, 'theirs', 1)).toBeUndefined();
  });

  it('change no foreign workflow behind it', async () => {
    const { registry } = walled;
    const missing = expect.objectContaining({ code: 'not_found' });
    await expect(registry.updateDraft(MINE, their.workflowId, definition('theirs'))).rejects.toThrow(missing);
    await expect(registry.publish(MINE, their.workflowId, 0)).rejects.toThrow(missing);
    expect(await roomsOn(test.db).registry.get(THEIRS, 'theirs')).toMatchObject({
      recordVersion: 2,
      currentVersion: 1,
    });
  });

  it('show and change no foreign schedule behind it', async () => {
    const { schedules } = walled;
    const missing = expect.objectContaining({ code: 'not_found' });
    const { scheduleId } = their;
    expect((await open.schedules.list(MINE, '', 10)).map(({ slug }) => slug)).toEqual(['mine', 'theirs']);
    expect((await schedules.list(MINE, '', 10)).map(({ slug }) => slug)).toEqual(['mine']);
    await expect(schedules.get(MINE, scheduleId)).rejects.toThrow(missing);
    await expect(schedules.get(MINE, 'theirs')).rejects.toThrow(missing);
    await expect(schedules.slots(MINE, scheduleId, { beforeUs: 1e16, limit: 10 })).rejects.toThrow(missing);
    await expect(schedules.pause(MINE, scheduleId, '')).rejects.toThrow(missing);
    await expect(schedules.trigger(MINE, scheduleId, null)).rejects.toThrow(missing);
    await expect(schedules.remove(MINE, scheduleId)).rejects.toThrow(missing);
    const theirs = roomsOn(test.db).schedules;
    expect(await theirs.get(THEIRS, scheduleId)).toMatchObject({ slug: 'theirs', recordVersion: 1, isPaused: false });
    expect(await theirs.slots(THEIRS, scheduleId, { beforeUs: 1e16, limit: 10 })).toHaveLength(1);
  });

  it('were all statements that these rooms have', () => {
    expect([...stripped]).toEqual(
      expect.arrayContaining([
        'list_runs_000000000000',
        'load_payloads',
        'load_runs',
        'run_history',
        'closed_among',
        'last_of_chain',
        'registry_find_workflow',
        'registry_lock_workflow',
        'registry_find_current_versions',
        'registry_load_definition',
      ]),
    );
  });
});
