/** A recipient belongs to its primary pool. */
import type { RecipientFields } from './recipient.js';

type Memberships = RecipientFields['memberships'];

/** The memberships but for the one in a pool. */
export function withoutPool(memberships: Memberships, poolId: string): Memberships {
  return memberships.filter(({ pool_id }) => pool_id !== poolId);
}

/**
 * The fields with the primary pool among the memberships, in the place of another one it moves away from.
 *
 * @param before the primary pool so far; undefined: none
 */
export function withPrimary(fields: RecipientFields, before: string | undefined): RecipientFields {
  const { pool_id: primary, memberships } = fields;
  const kept = before === undefined || before === primary ? memberships : withoutPool(memberships, before);
  if (primary === undefined || kept.some(({ pool_id }) => pool_id === primary)) {
    return { ...fields, memberships: kept };
  }
  return { ...fields, memberships: [{ pool_id: primary }, ...kept] };
}
