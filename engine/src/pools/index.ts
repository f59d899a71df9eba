/** Pools and their recipients: what they are, how they are checked, when they are open. */
export { CANDIDATE_SCHEMA, ENRICHMENT_SCHEMA, ROUTABLE_SCHEMA } from './cel-schemas.js';
export { expressionField } from './fields/expression-field.js';
export {
  count,
  idField,
  instantField,
  metadataField,
  milliOf,
  msOf,
  patternText,
  refuse,
  text,
} from './fields/primitives.js';
export { check, checkUpdate, mergePatch, type ObjectCheck } from './objects/check.js';
export { MAX_VALUE_CHARS } from './objects/enrichment.js';
export { claimField } from './objects/claim.js';
export { FALLBACK_KINDS, FALLBACK_REASONS, OUTAGE_REASONS, type Fallback } from './objects/fallback.js';
export { fallbacksOf, poolCheck, queuesOf, standbysOf, type PoolFields } from './objects/pool.js';
export type { PoolConfig } from './objects/pool-config.js';
export { raisedBy } from './objects/sla.js';
export {
  RECIPIENT_STATES,
  recipientCheck,
  stateAfter,
  type Attribute,
  type RecipientFields,
  type RecipientState,
} from './objects/recipient.js';
export { withoutPool, withPrimary } from './objects/with-primary.js';
export { afterOpenUs, openUsBetween } from './schedule/business-time.js';
export { nextOpenUs } from './schedule/next-open.js';
export { compileOpening, isOpen, type Opening } from './schedule/opening.js';
export { isTimeZone, localTime, type LocalTime } from './schedule/zone-offset.js';
export type { Schedule } from './schedule/schedule.js';
export { RECIPES, STATEFUL_STRATEGIES, STRATEGY_NAMES, type RecipeName, type StrategyName } from './strategy/names.js';
export type { ParamsOf } from './strategy/params.js';
export type { StrategyNode } from './strategy/tree.js';
export { strategyOf } from './strategy/strategy-of.js';
export type { CapacityAuthority, QueueKeeper, RecipientCounters } from './ports.js';
export { canRoute, type KillSwitch, type Pool } from './store/pool.js';
export type { PoolStats } from './store/pool-stats.js';
export {
  createPools,
  type Caller,
  type Enabling,
  type PoolQuery,
  type Pools,
  type PoolsOptions,
} from './store/pools.js';
export { findPoolIds } from './store/sql/find-pool-ids.js';
export { readRecipientNames, type RecipientNames } from './store/sql/read-names.js';
export { teamNamed } from './objects/team.js';
export { readPoolStatus, readRecipientStatus, type PoolStatus, type RecipientStatus } from './store/sql/read-status.js';
export { readLimits } from './store/sql/read-limits.js';
export { keepPools } from './store/sql/keep-pools.js';
export type { Recipient } from './store/recipient.js';
export {
  areSame,
  idsOf,
  lockPools,
  lockRecipients,
  readTopology,
  writeTopology,
  type ObjectChanges,
  type StoredObject,
  type Topology,
} from './store/topology.js';
export { unlessTaken } from './store/unique.js';
export { checkVersion } from './store/version.js';
export {
  createRecipients,
  type CountedRecipient,
  type Recipients,
  type RecipientsOptions,
} from './store/recipients.js';
export type { MemberQuery } from './store/sql/read-recipients.js';
