/** Pools and recipients as messages. */
import { Pool as PoolMessage, type PoolStats as StatsMessage } from '../../../gen/ductor/v1/pool.js';
import { Recipient as RecipientMessage } from '../../../gen/ductor/v1/recipient.js';
import type { CountedRecipient, Pool, PoolStats } from '../../../pools/index.js';
import { contractJson } from '../../json/contract-json.js';
import { timestampOf } from './timestamp.js';

/** A pool as a message. What its configuration does not say stays absent. */
export function poolMessage({ poolId, fields, killSwitch, recipientIds, ...pool }: Pool): PoolMessage {
  const kill =
    killSwitch === null
      ? {}
      : { kill_switch: true, kill_switch_reason: killSwitch.reason, kill_switch_by: killSwitch.by };
  const json = {
    ...{ id: poolId, name: fields.name, description: fields.description, status: fields.status },
    ...{ strategy: fields.strategy, metadata: fields.metadata, record_version: pool.recordVersion },
    config: { ...fields.config, ...kill },
    recipient_ids: [...recipientIds],
  };
  const message = PoolMessage.decode(contractJson().encode('Pool', JSON.parse(JSON.stringify(json))));
  if (killSwitch !== null && message.config !== undefined) message.config.killSwitchAt = timestampOf(killSwitch.atUs);
  message.createdAt = timestampOf(pool.createdAtUs);
  message.updatedAt = timestampOf(pool.updatedAtUs);
  return message;
}

/** Figures of a pool as a message. */
export function statsMessage(
  poolId: string,
  stats: PoolStats & { readonly queueDepth: number },
  atUs: number,
): StatsMessage {
  const { utilization, ...figures } = stats;
  return {
    ...{ ...figures, poolId, updatedAt: timestampOf(atUs) },
    utilization: utilization ?? undefined,
  };
}

/** A recipient as a message, with what is counted for it. */
export function recipientMessage({ recipient, counters }: CountedRecipient): RecipientMessage {
  const { recipientId: id, fields, recordVersion } = recipient;
  const json = {
    ...{ ...fields, id, record_version: recordVersion },
    capacity: {
      ...fields.capacity,
      ...{ current: counters.committed, held: counters.held },
      ...{ daily_count: counters.dailyCommitted, daily_admitted: counters.dailyAdmitted },
    },
  };
  const message = RecipientMessage.decode(contractJson().encode('Recipient', JSON.parse(JSON.stringify(json))));
  if (counters.resetAtUs !== null && message.capacity !== undefined) {
    message.capacity.resetAt = timestampOf(counters.resetAtUs);
  }
  message.createdAt = timestampOf(recipient.createdAtUs);
  message.updatedAt = timestampOf(recipient.updatedAtUs);
  return message;
}
