/** What makes two selections the same: only then one may use the reservation of the other. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../kernel/index.js';

/** A selection. */
export interface SlateIdentity {
  readonly poolId: string;
  /** Path of the step, with items and iterations. */
  readonly path: string;
  /** In order. */
  readonly recipients: readonly { readonly id: string; readonly units: number }[];
}

/** SHA-256 of the canonical form of a selection, lower case hex. The version of the pool is no part of it. */
export function slateDigest({ poolId, path, recipients }: SlateIdentity): string {
  const slate = recipients.map(({ id, units }) => [id, units]);
  return createHash('sha256')
    .update(canonicalJson({ pool: poolId, path, slate }))
    .digest('hex');
}
