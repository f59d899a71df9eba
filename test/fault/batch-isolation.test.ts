/** One bad run in a batch of 32, which goes together: the other 31 do not notice. */
import { createWorker, defineWorkflow, DuctorClient, type RunHandle, type Worker } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { encodeEntries } from '../../engine/src/workflow/journal/index.js';
import { developmentKey } from '../support/api-key.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { until } from '../support/wait.js';

const RUNS = 32;
/** The one run that is bad. */
const BAD = 11;
const POISON = 'a value this database will not store';

const test = testDatabase();
cleanUpProcesses();

/** Bodies wait here, so that all their results come in one message and their ticks in one batch. */
interface Gate {
  waiting: number;
  open: () => void;
  readonly opened: Promise<void>;
}

function newGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { waiting: 0, opened, open: () => open() };
}

let gate = newGate();
const gated = defineWorkflow({
  slug: 'gated',
  input: z.object({ index: z.number(), isPoison: z.boolean() }),
  build: (w) =>
    w.step('work', {
      run: async ({ index, isPoison }) => {
        gate.waiting += 1;
        await gate.opened;
        return isPoison ? POISON : `done ${index}`;
      },
    }).output,
});

let engine: Engine;
let client: DuctorClient;
let worker: Worker;
beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  engine = await startEngine({ databaseUrl: test.url });
  const connection = { engine: engine.address, apiKey };
  worker = createWorker({ ...connection, workflows: [gated], capacity: RUNS, handleSignals: false });
  await worker.ready;
  client = new DuctorClient(connection);
  return async () => {
    client.close();
    await worker.stop();
  };
});

/** Starts the runs and waits until every body waits at the gate and its engine has gone quiet. */
async function holdAll(isPoison: (index: number) => boolean): Promise<readonly RunHandle<string>[]> {
  gate = newGate();
  const runs = await Promise.all(
    Array.from({ length: RUNS }, (_, index) => client.trigger(gated, { index, isPoison: isPoison(index) })),
  );
  await until('all bodies to wait at the gate', () => gate.waiting === RUNS);
  return runs;
}

/** Journal rows of these runs that a transaction wrote, largest transaction first. */
async function rowsPerCommit(runs: readonly { readonly id: string }[], seq: number): Promise<readonly number[]> {
  const { rows } = await test.db.query<{ count: number }>(
    `select count(*)::int as count from ductor.run_journal where run_id = any($1::uuid[]) and seq = $2
      group by xmin order by 1 desc`,
    [`{${runs.map(({ id }) => id).join()}}`, seq],
  );
  return rows.map(({ count }) => count);
}

async function sqlState(id: string): Promise<string> {
  return (await client.get(id)).state;
}

/** The one run of the list that is bad, and the others. */
function split<T>(runs: readonly T[]): { bad: T; others: readonly T[] } {
  const bad = runs[BAD] ?? expect.unreachable();
  return { bad, others: runs.filter((run) => run !== bad) };
}

describe('a batch of 32 runs', () => {
  it('with a poison payload: 31 commit, the poison run is parked with its reason', async () => {
    const { bad, others } = split(await holdAll((index) => index === BAD));
    await test.db.query('create sequence public.commits_tried');
    await test.db.query(`create function public.count_try() returns trigger language plpgsql as $$
      begin perform nextval('public.commits_tried'); return null; end $$`);
    await test.db.query(`create function public.refuse_poison() returns trigger language plpgsql as $$
      begin
        if position(convert_to('${POISON}', 'UTF8') in new.entries) > 0 then
          raise exception 'unstorable' using errcode = '22P05';
        end if;
        return new;
      end $$`);
    await test.db.query(`create trigger refuse_poison before insert on ductor.run_journal
      for each row execute function public.refuse_poison()`);
    await test.db.query(`create trigger count_try before insert on ductor.run_journal
      for each statement execute function public.count_try()`);

    gate.open();
    const outputs = await Promise.all(others.map((run) => run.result({ timeoutMs: 20_000 })));
    await until('the poison run to be parked', async () => (await sqlState(bad.id)) === 'PARKED');

    expect(outputs.filter((output) => output.startsWith('done '))).toHaveLength(RUNS - 1);
    const journal = await readJournal(test.db);
    const parked = journal.find(({ runId }) => runId === bad.id)?.parked ?? '';
    expect(parked).toMatch(/^poison_commit: .*22P05.*[0-9a-f]{64}/);
    const { rows } = await test.db.query<{ tried: number; poisoned: number }>(
      `select (select last_value::int from public.commits_tried) as tried, count(*)::int as poisoned
        from ductor.run_journal where position(convert_to('${POISON}', 'UTF8') in entries) > 0`,
    );
    const [{ tried, poisoned } = { tried: 0, poisoned: -1 }] = rows;
    const perCommit = await rowsPerCommit(others, 2);
    expect(poisoned, 'rows that hold the payload').toBe(0);
    console.log(
      `batch isolation: ${RUNS - 1} of ${RUNS} committed beside the poison run in ${tried} statements, ` +
        `by ${perCommit.join(', ')}: ${parked}`,
    );
    expect(perCommit[0], 'half of the batch, found to be sound at the first cut').toBe(RUNS / 2);
    // Halving a batch of 32 takes two statements per level and five levels; apart from that, one to park.
    expect(tried).toBeLessThanOrEqual(16);
    await test.db.query('drop trigger refuse_poison on ductor.run_journal');
    await test.db.query('drop trigger count_try on ductor.run_journal');
  });

  it('with a forced conflict: 31 commit in one statement, the run in conflict takes its result again', async () => {
    const runs = await holdAll(() => false);
    const { bad, others } = split(runs);
    const conflictsBefore = (await engine.metrics()).commit_conflicts;
    const { rows } = await test.db.query<{ seq: number }>(
      'select max(seq) + 1 as seq from ductor.run_journal where run_id = $1',
      [bad.id],
    );
    const seq = rows[0]?.seq ?? 0;
    // Another writer's row: it says that the attempt is known to run.
    const deadlineUs = (Date.now() + 60_000) * 1_000;
    const entries = encodeEntries([
      { kind: 'step_running', path: 'work', attempt: 1, worker: 'elsewhere', deadlineUs },
    ]);
    await test.db.query(
      `insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
        select max(at) + 1, tenant_id, run_id, $2, $3 from ductor.run_journal
        where run_id = $1 group by tenant_id, run_id`,
      [bad.id, seq, Buffer.from(entries)],
    );
    gate.open();
    await Promise.all(runs.map((run) => run.result({ timeoutMs: 20_000 })));

    const perCommit = await rowsPerCommit(others, seq);
    const conflicts = (await engine.metrics()).commit_conflicts - conflictsBefore;
    console.log(`batch isolation: commits of ${perCommit.join(', ')} rows beside the run in conflict (${conflicts})`);
    expect(perCommit).toEqual([RUNS - 1]);
    expect(conflicts).toBe(1);
    const journal = await readJournal(test.db);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.find(({ runId }) => runId === bad.id)).toMatchObject({
      closed: 'COMPLETED',
      outcomes: new Map([['work/1', 1]]),
    });
  });
});
