/** Recipients: created and updated as users write them. */
import { z } from 'zod';
import {
  count,
  currencyField,
  idField,
  instantField,
  microsField,
  refuse,
  text,
  weightField,
} from '../fields/primitives.js';
import { scheduleField, zoneField } from '../schedule/schedule.js';
import { check, checkUpdate, type ObjectCheck } from './check.js';
import { MAX_TEAM, TEAM_ATTRIBUTE } from './team.js';

/** States a recipient may be in; a work is given only to AVAILABLE ones. */
export const RECIPIENT_STATES = [
  'RECIPIENT_STATE_AVAILABLE',
  'RECIPIENT_STATE_BUSY',
  'RECIPIENT_STATE_AWAY',
  'RECIPIENT_STATE_WRAP_UP',
  'RECIPIENT_STATE_PAUSED',
  'RECIPIENT_STATE_DRAINING',
  'RECIPIENT_STATE_COOLDOWN',
  'RECIPIENT_STATE_OFFLINE',
] as const;

/** State of a recipient. */
export type RecipientState = (typeof RECIPIENT_STATES)[number];

const attribute = z
  .strictObject({
    string_value: text(4096).optional(),
    number_value: z.number().optional(),
    bool_value: z.boolean().optional(),
    int_value: count(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).optional(),
    string_list: z.array(text(1024)).max(256).optional(),
  })
  .superRefine((value, context) => {
    const arms = Object.values(value).filter((each) => each !== undefined).length;
    if (arms !== 1) {
      const remedy = 'Give exactly one of string_value, number_value, bool_value, int_value, string_list.';
      refuse(context, `has ${arms} values`, remedy);
    }
  });

/** One attribute: exactly one of its fields is set. */
export type Attribute = z.output<typeof attribute>;

const limit = (max: number) =>
  count(0, max)
    .nullable()
    .transform((value) => value ?? 0);

const capacity = z.strictObject({
  max_concurrent: limit(1_000_000).default(0),
  daily_limit: limit(1_000_000_000).default(0),
  unit_costs: z.record(text(64, 1), count(1, 1000)).default({}),
});

const membership = z.strictObject({
  pool_id: idField,
  weight: weightField.optional(),
  tier: count(0, 99).optional(),
  order: count(0, 9999).optional(),
  cost_micros: microsField.optional(),
});

/** Tags are a set: sorted, each once. */
const tags = z
  .array(text(64, 1))
  .max(64)
  .transform((values) => [...new Set(values)].sort((a, b) => (a < b ? -1 : 1)));

const recipientSchema = z
  .strictObject({
    name: text(128, 1),
    pool_id: idField.optional(),
    memberships: z.array(membership).max(50).default([]),
    external_id: text(256).default(''),
    type: z.enum(['agent', 'team', 'queue', 'system', 'model', 'account_seat', 'buyer']).default('agent'),
    status: z.enum(['STATUS_ACTIVE', 'STATUS_INACTIVE', 'STATUS_ARCHIVED']).default('STATUS_ACTIVE'),
    state: z.enum(RECIPIENT_STATES).default('RECIPIENT_STATE_OFFLINE'),
    state_reason: text(1024).default(''),
    state_until: instantField.optional(),
    weight: weightField.default(1),
    tier: count(0, 99).default(0),
    order: count(0, 9999).default(0),
    capacity: capacity.default({ max_concurrent: 0, daily_limit: 0, unit_costs: {} }),
    cost_micros: microsField.optional(),
    currency: currencyField.optional(),
    tags: tags.default([]),
    attributes: z.record(text(128, 1), attribute).default({}),
    timezone: zoneField.default('UTC'),
    schedule: scheduleField.optional(),
    worker_id: idField.optional(),
  })
  .superRefine((value, context) => {
    if (Object.keys(value.attributes).length > 128) {
      refuse(context, 'has more than 128 keys', 'Remove some.', ['attributes']);
    }
    if ((value.attributes[TEAM_ATTRIBUTE]?.string_value?.length ?? 0) > MAX_TEAM) {
      const remedy = 'Give its team a shorter name.';
      refuse(context, `has more than ${MAX_TEAM} characters`, remedy, ['attributes', TEAM_ATTRIBUTE, 'string_value']);
    }
    const pools = value.memberships.map(({ pool_id }) => pool_id);
    if (new Set(pools).size < pools.length) {
      refuse(context, 'names a pool twice', 'Give each pool once.', ['memberships']);
    }
    if ((value.cost_micros === undefined) !== (value.currency === undefined)) {
      const missing = value.currency === undefined ? 'currency' : 'cost_micros';
      refuse(context, 'is missing: cost_micros and currency go together', 'Add it, or remove the other.', [missing]);
    }
  });

/** What a user may write of a recipient. `max_concurrent` and `daily_limit` 0 are unlimited; null is kept as 0. */
export type RecipientFields = z.output<typeof recipientSchema>;

const RECIPIENT = {
  noun: 'recipient',
  schema: recipientSchema,
  names: [...Object.keys(recipientSchema.shape), 'max_concurrent', 'daily_limit', 'unit_costs'],
};

/** Checks of recipients. */
export const recipientCheck: ObjectCheck<RecipientFields> = {
  create: (input) => check(RECIPIENT, input),
  // A patch that names attributes merges by key, but an attribute itself is a value: another arm replaces it whole.
  update: (current, patch) => checkUpdate(RECIPIENT, withoutReplacedAttributes(current, patch), patch),
};

/** The fields without those attributes that the patch gives anew. */
function withoutReplacedAttributes(current: RecipientFields, patch: unknown): RecipientFields {
  const given: unknown = typeof patch === 'object' && patch !== null ? Reflect.get(patch, 'attributes') : undefined;
  if (typeof given !== 'object' || given === null) return current;
  const kept = Object.entries(current.attributes).filter(([key]) => !Object.hasOwn(given, key));
  return { ...current, attributes: Object.fromEntries(kept) };
}

/** The state after a verb. `undefined` when the verb does not apply: resume only leads out of PAUSED and DRAINING. */
export function stateAfter(state: RecipientState, verb: 'pause' | 'resume'): RecipientState | undefined {
  if (verb === 'pause') return 'RECIPIENT_STATE_PAUSED';
  const isPaused = state === 'RECIPIENT_STATE_PAUSED' || state === 'RECIPIENT_STATE_DRAINING';
  return isPaused ? 'RECIPIENT_STATE_AVAILABLE' : undefined;
}
