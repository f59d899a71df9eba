/** From a checked tree to functions: expressions compiled once, parameters read once. */
import type { CelCompiler, CelExpression } from '../../expressions/index.js';
import { impossible } from '../../kernel/index.js';
import { CANDIDATE_SCHEMA, ROUTABLE_SCHEMA, type ParamsOf, type StrategyNode } from '../../pools/index.js';
import { chain, excludePrevious, prefer, restrict, slowStart, tie, weightedSum } from './combinators.js';
import { consistentHash } from './consistent-hash.js';
import { custom } from './custom.js';
import { escalateOnRetry } from './escalate-on-retry.js';
import { fairShare } from './fair-share.js';
import { latencyEwma } from './latency-ewma.js';
import { leastLoaded } from './least-loaded.js';
import { leastRecentlyAssigned } from './least-recently-assigned.js';
import { leastRequest } from './least-request.js';
import { lowestCost } from './lowest-cost.js';
import { powerOfTwoChoices } from './power-of-two-choices.js';
import { priority } from './priority.js';
import { random } from './random.js';
import { roundRobin } from './round-robin.js';
import { score } from './score.js';
import { seatAffinity } from './seat-affinity.js';
import type { AffinityKey } from './seat-key.js';
import { skillsMatch } from './skills-match.js';
import { slaDeadline } from './sla-deadline.js';
import { smoothWeightedRoundRobin } from './smooth-weighted-round-robin.js';
import { split } from './split.js';
import { sticky } from './sticky.js';
import type { Strategy } from './strategy.js';
import { successRateThompson } from './success-rate-thompson.js';
import { successRateUcb1 } from './success-rate-ucb1.js';
import { topK } from './top-k.js';
import { waterfall } from './waterfall.js';
import { weightedRandom } from './weighted-random.js';
import { weightedRoundRobin } from './weighted-round-robin.js';

/** A strategy with every expression it evaluates. */
export interface CompiledStrategy {
  readonly strategy: Strategy;
  readonly expressions: readonly CelExpression[];
  /** Strategies in apps' code that have to be asked before the choice. */
  readonly customs: readonly ParamsOf<'custom'>[];
  /** Keys of its sticky strategies, and of those with seats: their bindings are looked up before the choice. */
  readonly affinityKeys: readonly AffinityKey[];
  /** How seats come back after a rate limit; undefined: no strategy of the tree has seats. */
  readonly seats: ParamsOf<'seat_affinity'> | undefined;
  /** Whether outcomes are counted for it. */
  readonly countsOutcomes: boolean;
}

/** Compiles expressions and remembers them. */
interface Compiling {
  readonly expressions: CelExpression[];
  readonly customs: ParamsOf<'custom'>[];
  readonly affinityKeys: AffinityKey[];
  seats: ParamsOf<'seat_affinity'> | undefined;
  countsOutcomes: boolean;
  key(text: string): CelExpression;
  /** A number that the work alone says. */
  ofWork(text: string): CelExpression;
  condition(text: string): CelExpression;
  number(text: string): CelExpression;
}

/** Versions of the algorithms: a change that alters old results raises the number, and old ones stay loadable. */
export const STRATEGY_IMPLEMENTATION = 1;

function compiling(compiler: CelCompiler): Compiling {
  const expressions: CelExpression[] = [];
  const keep = (expression: CelExpression): CelExpression => {
    expressions.push(expression);
    return expression;
  };
  return {
    expressions,
    customs: [],
    affinityKeys: [],
    seats: undefined,
    countsOutcomes: false,
    key: (text) => keep(compiler.compile(text, ROUTABLE_SCHEMA, 'string')),
    ofWork: (text) => keep(compiler.compile(text, ROUTABLE_SCHEMA, 'double')),
    condition: (text) => keep(compiler.compile(text, CANDIDATE_SCHEMA, 'bool')),
    number: (text) => keep(compiler.compile(text, CANDIDATE_SCHEMA, 'double')),
  };
}

/** A strategy that chooses by itself; undefined for a combinator. */
function leafOf(node: StrategyNode, cel: Compiling): Strategy | undefined {
  switch (node.strategy) {
    case 'round_robin':
      return roundRobin;
    case 'weighted_round_robin':
      return weightedRoundRobin(node.params);
    case 'smooth_weighted_round_robin':
      return smoothWeightedRoundRobin;
    case 'random':
      return random;
    case 'weighted_random':
      return weightedRandom;
    case 'least_loaded':
      return leastLoaded(node.params);
    case 'least_request':
      return leastRequest(node.params);
    case 'least_recently_assigned':
      return leastRecentlyAssigned(node.params);
    case 'power_of_two_choices':
      return powerOfTwoChoices(node.params);
    case 'waterfall':
      return waterfall(node.params);
    case 'consistent_hash':
      return consistentHash(node.params, cel.key(node.params.hash_key));
    case 'score':
      return score(node.params, cel.number(node.params.expr));
    default:
      return learningLeafOf(node);
  }
}

/** The other half of leafOf: strategies with costs, skills, shares, deadlines and outcomes. */
function learningLeafOf(node: StrategyNode): Strategy | undefined {
  switch (node.strategy) {
    case 'skills_match':
      return skillsMatch(node.params);
    case 'lowest_cost':
      return lowestCost(node.params);
    case 'latency_ewma':
      return latencyEwma(node.params);
    case 'success_rate_thompson':
      return successRateThompson(node.params);
    case 'success_rate_ucb1':
      return successRateUcb1(node.params);
    case 'fair_share':
      return fairShare(node.params);
    case 'sla_deadline':
      return slaDeadline(node.params);
    default:
      return undefined;
  }
}

function affinityKey(text: string, cel: Compiling): CelExpression {
  const expression = cel.key(text);
  cel.affinityKeys.push({ kind: '', expression });
  return expression;
}

/** The key of an owner; undefined: the pool has none. */
function ownerKey(text: string | undefined, kind: AffinityKey['kind'], cel: Compiling): CelExpression | undefined {
  const expression = text === undefined ? undefined : cel.key(text);
  cel.affinityKeys.push({ kind, expression });
  return expression;
}

function seated(params: ParamsOf<'seat_affinity'>, inner: Strategy, cel: Compiling): Strategy {
  cel.seats ??= params;
  return seatAffinity(params, ownerKey(params.key, 'seat/', cel), inner);
}

function escalated(params: ParamsOf<'escalate_on_retry'>, inner: Strategy, cel: Compiling): Strategy {
  cel.countsOutcomes = true;
  const key = ownerKey(params.key, 'tier/', cel);
  return escalateOnRetry(params, { key, attempt: cel.ofWork(params.attempt) }, inner);
}

/** A strategy that chooses by others. */
function combinatorOf(node: StrategyNode, of: readonly Strategy[], cel: Compiling): Strategy {
  const [first, second] = of;
  if (first === undefined) return impossible('strategy-children', `${node.strategy} has nothing to choose by`);
  switch (node.strategy) {
    case 'custom':
      cel.customs.push(node.params);
      return custom(node.params, first, node.of[0]?.strategy ?? '');
    case 'priority':
      return priority(node.params, first);
    case 'sticky':
      return sticky(node.params, affinityKey(node.params.key, cel), first);
    case 'top_k':
      return topK(node.params, first);
    case 'split':
      return split(node.params, node.params.key === undefined ? undefined : cel.key(node.params.key), of);
    case 'chain':
      return chain(of);
    case 'tie':
      return tie(first, second ?? first);
    case 'prefer':
      return prefer(cel.condition(node.params.when), first);
    case 'restrict':
      return restrict(cel.condition(node.params.when), first);
    case 'weighted_sum':
      return weightedSum(node.params, of);
    case 'exclude_previous':
      return excludePrevious(node.params, first);
    case 'seat_affinity':
      return seated(node.params, first, cel);
    case 'escalate_on_retry':
      return escalated(node.params, first, cel);
    case 'slow_start':
      return slowStart(node.params, first);
    case 'shark_tank':
      // Ranks to whom the work is offered first; that they have to claim it is the pool's affair.
      return first;
    default:
      return impossible('strategy-name', `${node.strategy} is not compiled`);
  }
}

function compileNode(node: StrategyNode, cel: Compiling): Strategy {
  const leaf = leafOf(node, cel);
  if (leaf !== undefined) return leaf;
  const of = node.of.map((each) => compileNode(each, cel));
  return combinatorOf(node, of, cel);
}

/** Compiles a checked tree. Its expressions compile, since they were checked when it was written. */
export function compileStrategy(node: StrategyNode, compiler: CelCompiler): CompiledStrategy {
  const cel = compiling(compiler);
  const strategy = compileNode(node, cel);
  const { expressions, customs, affinityKeys, seats, countsOutcomes } = cel;
  return { strategy, expressions, customs, affinityKeys, seats, countsOutcomes };
}
