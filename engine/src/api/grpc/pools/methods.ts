/** The methods of pools and recipients. */
import { PoolServiceService } from '../../../gen/ductor/v1/pool.js';
import { RecipientServiceService } from '../../../gen/ductor/v1/recipient.js';
import type { GuardOptions } from '../guard.js';
import { ServiceBuilder } from '../service.js';
import * as capacity from './capacity-service.js';
import * as pools from './pool-service.js';
import * as recipients from './recipient-service.js';

/** PoolService and RecipientService. */
export function poolMethods(
  parts: pools.PoolServiceParts & capacity.CapacityParts & recipients.RecipientServiceParts,
  guard: GuardOptions,
): readonly ServiceBuilder[] {
  const [P, R] = [PoolServiceService, RecipientServiceService];
  return [
    new ServiceBuilder(guard)
      .unary(P.createPool, pools.createPool(parts))
      .unary(P.getPool, pools.getPool(parts))
      .unary(P.listPools, pools.listPools(parts))
      .unary(P.updatePool, pools.updatePool(parts))
      .unary(P.deletePool, pools.deletePool(parts))
      .unary(P.setPoolEnabled, pools.setPoolEnabled(parts))
      .unary(P.getPoolStats, pools.getPoolStats(parts))
      .unary(P.resetPoolCapacity, pools.resetPoolCapacity(parts))
      .unary(P.listCapacity, capacity.listCapacity(parts)),
    new ServiceBuilder(guard)
      .unary(R.createRecipient, recipients.createRecipient(parts))
      .unary(R.getRecipient, recipients.getRecipient(parts))
      .unary(R.listRecipients, recipients.listRecipients(parts))
      .unary(R.updateRecipient, recipients.updateRecipient(parts))
      .unary(R.deleteRecipient, recipients.deleteRecipient(parts))
      .unary(R.pauseRecipient, recipients.pauseRecipient(parts))
      .unary(R.resumeRecipient, recipients.resumeRecipient(parts)),
  ];
}
