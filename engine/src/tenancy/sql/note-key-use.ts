import { prepared, type Queryable } from '../../store/index.js';

/** A use of a key. */
export interface KeyUse {
  readonly tenantId: string;
  readonly keyId: string;
  /** Hash under the current secret: it replaces one that was made under the previous. */
  readonly keyHash: Buffer;
}

const NOTE = prepared(
  'tenancy_note_key_use',
  `update ductor.api_keys k set last_used_at = ductor.ductor_now(), key_hash = u.key_hash
    from (select * from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as u (tenant_id, key_id, key_hash)
      order by tenant_id, key_id) u
    where k.tenant_id = u.tenant_id and k.key_id = u.key_id`,
);

/** Notes that these keys were used just now. */
export async function noteKeyUse(db: Queryable, uses: readonly KeyUse[]): Promise<void> {
  await db.query(NOTE, [
    uses.map(({ tenantId }) => tenantId),
    uses.map(({ keyId }) => keyId),
    uses.map(({ keyHash }) => keyHash),
  ]);
}
