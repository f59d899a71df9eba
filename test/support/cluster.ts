/** What tests ask the database about nodes and shards. */
import type { Queryable } from '../../engine/src/store/index.js';
import { until } from './wait.js';

/** Database time, microseconds since 1970. */
export async function databaseNowUs(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ us: number }>('select ductor.now_us() as us');
  return rows[0]?.us ?? Number.NaN;
}

/** Shards that the node at this address owns now. */
export async function shardsOf(db: Queryable, address: string): Promise<readonly number[]> {
  const { rows } = await db.query<{ shard: number }>(
    `select o.shard from ductor.shard_owner o
      where o.node_id in (select node_id from ductor.engine_node where address = $1 and not fenced) order by o.shard`,
    [address],
  );
  return rows.map(({ shard }) => shard);
}

/** Waits until each node owns at least so many shards. */
export async function balanced(db: Queryable, addresses: readonly string[], shardsMin: number): Promise<void> {
  await until(
    'shards to be balanced',
    async () => {
      const owned = await Promise.all(addresses.map((address) => shardsOf(db, address)));
      return owned.every((shards) => shards.length >= shardsMin);
    },
    { limitMs: 30_000, everyMs: 100 },
  );
}

/** Time of the first tick after the instant of a run in one of the shards; undefined when there is none yet. */
export async function firstTickAfter(
  db: Queryable,
  shards: readonly number[],
  afterUs: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ at: number | null }>(
    `select min(at) as at from ductor.run_journal
      where at > $1 and get_byte(uuid_send(run_id), 15) = any($2::int[])`,
    [afterUs, `{${shards.join()}}`],
  );
  return rows[0]?.at ?? undefined;
}

/** Every journal row and a digest of what it holds: equal dumps, equal histories. */
export async function journalDigest(db: Queryable, untilUs: number): Promise<readonly string[]> {
  const { rows } = await db.query<{ line: string }>(
    `select concat_ws(' ', run_id, seq, at, md5(entries)) as line from ductor.run_journal where at <= $1
      order by run_id, seq`,
    [untilUs],
  );
  return rows.map(({ line }) => line);
}
