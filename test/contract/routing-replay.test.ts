/**
 * Decisions of mixed strategies as they stand in the database, made again by another process from a file, without a
 * database: byte for byte. So many as DUCTOR_REPLAY_DECISIONS says; default 10,000 in CI.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { cases } from '../../engine/src/kernel/testing/test-length.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';
import { ROOT, startChild } from '../support/child.js';
import { cleanUpProcesses } from '../support/processes.js';
import { scratchFolder } from '../support/scratch.js';
import { typescript } from '../support/worker.js';

const DECISIONS = Number(process.env['DUCTOR_REPLAY_DECISIONS'] ?? cases(2_000, 10_000));
const PER_CALL = 200;
/** Decisions that are exported by a node, and must be as the lines of the file. */
const BY_NODE = 20;
const STRATEGIES: readonly object[] = [
  ...['round_robin', 'weighted_round_robin', 'smooth_weighted_round_robin', 'random', 'weighted_random'],
  ...['least_loaded', 'least_request', 'least_recently_assigned', 'power_of_two_choices', 'waterfall', 'fair_share'],
  ...['latency_ewma', 'success_rate_thompson', 'success_rate_ucb1'],
]
  .map((strategy): object => ({ strategy }))
  .concat([
    { strategy: 'consistent_hash', config: { strategy_params: { hash_key: 'routable.id' } } },
    { strategy: 'score', config: { strategy_params: { expr: 'recipient.weight - load.used' } } },
    {
      config: { strategy_tree: { strategy: 'sticky', params: { key: 'routable.attributes.account' }, of: ['random'] } },
    },
    { config: { recipe: { name: 'cheapest_healthy', params: { min_success: 0.4 } } } },
    { config: { slate_size: 2, eligibility_rule: '"solar" in recipient.tags' }, strategy: 'random' },
  ]);

const database = await createTestDatabase();
afterAll(() => database.drop());
cleanUpProcesses();
const first = await startTestNode(database.db);
const { apiKey, tenantId } = await first.tenant('replays');

/** Calls the node that runs now. */
async function post(path: string, body: object): Promise<{ readonly id: string }> {
  const headers = { ...bearer(apiKey), 'content-type': 'application/json' };
  const { status, json } = await httpCall(first.address, { method: 'POST', path, headers, body: JSON.stringify(body) });
  if (status !== 200) throw new RangeError(JSON.stringify(json));
  return (json as { data: { id: string } }).data;
}

async function poolOf(fields: object, index: number): Promise<string> {
  const { id } = await post('/api/pools', { name: `pool-${index}`, ...fields });
  for (let number = 0; number < 5; number += 1) {
    await post(`/api/pools/${id}/recipients`, {
      ...{ name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE', weight: 1 + (number % 3) },
      ...{ tags: number % 2 === 0 ? ['solar'] : [], cost_micros: String(number * 1000), currency: 'EUR' },
      capacity: { max_concurrent: DECISIONS / 20 },
    });
  }
  return id;
}

/** What `ductor route export` writes for all decisions of the tenant, read from the tables; answers the lines. */
async function exportAll(file: string): Promise<readonly { readonly id: string; readonly line: string }[]> {
  const { rows } = await database.db.query<{ id: string; record: Buffer; documents: readonly string[] }>(
    'select decision_id as id, record, documents from ductor.routing_decision where tenant_id = $1',
    [tenantId],
  );
  const stored = await database.db.query<{ digest: string; document: Buffer }>(
    'select digest, document from ductor.routing_document where tenant_id = $1',
    [tenantId],
  );
  const documents = new Map(stored.rows.map(({ digest, document }) => [digest, document.toString('utf8')]));
  const lines = rows.map(({ id, record, documents: named }) => {
    const all = named.map((digest) => `${JSON.stringify(digest)}:${documents.get(digest) ?? 'null'}`);
    return { id, line: `{"record":${JSON.stringify(record.toString('utf8'))},"documents":{${all.join()}}}` };
  });
  appendFileSync(file, lines.map(({ line }) => `${line}\n`).join(''));
  return lines;
}

/** Runs the command in a process that knows of no engine and no database. */
async function replayFile(file: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const main = typescript(join(ROOT, 'engine/src/main.ts'), 'route', 'replay-file', file);
  const child = startChild({ name: 'replay', args: main });
  const { code } = await child.exited;
  return { code, output: child.output };
}

describe('stored decisions', () => {
  it(`replay byte for byte in another process from a file (${DECISIONS})`, { timeout: 600_000 }, async () => {
    const pools: string[] = [];
    for (const [index, fields] of STRATEGIES.entries()) pools.push(await poolOf(fields, index));
    for (let made = 0; made < DECISIONS; made += PER_CALL) {
      const items = Array.from({ length: Math.min(PER_CALL, DECISIONS - made) }, (_, index) => ({
        pool_id: pools[(made + index) % pools.length],
        routable: { id: `work-${made + index}`, attributes: { account: `a${index % 7}`, amount: index / 3 } },
      }));
      await post('/api/routing/route:batch', { items });
    }
    await first.stop();
    const file = join(scratchFolder('decisions'), 'decisions.jsonl');
    const lines = await exportAll(file);
    expect(lines).toHaveLength(DECISIONS);

    const second = await startTestNode(database.db);
    for (const { id, line } of lines.slice(0, BY_NODE)) {
      const path = `/api/routing/decisions/${id}:export`;
      const { json } = await httpCall(second.address, { method: 'GET', path, headers: bearer(apiKey) });
      expect(JSON.parse(line)).toEqual((json as { data: unknown }).data);
    }
    await second.stop();
    const { rows } = await database.db.query<{ outcome: string }>('select outcome from ductor.routing_decision');
    expect(rows.filter(({ outcome }) => outcome === 'assigned').length).toBeGreaterThan(DECISIONS / 2);

    const all = await replayFile(file);
    expect(all).toMatchObject({
      ...{ code: 0, output: expect.stringContaining(`${DECISIONS} of ${DECISIONS} decisions came to the same`) },
    });
    // It would see one that is another.
    const forged = lines.find(({ line }) => line.includes('outcome\\":\\"assigned'));
    const line = forged?.line.replace('outcome\\":\\"assigned', 'outcome\\":\\"offered') ?? '';
    appendFileSync(file, `${line}\n`);
    expect(await replayFile(file)).toMatchObject({
      ...{ code: 1, output: expect.stringContaining(`${forged?.id ?? ''}: not the same`) },
    });
  });
});
