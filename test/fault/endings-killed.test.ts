/**
 * Runs whose ROUTE and CLAIM steps give work with `ends_with_run` end at three engine processes, which are killed by
 * SIGKILL while they do. Whatever is killed: each assignment is released once, after its run has ended, and nothing is
 * committed in the end.
 */
import { DuctorClient, RecipientState } from '@ductor/sdk';
import { describe, expect, it } from 'vitest';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { sleep, until } from '../support/wait.js';

/** Of each kind: routed and claimed. */
const RUNS = 60;
const KILLS = 4;
/** Runs that end between two kills, at least. */
const BETWEEN = 20;
const RECIPIENTS = 4;
const LIMIT_MS = 200_000;

const test = testDatabase();
cleanUpProcesses();

const step = (type: string, pool: string): object => ({
  ...{ ref: 'desk', type: `STEP_TYPE_${type}` },
  args: { pool, ends_with_run: true, ...(type === 'CLAIM' && { until: 'claimed' }) },
});

/** What calls engines, one after the other, until one of them answers. */
class Wire {
  #turn = 0;

  constructor(
    readonly engines: readonly Engine[],
    readonly apiKey: string,
  ) {}

  async rest(path: string, body: object): Promise<unknown> {
    const headers = { ...bearer(this.apiKey), 'content-type': 'application/json' };
    const endMs = performance.now() + LIMIT_MS;
    for (;;) {
      this.#turn += 1;
      const { address } = this.engines[this.#turn % this.engines.length] ?? expect.unreachable('no engine');
      const call = { method: 'POST', path, headers, body: JSON.stringify(body) };
      const answer = await httpCall(address, call).catch(() => undefined);
      if (answer !== undefined && answer.status < 500) return { status: answer.status, json: answer.json };
      if (performance.now() > endMs) throw new RangeError(`${path}: ${JSON.stringify(answer?.json)}`);
      await sleep(50);
    }
  }
}

/** Notes each end of an assignment, with whether its run is open then. */
async function watch(): Promise<void> {
  await test.db.query('create table ductor.test_end (assignment_id uuid, state text, is_early boolean)');
  await test.db.query(`create function ductor.test_end() returns trigger language plpgsql security definer as $$
    begin insert into ductor.test_end values (new.assignment_id, new.state, exists (
        select 1 from ductor.runs r where r.run_id = new.ends_with and r.closed_at is null));
      return null; end $$`);
  await test.db.query(`create trigger test_end after update of state on ductor.assignment for each row
    when (old.state in ('active', 'offered') and new.state not in ('active', 'offered'))
    execute function ductor.test_end()`);
}

const count = async (text: string): Promise<number> => {
  const { rows } = await test.db.query<{ count: number }>(`select count(*)::integer as count from ${text}`);
  return rows[0]?.count ?? 0;
};
const closed = (): Promise<number> => count('ductor.runs where closed_at is not null');

/** Pools for both kinds of work, and workflows that wait a moment before they end. Ids of those who claim. */
async function stage({ claims, pools, recipients }: DuctorClient, wire: Wire): Promise<readonly string[]> {
  const { id: queueId } = await claims.queues.create({ name: 'pond' });
  const pond = await pools.create({
    ...{ name: 'pond', config: { routingMode: 'claim', claimQueueId: queueId, claim: { claimTtl: '1h' } } },
  });
  const desk = await pools.create({ name: 'desk', strategy: 'least_loaded' });
  const ids: string[] = [];
  for (let number = 0; number < RECIPIENTS; number += 1) {
    const fields = { name: `r${number}`, state: RecipientState.RECIPIENT_STATE_AVAILABLE };
    await recipients.create(desk.id, fields);
    ids.push((await recipients.create(pond.id, fields)).id);
  }
  for (const [slug, type, pool] of [
    ['routed', 'ROUTE', 'desk'],
    ['claimed', 'CLAIM', 'pond'],
  ] as const) {
    const rest = { ref: 'rest', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } };
    const edges = [{ source_ref: 'desk', target_ref: 'rest', type: 'EDGE_TYPE_SUCCESS' }];
    const made = await wire.rest('/api/workflows', { family_slug: slug, steps: [step(type, pool), rest], edges });
    expect(made).toMatchObject({ status: 200 });
    expect(await wire.rest(`/api/workflows/${slug}:publish`, {})).toMatchObject({ status: 200 });
  }
  return ids;
}

/** Claims whatever waits, until it is told to stop. */
async function claimAll(wire: Wire, recipientId: string, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { rows } = await test.db.query<{ id: string }>(
      "select item_id as id from ductor.claim_item where state = 'open' order by random() limit 1",
    );
    const [item] = rows;
    if (item === undefined) await sleep(50);
    else await wire.rest(`/api/claims/${item.id}:claim`, { recipient_id: recipientId });
  }
}

async function killEngines(engines: readonly Engine[]): Promise<void> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    const target = (kills + 1) * BETWEEN;
    await until('runs to end', async () => (await closed()) >= target, { limitMs: LIMIT_MS, everyMs: 20 });
    const engine = engines[kills % engines.length] ?? expect.unreachable('no engine');
    await engine.kill();
    await engine.start();
  }
}

describe('engines that are killed while runs end', () => {
  it('release what ends with them once, and not before', { timeout: 280_000 }, async () => {
    await watch();
    const { apiKey } = await developmentKey(test.db);
    const engines = await Promise.all([0, 1, 2].map((n) => startEngine({ name: `e${n}`, databaseUrl: test.url })));
    const wire = new Wire(engines, apiKey);
    const client = new DuctorClient({ engine: engines[0]?.address ?? '', apiKey });
    const ids = await stage(client, wire);
    client.close();
    let isOver = false;
    const claiming = ids.map((id) => claimAll(wire, id, () => isOver));
    const killing = killEngines(engines);
    for (let number = 0; number < RUNS; number += 1) {
      for (const slug of ['routed', 'claimed']) {
        const run = { input: {}, idempotency_key: `${slug}-${number}` };
        expect(await wire.rest(`/api/workflows/${slug}:trigger`, run)).toMatchObject({ status: 200 });
      }
      await sleep(100);
    }
    await until('all runs to end', async () => (await closed()) === 2 * RUNS, { limitMs: LIMIT_MS, everyMs: 100 });
    await killing;
    isOver = true;
    await Promise.all(claiming);
    // Whoever had taken an ending may have died with it: it is taken again once its 30 s are over.
    const left = (): Promise<number> => count('ductor.assignment_ending');
    await until('all endings to be looked at', async () => (await left()) === 0, { limitMs: LIMIT_MS, everyMs: 100 });

    expect(await count("ductor.assignment where state in ('active', 'offered')")).toBe(0);
    const { rows } = await test.db.query<{ state: string; is_early: boolean; ends: number; work: number }>(
      `select state, is_early, count(*)::integer as ends, count(distinct assignment_id)::integer as work
        from ductor.test_end group by 1, 2`,
    );
    expect(rows).toEqual([{ state: 'released', is_early: false, ends: 2 * RUNS, work: 2 * RUNS }]);
    expect(await count('ductor.capacity_authority where committed <> 0 or held <> 0')).toBe(0);
    expect(await count("ductor.claim_item where state in ('open', 'claimed')")).toBe(0);
  });
});
