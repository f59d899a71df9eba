/** Says whether the database itself keeps tenants apart, and what to do when it does not. */
import { DuctorError, type Problem } from '../../kernel/index.js';
import type { Queryable } from './types.js';

const REMEDY =
  'As a superuser: create role ductor_api nologin; create role ductor_engine nologin; ' +
  'grant ductor_api, ductor_engine to the role that DATABASE_URL names; ' +
  'then run `ductor migrate` as the owner of the schema.';

/** Whether row-level security is forced and the role that asks is not among those whom it lets pass. */
const IS_SHUT_OUT = `not r.rolsuper and not r.rolbypassrls
  and not exists (select 1 from pg_roles e where e.rolname = 'ductor_engine' and pg_has_role(r.oid, e.oid, 'USAGE'))
  and exists (select 1 from pg_class c where c.oid in (select ductor.tenant_tables()) and c.relforcerowsecurity)`;

/**
 * Checks the wall of row-level security of a migrated database for the role that asks.
 *
 * Returns null when callers' statements can run under it. Otherwise what is missing: tenants are then kept apart by the
 * conditions of the statements alone.
 *
 * Throws database_role_unsuitable when the wall shuts out the role itself: it would see an empty database;
 * database_unavailable.
 */
export async function checkTenantWall(db: Queryable): Promise<Problem | null> {
  const { rows } = await db.query<{ problem: string | null; shut_out: boolean; role: string }>(
    `select ductor.tenant_wall_problem() as problem, ${IS_SHUT_OUT} as shut_out, r.rolname::text as role
      from pg_roles r where r.rolname = current_user`,
  );
  const [{ problem, shut_out: isShutOut, role } = { problem: null, shut_out: false, role: '' }] = rows;
  if (isShutOut) {
    const message = `row-level security is forced, and the role ${role} is no member of ductor_engine`;
    throw new DuctorError('database_role_unsuitable', message);
  }
  if (problem === null) return null;
  return { path: 'database.tenant_wall', value: '', problem, remedy: REMEDY };
}
