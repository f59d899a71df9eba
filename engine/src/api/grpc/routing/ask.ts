/** What is to be routed, out of a request. */
import type { Routable as RoutableMessage } from '../../../gen/ductor/v1/routing.js';
import { DuctorError } from '../../../kernel/index.js';
import { checkRoutable, type Routable, type RouteAsk } from '../../../routing/index.js';
import type { Timestamp } from '../../../gen/google/protobuf/timestamp.js';
import { FieldChecks } from '../checks/field-checks.js';
import { usOf } from '../wire/timestamp.js';

/** Fields that Route and its preview share. */
export interface AskFields {
  readonly routable: RoutableMessage | undefined;
  readonly poolId: string;
  readonly recipientId: string;
  readonly excludedRecipientIds: readonly string[];
  readonly previousRecipientIds: readonly string[];
  readonly tried: number;
}

const MAX_IDS = 100;
const MAX_TRIED = 1_000_000;

/** RFC 3339; a Timestamp that is none becomes a text that the check refuses. */
function instantText(time: Timestamp): string {
  const date = new Date(usOf(time) / 1000);
  return Number.isNaN(date.getTime()) ? `${time.seconds}s` : date.toISOString();
}

function routableOf(message: RoutableMessage): Routable {
  // Written out: it is made for every call, and objects spread together are slow.
  return checkRoutable({
    id: message.id,
    type: message.type,
    attributes: message.attributes ?? {},
    priority: message.priority,
    channel: message.channel,
    required_skills: message.requiredSkills,
    dedupe_key: message.dedupeKey,
    expires_at: message.expiresAt && instantText(message.expiresAt),
    received_at: message.receivedAt && instantText(message.receivedAt),
  });
}

function checkIds(checks: FieldChecks, path: string, ids: readonly string[]): void {
  if (!checks.count(path, ids.length, 0, MAX_IDS)) return;
  for (const [index, id] of ids.entries()) checks.uuid(`${path}[${index}]`, id);
}

/** The checked routable; its problems are noted under the name that the request has for it. */
function checkedRoutable(checks: FieldChecks, message: RoutableMessage | undefined): Routable | undefined {
  if (message === undefined) {
    checks.note('routable', '', 'is missing', 'say what is to be routed');
    return undefined;
  }
  try {
    return routableOf(message);
  } catch (caught) {
    const { code, details } = DuctorError.from(caught);
    if (code !== 'invalid_argument') throw caught;
    checks.add(details.map((each) => ({ ...each, path: `routable.${each.path}` })));
    return undefined;
  }
}

/** What is asked. Throws invalid_argument with everything that is wrong. */
export function askOf(fields: AskFields): RouteAsk {
  const checks = new FieldChecks();
  const { poolId, recipientId } = fields;
  if (poolId !== '') checks.uuid('pool_id', poolId);
  if (recipientId !== '') checks.uuid('recipient_id', recipientId);
  checkIds(checks, 'excluded_recipient_ids', fields.excludedRecipientIds);
  checkIds(checks, 'previous_recipient_ids', fields.previousRecipientIds);
  checks.count('tried', fields.tried, 0, MAX_TRIED);
  const routable = checkedRoutable(checks, fields.routable);
  checks.done();
  return {
    routable: routable ?? checkRoutable({}),
    poolId: poolId === '' ? undefined : poolId,
    recipientId: recipientId === '' ? undefined : recipientId,
    ...{ excluded: fields.excludedRecipientIds, previous: fields.previousRecipientIds },
    // Absent rather than 0: keys of idempotency that were used before it was there stay good.
    ...(fields.tried === 0 ? {} : { tried: fields.tried }),
  };
}
