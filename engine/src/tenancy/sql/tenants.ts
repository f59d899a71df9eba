/** Statements on `tenants`. They are the operator's: no tenant sees another. */
import type { Queryable, Row } from '../../store/index.js';

/** A tenant. */
export interface TenantRecord {
  readonly id: string;
  readonly slug: string;
  /** Microseconds since 1970. */
  readonly createdAtUs: number;
  /** How long its runs are kept after their end, ms. */
  readonly retentionMs: number;
}

interface TenantRow extends Row {
  readonly tenant_id: string;
  readonly slug: string;
  readonly created_us: number;
  readonly retention_us: number;
}

const COLUMNS = `tenant_id::text, slug, (extract(epoch from created_at) * 1000000)::bigint as created_us,
  retention_us`;

const toRecord = ({ tenant_id: id, slug, created_us: createdAtUs, retention_us: us }: TenantRow): TenantRecord => ({
  id,
  slug,
  createdAtUs,
  retentionMs: us / 1000,
});

/** A tenant to insert; without a retention it has the default. */
export interface TenantInsert {
  readonly tenantId: string;
  readonly slug: string;
  readonly retentionMs: number | null;
}

/** Makes a tenant; undefined when the slug is taken. */
export async function insertTenant(
  db: Queryable,
  { tenantId, slug, retentionMs }: TenantInsert,
): Promise<TenantRecord | undefined> {
  const { rows } = await db.query<TenantRow>(
    `insert into ductor.tenants (tenant_id, slug, retention_us)
      values ($1::uuid, $2, coalesce($3::bigint, ductor.default_retention())) on conflict (slug) do nothing
      returning ${COLUMNS}`,
    [tenantId, slug, retentionMs === null ? null : retentionMs * 1000],
  );
  return rows[0] && toRecord(rows[0]);
}

/** Tenants after a slug (empty: from the first), in order of bytes, at most `limit`. */
export async function listTenants(db: Queryable, afterSlug: string, limit: number): Promise<readonly TenantRecord[]> {
  const { rows } = await db.query<TenantRow>(
    `select ${COLUMNS} from ductor.tenants where slug collate "C" > $1 order by slug collate "C" limit $2`,
    [afterSlug, limit],
  );
  return rows.map(toRecord);
}
