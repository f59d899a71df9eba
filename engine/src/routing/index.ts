/**
 * Routing: from a unit of work to who does it, with everything it was decided by. Choosing is pure: no clock, no dice,
 * no database; `directory` brings pools, recipients and their capacity together.
 */
export type { Binding, Candidate, Change, Context, NodeState, PoolState, RecipientFacts } from './core/candidate.js';
export { PRUNED_KINDS, type Bundle, type BundleChange, type JsonObject, type PrunedKind } from './bundles/bundle.js';
export type { Bundles } from './bundles/bundles.js';
export type { BundleAsk, BundlePlan } from './bundles/plan-bundle.js';
export { createDirectory, type Directory, type DirectoryOptions } from './directory.js';
export { checkRoutable, routableScope, type Routable } from './core/routable.js';
export { createStream, deriveSeed, seedOf, seedText, type Seed } from './core/stream.js';
export { compileStrategy, STRATEGY_IMPLEMENTATION, type CompiledStrategy } from './strategies/compile-strategy.js';
export { afterLatency } from './strategies/latency-ewma.js';
export { afterChanges, select, type Selection } from './strategies/select.js';
export { bucketOf, RESPONSE_BUCKETS } from './strategies/sla-deadline.js';
export type { Exclusion, Ranking, Strategy } from './strategies/strategy.js';
export { afterOutcome } from './strategies/success-counts.js';
export { explain, type Explanation, type ExplainedHop } from './decisions/explain.js';
export { createRecordReader, type Documents, type RecordReader } from './decisions/read-input.js';
export { replay, replayExported, type ExportedDecision, type Replay } from './decisions/replay.js';
export { documentsOf, writeRecord } from './decisions/write-record.js';
export { admissionOf, fits, type Admission, type Admit, type Usage } from './pipeline/admission.js';
export { decide } from './pipeline/decide.js';
export type { Decision, DecisionInput, Hop, PoolSnapshot } from './pipeline/decision.js';
export type { Enriched } from './pipeline/enrich.js';
export { afterHealthOutcome, HEALTHY, type Health } from './pipeline/health.js';
export { OUTCOMES, REASONS, type Outcome, type OutcomeClass, type Reason } from './pipeline/outcomes.js';
export { VERDICT_CODES, type Verdict, type VerdictCode } from './pipeline/verdicts.js';
export { compilePool, type Member, type PoolDocument, type PoolView, type StoredRecipient } from './pipeline/view.js';
export {
  compileRules,
  matchRules,
  ruleCheck,
  type CompiledRule,
  type Rule,
  type RuleFields,
  type StoredRule,
} from './rules/rule.js';
export { createRules, MAX_RULES, type Rules, type RulesOptions } from './rules/rules.js';
export { createRouting, type Router, type Routing, type RoutingOptions, type SelectionParts } from './routing.js';
export { maintainRouting } from './maintain-routing.js';
export type { Decisions } from './decisions/store/decisions.js';
export type { Shadows } from './shadow/shadows.js';
export { createShadowDriver } from './shadow/shadow-driver.js';
export type { ShadowQuery } from './shadow/sql/read-shadows.js';
export type { ShadowDecision, ShadowReport } from './shadow/stored-shadow.js';
export type { DecisionQuery } from './decisions/store/sql/read-decisions.js';
export { storedDecisionOf, type StoredDecision } from './decisions/store/stored-decision.js';
export type { RouteAsk } from './lane/ask.js';
export type { Asked } from './lane/asked.js';
export { firstPoolOf } from './lane/ask.js';
export type { AskingCall } from './lane/asking.js';
export { isAssigning, madeOf, writeMade } from './lane/made.js';
export { unanswerable } from './lane/unanswerable.js';
export type { StrategyApps, StrategyQuestion, StrategyReply } from './lane/strategy-apps.js';
export type { Routed, RouteCall } from './lane/route-call.js';
export { World, type Holding, type WorldChanges, type WorldParts } from './lane/world.js';
export type { Outcomes, RecipientHealth, ReportedWork } from './outcomes/outcomes.js';
export { everybody, isCurrent, type PoolStanding, type Standing } from './standing/standing.js';
export { askedPools, readStanding } from './standing/sql/read-standing.js';
export { releaseFreeOwners, releaseOwners, writeProbes } from './standing/sql/seats.js';
export { lockStates, openStates, writeStates } from './standing/sql/strategy-states.js';
export { affinityKeysOf, dedupeKeyOf } from './lane/ask.js';
export { poolKeyText, readBindings, readFirsts, writeBindings, writeFirsts } from './standing/sql/known-keys.js';
export type { BindingEntry } from './standing/sql/known-keys.js';
export { OfferDriver, type OfferDriverParts, type OfferEvent } from './offers/offer-driver.js';
export { QueueDriver, type QueueDriverParts, type QueueEvent } from './queue/queue-driver.js';
export { NO_POOL, type QueuePlace, type WaitingWork } from './queue/waiting-item.js';
export { newWaiting } from './queue/new-waiting.js';
export type { LeftQueues, QueueWaiters } from './queue/queue-waiters.js';
export { queuesIn } from './queue/queues-in.js';
export { lockWorkOfSteps, readDepths } from './queue/sql/read-waiting.js';
export { insertWaiting, removeWaiting } from './queue/sql/write-waiting.js';
export type { ListedWork } from './queue/sql/read-waiting.js';
export type { Waiting } from './queue/waiting.js';
export { noteOwnersEnd, type Ending } from './endings/sql/endings.js';
export { EndingDriver, type EndingDriverParts } from './endings/ending-driver.js';
export { DueWork } from './due/due-work.js';
export { ClaimDriver, type ClaimDriverParts, type ClaimLook } from './claiming/claim-driver.js';
export { claimItemOf, claimQueuesOf } from './claiming/claim-item-of.js';
export type { ClaimCall, ClaimResult } from './claiming/claim-call.js';
export { Claiming, type ClaimWorld } from './claiming/claiming.js';
export type { ClaimQueues } from './claiming/claim-queues.js';
export type { Claims } from './claiming/claims.js';
export { SlaDriver, type SlaDriverParts, type SlaEvent } from './sla/sla-driver.js';
export type { StoredClock } from './sla/sql/clocks.js';
export { PoolViews } from './views/pool-views.js';
