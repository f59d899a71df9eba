/** Claims for those who ask: queues, what waits in them, and what recipients do to it. */
import {
  endItems,
  listItems,
  readItems,
  tellWaiters,
  type ClaimItem,
  type ClaimWaiters,
  type ItemQuery,
} from '../../claims/index.js';
import type { AssignmentFollower } from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { ClaimCall } from './claim-call.js';
import { noItem } from './claim-errors.js';
import { ClaimLane, type ClaimLaneParts } from './claim-lane.js';
import { createClaimQueues, type ClaimQueues } from './claim-queues.js';

/** See above. Ids of other tenants answer not_found, as those of nothing do. */
export interface Claims {
  readonly queues: ClaimQueues;
  /** Who is told what becomes of items. */
  readonly waiters: ClaimWaiters;
  /** Throws not_found. */
  get(tenantId: string, itemId: string): Promise<ClaimItem>;
  /** Items of a queue, the longest waiting first. Throws not_found: its queue. */
  list(tenantId: string, query: ItemQuery): Promise<readonly ClaimItem[]>;
  /**
   * Claims, releases, completes or declines; doing again what was done is fine and changes nothing. Throws what
   * ClaimLane says.
   */
  act(call: ClaimCall): Promise<ClaimItem>;
}

/** Claims in this database. */
export function createClaims(parts: ClaimLaneParts): Claims {
  const { db, newId } = parts;
  const lane = new ClaimLane(parts);
  const queues = createClaimQueues(db, newId);
  return {
    ...{ queues, waiters: parts.waiters },
    async get(tenantId, itemId) {
      const found = (await readItems(db.asTenant(tenantId), tenantId, [itemId])).get(itemId);
      if (found === undefined) throw noItem(itemId);
      return found;
    },
    async list(tenantId, query) {
      await queues.get(tenantId, query.queueId);
      return listItems(db.asTenant(tenantId), tenantId, query);
    },
    async act(call) {
      const result = await lane.act(call);
      if (result instanceof DuctorError) throw result;
      return result;
    },
  };
}

/**
 * Ends claims whose assignments end by themselves, in the same transaction: completed work is completed, and what was
 * taken away goes to nobody else.
 */
export function claimsFollow(waiters: ClaimWaiters): AssignmentFollower {
  return async (tx, tenantId, assignments) => {
    const ended = assignments.flatMap(({ claimItemId: itemId, assignmentId, state }) =>
      itemId === null ? [] : [{ itemId, assignmentId, isCompleted: state === 'completed' }],
    );
    const items = await endItems(tx, tenantId, ended);
    const events = items.map(
      (item) => ({ kind: item.state === 'completed' ? 'completed' : 'withdrawn', item }) as const,
    );
    await tellWaiters(waiters, tx, events);
  };
}
