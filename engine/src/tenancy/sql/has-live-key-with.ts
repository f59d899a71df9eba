import type { Queryable } from '../../store/index.js';

/** Whether any live key of any tenant has the scope. */
export async function hasLiveKeyWith(db: Queryable, scope: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `select 1 from ductor.api_keys
      where $1 = any(scopes) and revoked_at is null and (expires_at is null or expires_at > ductor.ductor_now())
      limit 1`,
    [scope],
  );
  return rowCount > 0;
}
