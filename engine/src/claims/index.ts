/**
 * Claims: work that waits until a recipient takes it, and how much each may take.
 *
 * The port for workflows. Who puts an item (insertItems, in a transaction of the gate lane that has kept its queue with
 * keepQueues) may name a `waiter`, a text of its own, such as the chain and the step that wait. Whatever becomes of the
 * item (claimed, released, completed, expired, withdrawn) is then told to ClaimWaiters within the very transaction that
 * changes it: by the lane of claims, by the assignment that ends, and by the driver of items that are due. A message
 * written there is committed with the change or not at all. withdrawItems takes items back whose run has ended; what is
 * claimed already stays claimed. Routing's `claimItemOf` makes the item of a decision. Order of locks: accounts of
 * capacity, usage of recipients, usage of teams, items; a queue is only kept.
 */
export { offerTo, type Claimant, type ClaimItem, type ClaimState, type ClaimTerms } from './item/claim-item.js';
export type { ClaimWave, NewClaimItem, OfferState } from './item/claim-item.js';
export { changeItem, type ClaimVerb, type ItemChange } from './item/change.js';
export { lookAt, type Look } from './item/look.js';
export { HAS_DUE_ITEMS, noteDecidedAgain, takeDueItems, type DueItem } from './item/sql/due-items.js';
export { endItems, withdrawEnding, withdrawItems, type EndedClaim } from './item/sql/end-items.js';
export { freshItem, insertItems } from './item/sql/insert-items.js';
export { listItems, lockItems, readAsks, readItems, type ItemQuery } from './item/sql/read-items.js';
export { writeItems } from './item/sql/write-items.js';
export { claimerKey, countOpenClaims } from './item/sql/count-open-claims.js';
export { readClaimedFor } from './item/sql/read-claimed-for.js';
export { cooled, NO_USAGE, refund, spend, type BudgetTerms, type Spending, type Usage } from './budget/budget.js';
export { lockUsage, writeUsage, type Claimer } from './budget/sql/usage.js';
export { countTeamClaims, lockTeamUsage, teamKey, writeTeamUsage, type TeamClaimer } from './budget/sql/team-usage.js';
export type { ClaimQueue, ClaimQueueFields } from './queue/claim-queue.js';
export { allQueues, findQueue, keepQueues, listQueues, lockQueue, lockQueueVersions } from './queue/sql/read-queues.js';
export { insertQueues, updateQueues } from './queue/sql/write-many-queues.js';
export { deleteQueues, insertQueue, queuesWithWork, updateQueue } from './queue/sql/write-queues.js';
export { NO_WAITERS, tellWaiters, type ClaimEvent, type ClaimWaiters } from './ports.js';
