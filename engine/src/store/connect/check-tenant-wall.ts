/** Says whether the database itself keeps tenants apart, and what to do when it does not. */
import type { Problem } from '../../kernel/index.js';
import type { Queryable } from './types.js';

const REMEDY =
  'As a superuser: create role ductor_api nologin; create role ductor_engine nologin; ' +
  'grant ductor_api, ductor_engine to the role that DATABASE_URL names; ' +
  'then run `ductor migrate` as the owner of the schema.';

/**
 * Checks the wall of row-level security of a migrated database for the role that asks.
 *
 * Returns null when callers' statements can run under it. Otherwise what is missing: tenants are then kept apart by the
 * conditions of the statements alone. Throws database_unavailable.
 */
export async function checkTenantWall(db: Queryable): Promise<Problem | null> {
  const { rows } = await db.query<{ problem: string | null }>('select ductor.tenant_wall_problem() as problem');
  const problem = rows[0]?.problem ?? null;
  if (problem === null) return null;
  return { path: 'database.tenant_wall', value: '', problem, remedy: REMEDY };
}
