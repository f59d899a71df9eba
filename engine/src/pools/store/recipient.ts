/** Recipients as they are stored. */
import type { RecipientFields } from '../objects/recipient.js';

/** A recipient. Its counters are the capacity authority's. */
export interface Recipient {
  readonly tenantId: string;
  readonly recipientId: string;
  /** Its memberships include the one in its primary pool. */
  readonly fields: RecipientFields;
  /** Counts the changes, from 0. */
  readonly recordVersion: number;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
}
