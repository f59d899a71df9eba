/**
 * The parts of the commit statement. A part is one table expression over arrays of equal length; a statement holds only
 * the parts that have rows (each part that is there costs 10 to 20 us, rows or not).
 *
 * Every write depends on `fence`, most through `j`, the journal rows that were really appended. `(ids) in (select …
 * from j)` stands inside coalesce(), which keeps the planner from making it a join: as a hashed subplan it costs one
 * look-up a row, whatever the estimates say, while a nested loop over two unindexed lists costs their product.
 */
import { auditInsert } from '../../tenancy/index.js';
import { BOX_SEALED_MS } from '../coordinator/ports.js';

/** Letters of the parts, in the order in which they stand in the statement. */
export type PartName =
  | 'keys'
  | 'boxes'
  | 'journal'
  | 'headers'
  | 'attributes'
  | 'updates'
  | 'snapshots'
  | 'payloads'
  | 'consumed'
  | 'dropped'
  | 'deeds'
  | 'mail'
  | 'freed'
  | 'turns'
  | 'successors';

/** What a part needs to know of the statement around it. */
export interface PartContext {
  /** The array parameters of the part, with their types: $4::uuid[], $5::int[] … */
  readonly arrays: readonly string[];
  /** The blob parameter. */
  readonly blob: string;
  /** Whether the statement also claims start keys. */
  readonly hasKeys: boolean;
  /** Whether the statement also looks into mailboxes. */
  readonly hasBoxes: boolean;
}

/** One part. */
export interface Part {
  /** Element types of its arrays. */
  readonly types: readonly string[];
  /** Its table expression, name and all. */
  readonly sql: (context: PartContext) => string;
}

/** How long a start key is remembered, microseconds. */
export const START_KEY_US = 30 * 24 * 3600 * 1_000_000;
/** When a key expires that is held until its chain ends. */
const NEVER_US = '9223372036854775807';

/** Condition: the tick of this row of the part was appended. */
const isAppended = 'coalesce((t.tenant_id, t.run_id) in (select j.tenant_id, j.run_id from j), false)';

/** Condition: the tick has no start key, or it got it. */
const HAS_ITS_KEY =
  '(not t.is_keyed or coalesce((t.tenant_id, t.run_id) in (select k.tenant_id, k.run_id from k), false))';

/** Condition: the tick needs no empty box, or its box is empty. */
const HAS_EMPTY_BOX = 't.run_id <> all ((select b.unread from b)::uuid[])';

/** Claims start keys, in the index's own order: two batches that want the same keys cannot deadlock. */
const keys: Part = {
  types: ['uuid', 'text', 'text', 'uuid', 'int', 'bigint', 'int', 'int'],
  sql: ({ arrays, blob }) => `k as (
  insert into ductor.run_start_key as held (expires_at, tenant_id, run_id, version, fingerprint, family_slug, key)
  select coalesce(ductor.now_us() + t.life, ${NEVER_US}), t.tenant_id, t.run_id, t.version,
    substring(${blob} from t.start + 1 for t.size), t.family_slug, t.key
  from fence, unnest(${arrays.join(', ')}) as t (tenant_id, family_slug, key, run_id, version, life, start, size)
  where not exists (select 1 from ductor.runs r where r.tenant_id = t.tenant_id and r.run_id = t.run_id)
  order by t.tenant_id, t.family_slug, t.key
  on conflict (tenant_id, family_slug, key) do update set expires_at = excluded.expires_at, run_id = excluded.run_id,
    version = excluded.version, fingerprint = excluded.fingerprint
    where held.expires_at <= ductor.now_us()
  returning tenant_id, run_id
)`,
};

/**
 * Locks the runs that may end only with an empty mailbox and looks into their boxes with a snapshot that is later than
 * the locks. A run whose box is not empty, or to which somebody is sending at this moment, is sealed for a while: the
 * next try meets a box that no longer grows. Nothing here waits: a lock that waited for senders might never come, since
 * the server lets further senders past it.
 */
const boxes: Part = {
  types: ['uuid', 'uuid', 'uuid', 'bigint'],
  sql: ({ arrays: [tenants, runs, chains, consumedIds] }) => `l as materialized (
  select t.* from fence, unnest(${tenants}, ${runs}, ${chains}) as t (tenant_id, run_id, chain_id)
  cross join lateral (
    select 1 from ductor.runs r
    where r.tenant_id = t.tenant_id and r.run_id = t.run_id for update skip locked) r
), f as materialized (
  select ductor.runs_with_mail(array_agg(l.tenant_id), array_agg(l.chain_id), ${consumedIds}) as chains from l
), b as materialized (
  select array(select l.run_id from l where l.chain_id = any ((select f.chains from f)::uuid[]))
    || array(select unnest(${runs}) except select o.run_id from l o) as unread
), seal as (
  update ductor.runs r set sealed_until = ductor.now_us() + ${BOX_SEALED_MS * 1000}
  from fence, b, unnest(${tenants}, ${runs}) as t (tenant_id, run_id)
  where r.tenant_id = t.tenant_id and r.run_id = t.run_id and t.run_id = any (b.unread)
)`,
};

/** Appends to the journal; of ticks with a start key only those that got it, of ends only those without mail. */
const journal: Part = {
  types: ['bigint', 'uuid', 'uuid', 'int', 'boolean', 'int', 'int'],
  sql: ({ arrays, blob, hasKeys, hasBoxes }) => `j as (
  insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
  select t.at, t.tenant_id, t.run_id, t.seq, substring(${blob} from t.start + 1 for t.size)
  from fence, unnest(${arrays.join(', ')}) as t (at, tenant_id, run_id, seq, is_keyed, start, size)
  where ${hasKeys ? HAS_ITS_KEY : 'true'} and ${hasBoxes ? HAS_EMPTY_BOX : 'true'}
  on conflict do nothing
  returning tenant_id, run_id
)`,
};

/** Headers of runs that start. Only of one without a retention of its own the tenant's is looked up. */
const headers: Part = {
  types: [
    ...['bigint', 'bigint', 'bigint', 'int', 'smallint', 'smallint', 'boolean'],
    ...['uuid', 'uuid', 'text', 'uuid', 'uuid', 'bigint'],
  ],
  sql: ({ arrays }) => `h as (
  insert into ductor.runs (started_at, wake_at, closed_at, version, shard, status, active, tenant_id, run_id,
    family_slug, root_id, parent_id, retention_us)
  select t.started_at, t.wake_at, t.closed_at, t.version, t.shard, t.status, t.active, t.tenant_id, t.run_id,
    t.family_slug, t.root_id, t.parent_id, coalesce(t.retention_us,
      (select n.retention_us from ductor.tenants n where n.tenant_id = t.tenant_id), ductor.default_retention())
  from unnest(${arrays.join(', ')}) as t
    (started_at, wake_at, closed_at, version, shard, status, active, tenant_id, run_id, family_slug, root_id, parent_id,
      retention_us)
  where ${isAppended}
)`,
};

/** Attributes of runs that start. */
const attributes: Part = {
  types: ['uuid', 'uuid', 'text', 'text', 'bigint'],
  sql: ({ arrays }) => `a as (
  insert into ductor.run_attribute (tenant_id, run_id, name, value, started_at)
  select t.* from unnest(${arrays.join(', ')}) as t (tenant_id, run_id, name, value, started_at)
  where ${isAppended}
)`,
};

/** Headers that change. Attributes, version and start do not. */
const updates: Part = {
  types: ['bigint', 'bigint', 'smallint', 'boolean', 'uuid', 'uuid'],
  sql: ({ arrays }) => `u as (
  update ductor.runs r set wake_at = t.wake_at, closed_at = t.closed_at, status = t.status, active = t.active
  from unnest(${arrays.join(', ')}) as t (wake_at, closed_at, status, active, tenant_id, run_id)
  where r.tenant_id = t.tenant_id and r.run_id = t.run_id and ${isAppended}
)`,
};

/** The newest snapshot of a run takes the place of the one before. */
const snapshots: Part = {
  types: ['uuid', 'uuid', 'int', 'int', 'int'],
  sql: ({ arrays, blob }) => `s as (
  insert into ductor.run_snapshot (tenant_id, run_id, seq, data)
  select t.tenant_id, t.run_id, t.seq, substring(${blob} from t.start + 1 for t.size)
  from unnest(${arrays.join(', ')}) as t (tenant_id, run_id, seq, start, size)
  where ${isAppended}
  on conflict (tenant_id, run_id) do update set seq = excluded.seq, data = excluded.data
)`,
};

/** Large values; a run that has one already keeps it. */
const payloads: Part = {
  types: ['uuid', 'uuid', 'int', 'int', 'int', 'int'],
  sql: ({ arrays, blob }) => `p as (
  insert into ductor.payloads (tenant_id, run_id, digest, data)
  select t.tenant_id, t.run_id, substring(${blob} from t.name_start + 1 for t.name_size),
    substring(${blob} from t.start + 1 for t.size)
  from unnest(${arrays.join(', ')}) as t (tenant_id, run_id, name_start, name_size, start, size)
  where ${isAppended}
  on conflict do nothing
)`,
};

/** Run keys of chains that end. */
const freed: Part = {
  types: ['uuid', 'uuid', 'uuid', 'text', 'text'],
  sql: ({ arrays }) => `e as (
  delete from ductor.run_start_key k
  using unnest(${arrays.join(', ')}) as t (tenant_id, run_id, chain_id, family_slug, key)
  where k.tenant_id = t.tenant_id and k.family_slug = t.family_slug and k.key = t.key and k.run_id = t.chain_id
    and ${isAppended}
)`,
};

/** Messages that ticks consumed. */
const consumed: Part = {
  types: ['uuid', 'uuid', 'smallint', 'bigint'],
  sql: ({ arrays }) => `d as (
  delete from ductor.run_inbox i using unnest(${arrays.join(', ')}) as t (tenant_id, run_id, shard, id)
  where i.shard = t.shard and i.id = t.id and ${isAppended}
)`,
};

/** Messages that changed nothing and go without a tick. */
const dropped: Part = {
  types: ['smallint', 'bigint'],
  sql: ({ arrays }) => `c as (
  delete from ductor.run_inbox i using fence, unnest(${arrays.join(', ')}) as t (shard, id)
  where i.shard = t.shard and i.id = t.id
)`,
};

/** Audit rows of starts: they are there when, and only when, the run is. */
const deeds: Part = {
  types: ['uuid', 'uuid', 'uuid', 'text', 'text', 'text'],
  sql: ({ arrays }) => `w as (
  ${auditInsert(`select t.run_id, t.tenant_id, t.actor_id, t.actor, t.method, 'run', t.run_id::text, 'ok', t.reason
    from unnest(${arrays.join(', ')}) as t (tenant_id, run_id, actor_id, actor, method, reason)
    where ${isAppended}`)}
)`,
};

/** Messages to other runs: they are there when, and only when, the row that says them is. */
const mail: Part = {
  types: ['uuid', 'uuid', 'uuid', 'uuid', 'smallint', 'smallint', 'int', 'int'],
  sql: ({ arrays, blob }) => `m as (
  insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body, root_id, sender_id)
  select t.tenant_id, t.to_id, t.shard, t.kind, substring(${blob} from t.start + 1 for t.size), t.root_id,
    case when t.root_id is not null then t.run_id end
  from unnest(${arrays.join(', ')}) with ordinality
    as t (tenant_id, run_id, root_id, to_id, shard, kind, start, size, n)
  where ${isAppended} order by t.n
)`,
};

/**
 * First rows of runs that continue others: they are there when, and only when, the last rows of those are. Three lists:
 * the runs, their attributes, their large values. A chain keeps the retention that it began with, also where it begins
 * and goes on in one tick: nobody sees a row then that could be asked.
 */
const successors: Part = {
  types: [
    ...['uuid', 'uuid', 'uuid', 'bigint', 'int', 'int'],
    ...['bigint', 'int', 'int', 'smallint', 'smallint', 'text', 'uuid', 'uuid', 'uuid', 'bigint'],
    ...['uuid', 'uuid', 'uuid', 'text', 'text', 'bigint'],
    ...['uuid', 'uuid', 'uuid', 'int', 'int', 'int', 'int'],
  ],
  sql: ({ arrays, blob }) => `x as materialized (
  select t.* from unnest(${arrays.slice(0, 16).join(', ')})
    as t (tenant_id, run_id, next_id, at, start, size,
      wake_at, version, chain_no, shard, status, family_slug, root_id, parent_id, chain_id, retention_us)
  where ${isAppended}
), xj as (
  insert into ductor.run_journal (at, tenant_id, run_id, seq, entries)
  select x.at, x.tenant_id, x.next_id, 1, substring(${blob} from x.start + 1 for x.size) from x
), xh as (
  insert into ductor.runs (started_at, wake_at, version, chain_no, shard, status, active, tenant_id, run_id,
    family_slug, root_id, parent_id, chain_id, retention_us)
  select x.at, x.wake_at, x.version, x.chain_no, x.shard, x.status, false, x.tenant_id, x.next_id,
    x.family_slug, x.root_id, x.parent_id, x.chain_id, coalesce((select r.retention_us from ductor.runs r
      where r.tenant_id = x.tenant_id and r.run_id = x.run_id), x.retention_us,
      (select n.retention_us from ductor.tenants n where n.tenant_id = x.tenant_id), ductor.default_retention()) from x
), xa as (
  insert into ductor.run_attribute (tenant_id, run_id, name, value, started_at)
  select t.tenant_id, t.next_id, t.name, t.value, t.started_at
  from unnest(${arrays.slice(16, 22).join(', ')}) as t (tenant_id, run_id, next_id, name, value, started_at)
  where ${isAppended}
), xp as (
  insert into ductor.payloads (tenant_id, run_id, digest, data)
  select t.tenant_id, t.next_id, substring(${blob} from t.name_start + 1 for t.name_size),
    substring(${blob} from t.start + 1 for t.size)
  from unnest(${arrays.slice(22).join(', ')})
    as t (tenant_id, run_id, next_id, name_start, name_size, start, size)
  where ${isAppended}
  on conflict do nothing
)`,
};

/** Messages of consumptions: whoever asked in vain may have let somebody else pass. In the gate lane alone. */
const turns: Part = {
  types: ['uuid', 'uuid', 'smallint', 'smallint', 'int', 'int'],
  sql: ({ arrays, blob }) => `tu as (
  insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body)
  select t.tenant_id, t.to_id, t.shard, t.kind, substring(${blob} from t.start + 1 for t.size)
  from fence, unnest(${arrays.join(', ')}) with ordinality as t (tenant_id, to_id, shard, kind, start, size, n)
  order by t.n
)`,
};

/** All parts. */
export const PARTS: Readonly<Record<PartName, Part>> = {
  keys,
  boxes,
  journal,
  headers,
  attributes,
  updates,
  snapshots,
  payloads,
  consumed,
  dropped,
  deeds,
  mail,
  freed,
  turns,
  successors,
};

/** The parts in the order in which they stand in a statement. */
export const PART_NAMES: readonly PartName[] = [
  'keys',
  'boxes',
  'journal',
  'headers',
  'attributes',
  'updates',
  'snapshots',
  'payloads',
  'consumed',
  'dropped',
  'deeds',
  'mail',
  'freed',
  'turns',
  'successors',
];
