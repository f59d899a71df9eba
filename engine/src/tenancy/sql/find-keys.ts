import { prepared, type Queryable } from '../../store/index.js';

/** A key as stored, with what the database's clock says of it. */
export interface KeyRow {
  readonly tenant_id: string;
  readonly key_id: string;
  readonly key_hash: Buffer;
  readonly name: string;
  readonly scopes: string[];
  readonly is_revoked: boolean;
  /** Negative once it has expired; null: never. */
  readonly expires_in_ms: number | null;
  /** Its last use was noted more than a minute ago, or never. */
  readonly is_use_stale: boolean;
}

const FIND = prepared(
  'tenancy_find_keys',
  `select tenant_id::text, key_id::text, key_hash, name, scopes, revoked_at is not null as is_revoked,
      floor(extract(epoch from expires_at - ductor.ductor_now()) * 1000)::bigint as expires_in_ms,
      coalesce(last_used_at < ductor.ductor_now() - interval '1 minute', true) as is_use_stale
    from ductor.api_keys where key_hash = any($1::bytea[])`,
);

/** The keys with these hashes, in any order. */
export async function findKeys(db: Queryable, hashes: readonly Buffer[]): Promise<readonly KeyRow[]> {
  const { rows } = await db.query<KeyRow & Record<string, unknown>>(FIND, [hashes]);
  return rows;
}
