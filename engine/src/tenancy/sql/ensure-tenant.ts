import { impossible } from '../../kernel/index.js';
import type { Queryable } from '../../store/index.js';

/** Id of the tenant with this slug; makes it, with the id given, when there is none. */
export async function ensureTenant(db: Queryable, slug: string, newTenantId: string): Promise<string> {
  await db.query('insert into ductor.tenants (tenant_id, slug) values ($1::uuid, $2) on conflict (slug) do nothing', [
    newTenantId,
    slug,
  ]);
  // A second statement: of two that insert at once the loser sees the winner's row only now.
  const { rows } = await db.query<{ tenant_id: string }>('select tenant_id::text from ductor.tenants where slug = $1', [
    slug,
  ]);
  return rows[0]?.tenant_id ?? impossible('tenant-gone', `tenant ${slug} vanished after it was made`);
}
