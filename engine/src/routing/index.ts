/**
 * Routing: from a unit of work to who does it, with everything it was decided by. Choosing is pure: no clock, no dice,
 * no database; `directory` brings pools, recipients and their capacity together.
 */
export type { Binding, Candidate, Change, Context, NodeState, PoolState, RecipientFacts } from './core/candidate.js';
export { createDirectory, type Directory, type DirectoryOptions } from './directory.js';
export { checkRoutable, routableScope, type Routable } from './core/routable.js';
export { createStream, deriveSeed, seedOf, seedText, type Seed } from './core/stream.js';
export { compileStrategy, STRATEGY_IMPLEMENTATION, type CompiledStrategy } from './strategies/compile-strategy.js';
export { afterLatency } from './strategies/latency-ewma.js';
export { afterChanges, select, type Selection } from './strategies/select.js';
export { bucketOf, RESPONSE_BUCKETS } from './strategies/sla-deadline.js';
export type { Exclusion, Ranking, Strategy } from './strategies/strategy.js';
export { afterOutcome } from './strategies/success-counts.js';
