/** Pools as they are stored. */
import type { PoolFields } from '../objects/pool.js';

/** Why a pool routes nothing although it is active. */
export interface KillSwitch {
  readonly atUs: number;
  /** Name of the key that set it. */
  readonly by: string;
  readonly reason: string;
}

/** A pool. */
export interface Pool {
  readonly tenantId: string;
  readonly poolId: string;
  readonly fields: PoolFields;
  /** null: off. */
  readonly killSwitch: KillSwitch | null;
  /** Its members, by id. */
  readonly recipientIds: readonly string[];
  /** Counts the changes, from 0. */
  readonly recordVersion: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}

/** Whether work may be routed from it: active, and the kill switch off. Its opening hours are asked besides. */
export function canRoute({ fields, killSwitch }: Pick<Pool, 'fields' | 'killSwitch'>): boolean {
  return fields.status === 'STATUS_ACTIVE' && killSwitch === null;
}
