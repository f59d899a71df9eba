/**
 * Decisions of SELECT steps on a real Postgres: their records, strategies in apps' code that choose, and a cancel that
 * waits for what runs below.
 */
import { createWorker, defineStrategy, defineWorkflow } from '@ductor/sdk';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSettings } from '../../engine/src/config.js';
import { createRecordReader, replay } from '../../engine/src/routing/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { callbackApp } from '../support/callback-apps.js';
import { codeOf, marketNode, select, signal, type MarketNode } from '../support/market-node.js';
import { until } from '../support/wait.js';

const database = testDatabase();
const FULL = 'recipient_capacity_exhausted';
const { DUCTOR_EGRESS_ALLOW: egress } = readSettings({
  DATABASE_URL: 'postgres://x',
  DUCTOR_EGRESS_ALLOW: '127.0.0.1',
});

let market: MarketNode;

beforeAll(async () => {
  market = await marketNode(database.db, { egress });
});
afterAll(() => market.stop());

interface Decision {
  readonly id: string;
  readonly outcome: string;
  readonly slate: readonly { readonly recipient_id: string }[];
  readonly assignment_ids: readonly string[];
  readonly explanation: { readonly hops: readonly { readonly notes: readonly string[] }[] };
}

const decisionOf = (id: string): Promise<Decision> => market.call('GET', `/api/routing/decisions/${id}`);

/** Whether the record replays where it stands, and from an exported file. */
async function replays(id: string): Promise<readonly boolean[]> {
  const path = `/api/routing/decisions/${id}`;
  const file = await market.call<{ record: string; documents: Record<string, unknown> }>('GET', `${path}:export`);
  const { is_same } = await market.call<{ is_same: boolean }>('GET', `${path}:replay`);
  return [is_same, replay(file.record, new Map(Object.entries(file.documents)), createRecordReader()).isSame];
}

/** Starts a run that selects and shows what it selected. */
async function selected(pool: string, args: object = {}) {
  const steps = [select(pool, args), signal()];
  const output = { output: 'steps.buyers.output' };
  const run = await market.start(await market.publish(steps, [['buyers', 'done']], output));
  return {
    run,
    end: async () => {
      await market.say(run.id);
      const { output: shown } = await market.ended(run.id);
      return shown as { readonly decision_id: string; readonly recipients: readonly { readonly id: string }[] };
    },
  };
}

describe('the decision of a selection', () => {
  it('is kept with its record, is explained, and replays byte for byte', async () => {
    const pool = await market.poolOf([{ max_concurrent: 2 }, { max_concurrent: 2 }, {}]);
    const { run, end } = await selected(pool.name, { slate: 2 });
    const { decision_id: id, recipients } = await end();
    const decision = await decisionOf(id);
    expect(decision).toMatchObject({ id, outcome: 'assigned', assignment_ids: [], routable_id: `${run.id}/buyers` });
    expect(decision.slate.map((each) => each.recipient_id)).toEqual(recipients.map((each) => each.id));
    const explained = await market.call<object>('GET', `/api/routing/decisions/${id}:explain`);
    expect(JSON.stringify(explained)).toContain(pool.name);
    expect(await replays(id)).toEqual([true, true]);
  });

  it('is kept when the slate is refused, too, and the error names it', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }, { max_concurrent: 1 }]);
    const { run: holder } = await selected(pool.name);
    const { run } = await selected(pool.name, { slate: 2, at_least: 2 });
    expect(codeOf(run)).toBe(FULL);
    const id = / \(decision ([0-9a-f-]{36})\)$/.exec(run.error?.message ?? '')?.[1] ?? '';
    expect(await decisionOf(id)).toMatchObject({ outcome: 'no_eligible_recipient', slate: [], assignment_ids: [] });
    expect(await replays(id)).toEqual([true, true]);
    expect((await pool.held()).reduce((sum, each) => sum + each, 0)).toBe(1);
    await market.say(holder.id);
  });

  it('replays when the slate was held already', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    const again = { ref: 'again', type: 'STEP_TYPE_CONTINUE_AS_NEW', input: { turn: 'input.turn + 1.0' } };
    const edges = [['buyers', 'done'] as const, ['done', 'again', 'input.turn < 2.0'] as const];
    const slug = await market.publish([select(pool.name), signal(), again], edges);
    const run = await market.start(slug, { turn: 1 });
    await market.say(run.id);
    const last = await until('the next run to wait', async () => {
      const { continued_as: next } = await market.call<{ continued_as?: string }>('GET', `/api/runs/${run.id}`);
      return next !== undefined && next !== '' && (await market.get(next)).state === 'RUN_STATE_WAITING'
        ? next
        : undefined;
    });
    const { rows } = await database.db.query<{ id: string }>(
      'select decision_id as id from ductor.routing_decision where routable_id = any($1)',
      [[`${run.id}/buyers`, `${last}/buyers`]],
    );
    expect(rows).toHaveLength(2);
    for (const { id } of rows) expect(await replays(id)).toEqual([true, true]);
    await market.say(last);
    await market.holding(pool, [0]);
  });
});

describe.each(['stream', 'grpc', 'http'] as const)('a strategy in code, asked by %s', (form) => {
  it('chooses for a step that selects, before anything is locked, and replays without the app', async () => {
    const name = `last-${form}`;
    const strategy_tree = { strategy: 'custom', params: { name }, of: ['waterfall'] };
    const pool = await market.poolOf([{}, {}, { max_concurrent: 1 }], { strategy_tree }, '');
    const strategies = [defineStrategy({ name, choose: ({ candidates }) => candidates.toReversed() })];
    const connection = market.connection;
    const quiet = { ...connection, name: 'app', strategies, handleSignals: false, log: () => undefined };
    const app = form === 'stream' ? createWorker(quiet) : await callbackApp(form, { connection, strategies, name });
    await until('the app to be asked', async () => {
      const { run, end } = await selected(pool.name, { slate: 2 });
      if (codeOf(run) !== undefined) return undefined;
      const { decision_id: id, recipients } = await end();
      const decision = await market.call<Decision>('GET', `/api/routing/decisions/${id}:explain`);
      if (!JSON.stringify(decision).includes(`${name} by`)) return undefined;
      const wanted = pool.ids.toSorted().toReversed().slice(0, 2);
      expect(recipients.map((each) => each.id)).toEqual(wanted);
      expect(await replays(id)).toEqual([true, true]);
      return true;
    });
    await app.stop();
    const { end } = await selected(pool.name);
    // Nobody answers: what the pool declares beside chooses.
    expect((await end()).recipients.map((each) => each.id)).toEqual([pool.ids[0]]);
  });
});

describe('a cancel', () => {
  it('releases nothing before a child has drained that still runs', async () => {
    const pool = await market.poolOf([{ max_concurrent: 1 }]);
    let letGo = (): void => undefined;
    const released = new Promise<void>((resolve) => (letGo = resolve));
    let isTold = false;
    const leaf = defineWorkflow({
      slug: 'slow-leaf',
      input: z.object({}),
      build: (w) => {
        w.step('work', {
          cancelTimeout: '60s',
          run: async (_, { signal: told }) => {
            told.addEventListener('abort', () => (isTold = true));
            await released;
          },
        });
      },
    });
    const quiet = { ...market.connection, workflows: [leaf], handleSignals: false, log: () => undefined };
    const worker = createWorker(quiet);
    await worker.ready;
    const child = { ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', args: { workflow: 'slow-leaf' }, input: {} };
    const run = await market.start(await market.publish([select(pool.name), child], [['buyers', 'child']]));
    await until('the child to run', async () => {
      const runs = await market.call<readonly { steps?: object }[]>('GET', `/api/runs?parent_run_id=${run.id}`);
      return runs.length > 0 ? true : undefined;
    });
    await market.call('POST', `/api/runs/${run.id}:cancel`, {});
    await until('the child to be told', async () => (isTold ? true : undefined));
    expect((await market.get(run.id)).state).toBe('RUN_STATE_CANCELLING');
    expect(await pool.held()).toEqual([1]);
    expect(codeOf((await selected(pool.name)).run)).toBe(FULL);
    letGo();
    expect((await market.ended(run.id)).state).toBe('RUN_STATE_CANCELLED');
    await market.holding(pool, [0]);
    await worker.stop();
  });
});
