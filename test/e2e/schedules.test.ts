/** Schedules on real engines: the examples of docs/schedules.md, and one run a slot over engines that are killed. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuctorClient, type RunView, type ScheduleView, type SlotView } from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { Api } from '../support/api.js';
import { developmentKey } from '../support/api-key.js';
import { ROOT } from '../support/child.js';
import { curl } from '../support/curl.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { retrying, sleep, until } from '../support/wait.js';

const test = testDatabase();
cleanUpProcesses();

const SECOND = 1_000;
const DOCS = readFileSync(join(ROOT, 'docs/schedules.md'), 'utf8');

let apiKey: string;
let engine: Engine;
let client: DuctorClient;

/** Text of the code block with this head. */
function example(head: string): string {
  return new RegExp(`\`\`\`${head}\n([\\s\\S]*?)\`\`\``).exec(DOCS)?.[1] ?? '';
}

async function publish(slug: string, duration: string): Promise<void> {
  const api = new Api({ address: engine.address, apiKey });
  const steps = [{ ref: 'work', type: 'STEP_TYPE_WAIT', args: { duration } } as const];
  const { id } = await api.createWorkflow({ family_slug: slug, steps, edges: [] });
  await api.publishWorkflow(id);
  api.close();
}

/** All slots of a schedule, oldest first. */
async function allSlots(id: string): Promise<readonly SlotView[]> {
  const found: SlotView[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page = await client.schedules.slots(id, { pageSize: 200, cursor });
    found.push(...page.slots);
    cursor = page.nextCursor;
  }
  return found.toReversed();
}

/** All runs of a schedule. */
async function allRuns(slug: string): Promise<readonly RunView[]> {
  const found: RunView[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page = await client.list({ attributes: { 'ductor.schedule': slug }, pageSize: 200, cursor });
    found.push(...page.runs);
    cursor = page.nextCursor;
  }
  return found;
}

beforeAll(async () => {
  ({ apiKey } = await developmentKey(test.db));
  engine = await startEngine({ databaseUrl: test.url });
  client = new DuctorClient({ engine: engine.address, apiKey });
  await publish('report', '1h');
  await publish('quick', '10ms');
});
afterAll(() => client.close());

describe('the example of docs/schedules.md', () => {
  const nightly = (schedule: ScheduleView): void => {
    expect(schedule).toMatchObject({
      ...{ slug: 'nightly-report', workflow: 'report', overlap: 'SKIP', jitter: '5m', input: { kind: 'nightly' } },
      times: { cron: { expression: '0 2 * * *', timeZone: 'Europe/Berlin' } },
      catchUp: { policy: 'LATEST', window: '1d' },
    });
    expect(schedule.nextSlots).toHaveLength(5);
  };

  it('works by curl; a slot that overlaps is left out, and its row says why', async () => {
    const url = `http://${engine.address}/api/schedules`;
    const answer = await curl(url, [`authorization: Bearer ${apiKey}`], example('json schedule'));
    expect(answer.status).toBe(200);
    nightly(await client.schedules.get('nightly-report'));
    await client.schedules.trigger('nightly-report');
    const first = await until('the first slot', async () => {
      return (await allSlots('nightly-report')).find(({ outcome }) => outcome === 'STARTED');
    });
    await client.schedules.trigger('nightly-report');
    const second = await until('the second slot', async () => {
      return (await allSlots('nightly-report')).find(({ outcome }) => outcome === 'SKIPPED_OVERLAP');
    });
    expect(second).toMatchObject({ source: 'TRIGGER', runId: undefined });
    expect(second.reason).toContain(`run ${first.runId} of`);
    await client.schedules.delete('nightly-report');
  });

  it('works by the command line', async () => {
    const line = /^ {4}ductor (schedule create[\s\S]*?)\n\n/m.exec(DOCS)?.[1] ?? '';
    const command = `"${process.execPath}" "${join(ROOT, 'engine/bin/ductor.js')}" ${line}`;
    const env = { ...process.env, DUCTOR_ADDRESS: engine.address, DUCTOR_API_KEY: apiKey };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(stdout).toContain('0 2 * * * (Europe/Berlin), spread over 5m');
    nightly(await client.schedules.get('nightly-report'));
    await client.schedules.delete('nightly-report');
  });

  it('works by the SDK', async () => {
    const code = `export default async (client) => { ${example('ts schedule')} }`;
    const module: { default(client: DuctorClient): Promise<void> } = await import(
      `data:text/javascript,${encodeURIComponent(code)}`
    );
    await module.default(client);
    nightly(await client.schedules.get('nightly-report'));
    const renamed = await client.schedules.update('nightly-report', { title: 'Report', overlap: 'BUFFER_ONE' });
    expect(renamed).toMatchObject({ title: 'Report', overlap: 'BUFFER_ONE', jitter: '5m' });
    expect((await client.schedules.update('nightly-report', { title: null })).title).toBe('');
    expect((await client.schedules.pause('nightly-report', 'holidays')).nextSlots).toEqual([]);
    expect((await client.schedules.resume('nightly-report')).nextSlots).toHaveLength(5);
    expect((await client.schedules.list()).schedules.map(({ slug }) => slug)).toEqual(['nightly-report']);
    await client.schedules.delete('nightly-report');
    await expect(client.schedules.get('nightly-report')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('engines that are killed', () => {
  const POLICIES = ['ALL', 'LATEST', 'NONE'] as const;
  const slugOf = (policy: string): string => `each-second-${policy.toLowerCase()}`;

  it('start one run for each slot; those of a longer absence are caught up with as the policy says', async () => {
    for (const policy of POLICIES) {
      await client.schedules.create({
        ...{ slug: slugOf(policy), workflow: 'quick', overlap: 'ALLOW', catchUp: { policy } },
        times: { interval: { every: '1s' } },
      });
    }
    await until('three slots', async () => (await allSlots(slugOf('ALL'))).length >= 3);
    for (let kills = 0; kills < 2; kills += 1) {
      await engine.kill();
      await engine.start();
      await sleep(700 + kills * 390);
    }
    await engine.kill();
    const downAtMs = Date.now();
    await sleep(17 * SECOND);
    await engine.start();
    const upAtMs = Date.now();
    await sleep(2 * SECOND);
    for (const policy of POLICIES) await retrying(() => client.schedules.pause(slugOf(policy)));
    await sleep(SECOND);
    for (const policy of POLICIES) {
      const slots = await allSlots(slugOf(policy));
      const timesMs = slots.map(({ slotAt }) => slotAt?.getTime() ?? 0);
      expect(timesMs).toEqual(timesMs.map((_, index) => (timesMs[0] ?? 0) + index * SECOND));
      const runs = await allRuns(slugOf(policy));
      const started = slots.filter(({ outcome }) => outcome === 'STARTED');
      expect(runs.map(({ id }) => id).sort()).toEqual(started.map(({ runId }) => runId ?? '').sort());
      expect(new Set(runs.map(({ attributes }) => attributes['ductor.slot'])).size).toBe(runs.length);
      const away = slots.filter((_, index) => {
        const atMs = timesMs[index] ?? 0;
        return atMs > downAtMs + SECOND && atMs < upAtMs - 11 * SECOND;
      });
      expect(away.length).toBeGreaterThanOrEqual(5);
      const expected = policy === 'ALL' ? 'STARTED' : 'MISSED_CATCH_UP';
      expect([...new Set(away.map(({ outcome }) => outcome))]).toEqual([expected]);
    }
  }, 180_000);
});
