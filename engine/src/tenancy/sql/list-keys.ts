import type { Queryable } from '../../store/index.js';
import { KEY_COLUMNS, toKeyRecord, type KeyRecord, type KeyRecordRow } from './key-record.js';

/** Highest id there can be. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Keys of a tenant before an id (null: from the newest), newest first (ids begin with their time), at most `limit`. */
export async function listKeys(
  db: Queryable,
  tenantId: string,
  beforeId: string | null,
  limit: number,
): Promise<readonly KeyRecord[]> {
  const { rows } = await db.query<KeyRecordRow>(
    `select ${KEY_COLUMNS} from ductor.api_keys
      where tenant_id = $1::uuid and key_id < $2::uuid order by key_id desc limit $3`,
    [tenantId, beforeId ?? LAST_ID, limit],
  );
  return rows.map(toKeyRecord);
}
