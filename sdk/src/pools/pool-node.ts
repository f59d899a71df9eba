/** What a PoolManager chooses from: pools of account seats and of models, and how they say whom to take. */
import { FieldChecks, kindOf } from '../connection/field-checks.js';

/** An account on whose behalf calls are made: one key, one login, one seat of a licence. */
export interface AccountSeatASTNode {
  /** Unique in its pool. */
  readonly id: string;
  /** How much it takes compared with its peers: 0 to 1,000; 0: nothing. Default: 1. */
  readonly weight?: number;
}

/** A model that a step may call. */
export interface ModelASTNode {
  readonly modelId: string;
  /** Another name of it, when a pool holds one model more than once. Unique in its pool. */
  readonly alias?: string;
  /** How much it takes compared with its peers: 0 to 1,000; 0: nothing. Default: 1. */
  readonly weight?: number;
}

/** What a pool holds. */
export type PoolItem = AccountSeatASTNode | ModelASTNode;

/** What a strategy in code is told besides its candidates. */
export interface PoolChoice {
  readonly poolId: string;
  readonly runId: string;
  /** 0 for the first attempt. */
  readonly retryAttempt: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * A strategy in code: returns one of its candidates, of which there is at least one. They stand in the order of the
 * pool's items, without those that are cooling down or weigh nothing.
 */
export type PoolStrategy<T extends PoolItem> = (candidates: readonly T[], choice: PoolChoice) => T;

/**
 * Strategies that are there already.
 * - `round-robin`: each in turn, in the order of the items.
 * - `smooth-weighted-round-robin`: in turn by weight, without bursts.
 * - `least-recently-selected`: the one that was chosen longest ago.
 * - `priority`: the first in the order of the items.
 * - `escalate-on-retry`: items are tiers, the first the lowest; an attempt begins that many tiers higher, and passes
 *   tiers that succeed too seldom. Of models only.
 */
export type PoolStrategyName =
  'round-robin' | 'smooth-weighted-round-robin' | 'least-recently-selected' | 'priority' | 'escalate-on-retry';

/** A pool of account seats or models. */
export interface PoolNode<T extends PoolItem> {
  readonly poolId: string;
  /** Default: round-robin. */
  readonly strategy?: PoolStrategyName | PoolStrategy<T>;
  readonly items: readonly T[];
  /** Taken while every item is cooling down; nothing is ever bound to it. */
  readonly fallbackItem?: T;
  /** `escalate-on-retry`: a tier whose share of successes is lower is passed, 0 to 1. Default: none is passed. */
  readonly minSuccessRate?: number;
  /** How many outcomes it takes to judge a tier by. Default: 5. */
  readonly minSamples?: number;
}

const STRATEGIES: Readonly<Record<PoolStrategyName, true>> = {
  'round-robin': true,
  'smooth-weighted-round-robin': true,
  'least-recently-selected': true,
  priority: true,
  'escalate-on-retry': true,
};
const MAX_WEIGHT = 1000;

/** The names under which something may have been recorded of an item; the first one is its own in its pool. */
export function itemNames(item: PoolItem): readonly [string, ...string[]] {
  if (!('modelId' in item)) return [item.id];
  return item.alias === undefined || item.alias === item.modelId ? [item.modelId] : [item.alias, item.modelId];
}

function checkItem(checks: FieldChecks, path: string, item: unknown, kind: 'seats' | 'models'): string | undefined {
  const field = kind === 'seats' ? 'id' : 'modelId';
  if (typeof item !== 'object' || item === null) {
    checks.note(path, item, `is ${kindOf(item)}`, `give an object with ${field}`);
    return undefined;
  }
  const { [field]: name, alias, weight } = item as Readonly<Record<string, unknown>>;
  if (!checks.name(`${path}.${field}`, name)) return undefined;
  const isWeight = typeof weight === 'number' && weight >= 0 && weight <= MAX_WEIGHT;
  if (weight !== undefined && !isWeight) {
    checks.note(`${path}.weight`, weight, 'is no weight', `give a number from 0 to ${MAX_WEIGHT}`);
  }
  if (kind === 'seats' || alias === undefined) return name;
  return checks.name(`${path}.alias`, alias, 'give a text, or leave it out') ? alias : name;
}

function checkItems<T extends PoolItem>(checks: FieldChecks, pool: PoolNode<T>, kind: 'seats' | 'models'): void {
  const { items, fallbackItem } = pool;
  if (fallbackItem !== undefined) checkItem(checks, 'fallbackItem', fallbackItem, kind);
  if (!Array.isArray(items)) {
    checks.note('items', items, `is ${kindOf(items)}`, `give a list of ${kind}`);
    return;
  }
  if (items.length === 0 && fallbackItem === undefined) {
    checks.note('items', '[]', 'is empty, and there is no fallbackItem', 'give at least one of them');
  }
  const seen = new Set<string>();
  for (const [at, item] of items.entries()) {
    const id = checkItem(checks, `items[${at}]`, item, kind);
    if (id === undefined) continue;
    if (seen.has(id)) checks.note(`items[${at}]`, id, 'stands in the pool twice', 'give each item a name of its own');
    seen.add(id);
  }
}

function checkStrategy(checks: FieldChecks, strategy: unknown, kind: 'seats' | 'models'): void {
  if (strategy === undefined || typeof strategy === 'function') return;
  const known = Object.keys(STRATEGIES).filter((name) => kind === 'models' || name !== 'escalate-on-retry');
  if (typeof strategy !== 'string' || !known.includes(strategy)) {
    checks.note('strategy', strategy, `is no strategy for ${kind}`, `use a function, or one of ${known.join(', ')}`);
  }
}

/**
 * Checks a pool before anything is chosen from it.
 *
 * @throws DuctorError invalid_argument, naming each field that is wrong
 */
export function checkPool<T extends PoolItem>(pool: PoolNode<T>, kind: 'seats' | 'models'): void {
  const checks = new FieldChecks(`pool of ${kind}`);
  const { poolId, minSuccessRate, minSamples } = pool;
  checks.name('poolId', poolId);
  checkItems(checks, pool, kind);
  checkStrategy(checks, pool.strategy, kind);
  if (minSuccessRate !== undefined && !(minSuccessRate >= 0 && minSuccessRate <= 1)) {
    checks.note('minSuccessRate', minSuccessRate, 'is no share', 'give a number from 0 to 1');
  }
  if (minSamples !== undefined && !(Number.isSafeInteger(minSamples) && minSamples >= 1)) {
    checks.note('minSamples', minSamples, 'is no count', 'give a whole number from 1 on');
  }
  checks.done();
}
