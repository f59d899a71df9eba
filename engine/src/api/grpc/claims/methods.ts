/** The methods of claims. */
import { ClaimServiceService } from '../../../gen/ductor/v1/claim.js';
import type { GuardOptions } from '../guard.js';
import { ServiceBuilder } from '../service.js';
import { actOnClaim as act, getClaimItem, listClaimItems } from './item-service.js';
import * as queues from './queue-service.js';

/** ClaimService. */
export function claimMethods(parts: queues.ClaimParts, guard: GuardOptions): ServiceBuilder {
  const C = ClaimServiceService;
  return new ServiceBuilder(guard)
    .unary(C.createClaimQueue, queues.createClaimQueue(parts))
    .unary(C.listClaimQueues, queues.listClaimQueues(parts))
    .unary(C.getClaimQueue, queues.getClaimQueue(parts))
    .unary(C.updateClaimQueue, queues.updateClaimQueue(parts))
    .unary(C.deleteClaimQueue, queues.deleteClaimQueue(parts))
    .unary(C.listClaimItems, listClaimItems(parts))
    .unary(C.getClaimItem, getClaimItem(parts))
    .unary(C.claimItem, act(parts, 'claim', C.claimItem.path))
    .unary(C.releaseClaim, act(parts, 'release', C.releaseClaim.path))
    .unary(C.completeClaim, act(parts, 'complete', C.completeClaim.path))
    .unary(C.declineClaim, act(parts, 'decline', C.declineClaim.path));
}
