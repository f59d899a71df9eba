/** Fills a database with runs that have ended, as an engine would have left them, but for what their journals say. */
import type { Queryable } from '../../engine/src/store/index.js';

/** Runs of one insert: so many rows of journal and attributes twice at once. */
const BATCH_RUNS = 100_000;

/**
 * Seeds runs of a tenant, one every 100 ms up to now: ten workflows `seeded-0` to `seeded-9`, an attribute `customer`
 * with 10,000 values, two journal rows each. One of 1,000 failed, one of 100,000 is parked, all others completed.
 * Analyses the tables in the end.
 */
export async function seedRuns(db: Queryable, tenantId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH_RUNS) {
    const to = Math.min(count, from + BATCH_RUNS);
    await db.query(
      `with made as (
        select i, (i % 256)::smallint as shard, ductor.now_us() / 1000 - ($2::bigint - i) * 100 as at_ms
          from generate_series($3::bigint, $4::bigint - 1) i
      ), named as (
        select i, shard, at_ms * 1000 as at, overlay(overlay(ductor.first_run_id(at_ms)::text
          placing lpad(to_hex(i), 10, '0') from 25) placing lpad(to_hex(shard::int), 2, '0') from 35)::uuid as run_id
        from made
      ), headed as (
        insert into ductor.runs
          (started_at, closed_at, version, shard, status, active, tenant_id, run_id, family_slug)
        select at, case when i % 100000 <> 7 then at + 40000 end, 1, shard,
          case when i % 100000 = 7 then 5 when i % 1000 = 3 then 8 else 7 end, false, $1, run_id, 'seeded-' || i % 10
        from named
      ), labels as (
        insert into ductor.run_attribute (tenant_id, run_id, name, value, started_at)
        select $1, run_id, 'customer', (i % 10000)::text, at from named
      )
      insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
      select at, $1, run_id, seq, decode(repeat('5a', 120), 'hex') from named, generate_series(1, 2) seq`,
      [tenantId, count, from, to],
    );
  }
  await db.query('vacuum analyze ductor.runs');
  await db.query('vacuum analyze ductor.run_attribute');
  await db.query('analyze ductor.run_journal');
}
