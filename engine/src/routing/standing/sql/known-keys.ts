import { integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { Binding } from '../../core/candidate.js';

/** A key within a pool. */
export interface PoolKey {
  readonly poolId: string;
  readonly key: string;
}

/** A key as text, for maps. */
export function poolKeyText({ poolId, key }: PoolKey): string {
  return `${poolId}/${key}`;
}

interface BindingRow extends Row {
  readonly pool_id: string;
  readonly affinity_key: string;
  readonly recipient_id: string;
  readonly expires_at: number;
  readonly tier: number | null;
}

interface DedupeRow extends Row {
  readonly pool_id: string;
  readonly dedupe_key: string;
  readonly decision_id: string;
}

const BINDINGS = prepared(
  'routing_read_bindings',
  `select b.pool_id, b.affinity_key, b.recipient_id, b.expires_at, b.tier from ductor.routing_binding b
    join unnest($2::uuid[], $3::text[]) as k (pool_id, key) on b.pool_id = k.pool_id and b.affinity_key = k.key
    where b.tenant_id = $1::uuid`,
);
const FIRSTS = prepared(
  'routing_read_firsts',
  `select d.pool_id, d.dedupe_key, d.decision_id from ductor.routing_dedupe d
    join unnest($2::uuid[], $3::text[]) as k (pool_id, key) on d.pool_id = k.pool_id and d.dedupe_key = k.key
    where d.tenant_id = $1::uuid and d.expires_at > ductor.now_us()`,
);
const BIND = prepared(
  'routing_write_bindings',
  `insert into ductor.routing_binding (tenant_id, pool_id, affinity_key, recipient_id, expires_at, owner, tier)
    select $1::uuid, n.* from unnest($2::uuid[], $3::text[], $4::uuid[], $5::bigint[], $6::text[], $7::integer[])
      as n (pool_id, affinity_key, recipient_id, expires_at, owner, tier) order by 2, 3
    on conflict (tenant_id, pool_id, affinity_key)
      do update set recipient_id = excluded.recipient_id, expires_at = excluded.expires_at, tier = excluded.tier`,
);
const FIRST = prepared(
  'routing_write_firsts',
  `insert into ductor.routing_dedupe (tenant_id, pool_id, dedupe_key, decision_id, expires_at)
    select $1::uuid, n.* from unnest($2::uuid[], $3::text[], $4::uuid[], $5::bigint[])
      as n (pool_id, dedupe_key, decision_id, expires_at) order by 2, 3
    on conflict (tenant_id, pool_id, dedupe_key)
      do update set decision_id = excluded.decision_id, expires_at = excluded.expires_at`,
);

function columns(keys: readonly PoolKey[]): [string, readonly string[]] {
  return [uuidArray(keys.map(({ poolId }) => poolId)), keys.map(({ key }) => key)];
}

/** Whom keys are bound to, by poolKeyText; old bindings too, whoever reads them asks for their end. */
export async function readBindings(
  db: Queryable,
  tenantId: string,
  keys: readonly PoolKey[],
): Promise<ReadonlyMap<string, Binding>> {
  if (keys.length === 0) return new Map();
  const { rows } = await db.query<BindingRow>(BINDINGS, [tenantId, ...columns(keys)]);
  return new Map(
    rows.map((row) => [
      poolKeyText({ poolId: row.pool_id, key: row.affinity_key }),
      { recipientId: row.recipient_id, expiresUs: row.expires_at, ...(row.tier === null ? {} : { tier: row.tier }) },
    ]),
  );
}

/** The first decisions about work with keys, within the windows of their pools, by poolKeyText. */
export async function readFirsts(
  db: Queryable,
  tenantId: string,
  keys: readonly PoolKey[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const { rows } = await db.query<DedupeRow>(FIRSTS, [tenantId, ...columns(keys)]);
  return new Map(rows.map((row) => [poolKeyText({ poolId: row.pool_id, key: row.dedupe_key }), row.decision_id]));
}

/** What a key stands for from now on: a recipient or a first decision, until a moment. */
export interface KeyEntry extends PoolKey {
  readonly id: string;
  readonly expiresUs: number;
}

/** Whom a key is bound to from now on. */
export interface BindingEntry extends PoolKey, Binding {
  /** Who ends it, with all others that are its own; undefined: nobody, its time alone does. */
  readonly owner: string | undefined;
}

function entryColumns(entries: readonly KeyEntry[]): readonly unknown[] {
  const ids = uuidArray(entries.map(({ id }) => id));
  return [...columns(entries), ids, integerArray(entries.map(({ expiresUs }) => expiresUs))];
}

/** Binds keys; each stands there once. The accounts of their pools' members must be locked. */
export async function writeBindings(tx: Queryable, tenantId: string, entries: readonly BindingEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const ids = entries.map(({ recipientId: id, ...entry }) => ({ ...entry, id }));
  const [owners, tiers] = [entries.map(({ owner }) => owner ?? null), entries.map(({ tier }) => tier ?? null)];
  await tx.query(BIND, [tenantId, ...entryColumns(ids), owners, tiers]);
}

/** Keeps first decisions; each key stands there once. The accounts of their pools' members must be locked. */
export async function writeFirsts(tx: Queryable, tenantId: string, entries: readonly KeyEntry[]): Promise<void> {
  if (entries.length > 0) await tx.query(FIRST, [tenantId, ...entryColumns(entries)]);
}
