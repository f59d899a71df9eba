/**
 * Two engines on one database; the connections of one go half-open under load: nothing comes through any more and
 * nobody closes them, as when a firewall forgets them. The other goes on with its shards within a lease and a second,
 * and the one that was cut off, when it is through again, finds itself fenced, joins anew and changes nothing.
 */
import { join } from 'node:path';
import { DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { chainWorkflow, Marks } from '../support/chain.js';
import { startChainWorker } from '../support/chain-process.js';
import { balanced, databaseNowUs, firstTickAfter, shardsOf } from '../support/cluster.js';
import { type Engine, startEngine } from '../support/engine.js';
import { contradictions, readJournal } from '../support/journal.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { startTcpProxy, type TcpProxy, throughPort, upstreamOf } from '../support/tcp-proxy.js';
import { retrying, until } from '../support/wait.js';

const LEASE_MS = 2_000;
const RUNS = 100;
const CAPACITY = 40;
/** Runs that are asked for one after the other in the end; each took a second when their end was waited for in vain. */
const ASKED = 10;
/** A tick carries the time at which it was computed, by an estimate of database time. */
const CLOCK_MARGIN_US = 50_000;

const test = testDatabase();
cleanUpProcesses();

const chain = { slug: 'half-open', steps: 8, marks: join(scratchFolder('marks'), 'marks.jsonl') };
const workflow = chainWorkflow({ ...chain, marks: '' });
let proxy: TcpProxy;
let cut: Engine;
let other: Engine;
let client: DuctorClient;
let workerPid: number;

beforeAll(async () => {
  const { apiKey } = await developmentKey(test.db);
  proxy = await startTcpProxy(upstreamOf(test.url));
  const env = { DUCTOR_LEASE_MS: String(LEASE_MS) };
  cut = await startEngine({ name: 'cut', databaseUrl: throughPort(test.url, proxy.port), env });
  other = await startEngine({ name: 'other', databaseUrl: test.url, env });
  const addresses = [cut.address, other.address];
  const worker = await startChainWorker({ ...chain, name: 'worker', addresses, apiKey, capacity: CAPACITY });
  workerPid = worker.pid;
  client = new DuctorClient({ engine: addresses, apiKey });
  await balanced(test.db, addresses, 100);
  return () => {
    client.close();
    proxy.stop();
  };
});

describe('an engine whose connections go half-open', () => {
  it('is followed by the other within a lease and a second, and comes back fenced', async () => {
    const ids = await Promise.all(
      Array.from({ length: RUNS }, async (_, index) => {
        const name = `run-${index}`;
        const options = { idempotencyKey: name };
        return (await retrying(() => client.trigger(workflow, { name, bodyMs: 200 }, options))).id;
      }),
    );
    const marks = new Marks(chain.marks);
    await until('work to be under way', () => marks.inFlight([workerPid]) > CAPACITY / 2, { everyMs: 5 });
    const [shards, atUs] = [await shardsOf(test.db, cut.address), await databaseNowUs(test.db)];
    proxy.stall();
    const firstUs = await until(
      'the other engine to go on',
      () => firstTickAfter(test.db, shards, atUs + CLOCK_MARGIN_US),
      { everyMs: 10 },
    );
    await until('its shards to move', async () => (await shardsOf(test.db, cut.address)).length === 0);
    proxy.resume();
    await Promise.all(ids.map((id) => client.run(id).result({ timeoutMs: 60_000 })));
    // All have ended: whoever asks now, the engine that started them and was cut off included, is told at once.
    const beganMs = performance.now();
    for (const id of ids.slice(0, ASKED)) await client.run(id).result({ timeoutMs: 60_000 });
    expect(performance.now() - beganMs).toBeLessThan(ASKED * 500);
    await until('it to have shards again', async () => (await shardsOf(test.db, cut.address)).length > 0);
    const tookMs = (firstUs - atUs) / 1_000;
    console.log(`half-open: the other engine went on after ${Math.round(tookMs)} ms`);
    expect(tookMs).toBeLessThanOrEqual(LEASE_MS + 1_000);
    const journal = await readJournal(test.db);
    expect(contradictions(journal)).toEqual([]);
    expect(journal.map(({ closed }) => closed)).toEqual(Array.from({ length: RUNS }, () => 'COMPLETED'));
    expect(cut.child.output).toContain('fenced');
  });
});
