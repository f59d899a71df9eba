/**
 * Decisions of mixed strategies as they stand in the database, made again by another node: byte for byte. So many as
 * DUCTOR_REPLAY_DECISIONS says; default 600.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { startTestNode } from '../../engine/src/api/grpc/testing/test-node.js';
import { bearer, httpCall } from '../../engine/src/api/testing/http-call.js';
import { createRecordReader, replay } from '../../engine/src/routing/index.js';
import { createTestDatabase } from '../../engine/src/store/testing/index.js';

const DECISIONS = Number(process.env['DUCTOR_REPLAY_DECISIONS'] ?? 600);
const PER_CALL = 50;
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
const first = await startTestNode(database.db);
const { apiKey, tenantId } = await first.tenant('replays');

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

describe('stored decisions', () => {
  it(`replay byte for byte on another node (${DECISIONS})`, { timeout: 600_000 }, async () => {
    const pools: string[] = [];
    for (const [index, fields] of STRATEGIES.entries()) pools.push(await poolOf(fields, index));
    for (let made = 0; made < DECISIONS; made += PER_CALL) {
      const items = Array.from({ length: PER_CALL }, (_, index) => ({
        pool_id: pools[(made + index) % pools.length],
        routable: { id: `work-${made + index}`, attributes: { account: `a${index % 7}`, amount: index / 3 } },
      }));
      await post('/api/routing/route:batch', { items });
    }
    await first.stop();
    const { rows } = await database.db.query<{ record: Buffer; documents: readonly string[]; outcome: string }>(
      'select record, documents, outcome from ductor.routing_decision where tenant_id = $1',
      [tenantId],
    );
    const stored = await database.db.query<{ digest: string; document: Buffer }>(
      'select digest, document from ductor.routing_document where tenant_id = $1',
      [tenantId],
    );
    const documents = new Map(
      stored.rows.map(({ digest, document }): [string, unknown] => [digest, JSON.parse(document.toString('utf8'))]),
    );
    expect(rows).toHaveLength(DECISIONS);
    const reader = createRecordReader();
    const other = rows.filter(({ record }) => !replay(record.toString('utf8'), documents, reader).isSame);
    expect(other.map(({ record }) => record.toString('utf8'))).toEqual([]);
    expect(rows.filter(({ outcome }) => outcome === 'assigned').length).toBeGreaterThan(DECISIONS / 2);
  });
});
