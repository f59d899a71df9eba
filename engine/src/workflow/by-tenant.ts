/** Callers' statements serve one tenant each: what was gathered over all tenants is asked tenant by tenant. */

/** Something of a tenant. */
interface Owned {
  readonly tenantId: string;
}

/** The items of each tenant, in their order. */
export function byTenant<T extends Owned>(items: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.tenantId);
    if (group === undefined) groups.set(item.tenantId, [item]);
    else group.push(item);
  }
  return groups;
}
