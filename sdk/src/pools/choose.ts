/**
 * How a pool chooses among items that are not cooling down. Pure but for the rotation, which it is given and changes.
 *
 * Sources: smooth weighted round robin, nginx 2012.
 */
import { DuctorError } from '../errors.js';
import { itemNames, type PoolChoice, type PoolItem, type PoolStrategy, type PoolStrategyName } from './pool-node.js';

/** Where a pool stands in its turns; kept from one choice to the next. Names are those of items. */
export interface Rotation {
  /** The last one chosen. */
  last: string | undefined;
  /** Numbers of the choices at which each was chosen last; the newest is `count`. */
  readonly chosenAt: Map<string, number>;
  count: number;
  /** Current weights of smooth weighted round robin. */
  readonly current: Map<string, number>;
}

/** A pool that has not chosen yet. */
export function newRotation(): Rotation {
  return { last: undefined, chosenAt: new Map(), count: 0, current: new Map() };
}

/** What an item weighs. */
export function weightOf({ weight = 1 }: PoolItem): number {
  return weight;
}

const nameOf = (item: PoolItem): string => itemNames(item)[0];

/** The first candidate behind the last one chosen, in the order of all items. */
function roundRobin<T extends PoolItem>(
  candidates: readonly T[],
  items: readonly T[],
  { last }: Rotation,
): T | undefined {
  const at = items.findIndex((item) => nameOf(item) === last);
  const behind = items.slice(at + 1).find((item) => candidates.includes(item));
  return behind ?? candidates[0];
}

/** The one with the greatest current weight; of equal ones the first. */
function smoothWeighted<T extends PoolItem>(candidates: readonly T[], { current }: Rotation): T | undefined {
  let best: T | undefined;
  let total = 0;
  let bestWeight = -Infinity;
  for (const item of candidates) {
    const weight = (current.get(nameOf(item)) ?? 0) + weightOf(item);
    current.set(nameOf(item), weight);
    total += weightOf(item);
    if (weight > bestWeight) [best, bestWeight] = [item, weight];
  }
  if (best !== undefined) current.set(nameOf(best), bestWeight - total);
  return best;
}

/** The one chosen longest ago; of those never chosen the first. */
function leastRecent<T extends PoolItem>(candidates: readonly T[], { chosenAt }: Rotation): T | undefined {
  let best: T | undefined;
  let oldest = Infinity;
  for (const item of candidates) {
    const at = chosenAt.get(nameOf(item)) ?? 0;
    if (at < oldest) [best, oldest] = [item, at];
  }
  return best;
}

function byName<T extends PoolItem>(
  name: Exclude<PoolStrategyName, 'escalate-on-retry'>,
  candidates: readonly T[],
  items: readonly T[],
  rotation: Rotation,
): T | undefined {
  if (name === 'round-robin') return roundRobin(candidates, items, rotation);
  if (name === 'smooth-weighted-round-robin') return smoothWeighted(candidates, rotation);
  return name === 'least-recently-selected' ? leastRecent(candidates, rotation) : candidates[0];
}

/** Asks a strategy in code, and takes nothing from it that it was not given. */
function byCode<T extends PoolItem>(strategy: PoolStrategy<T>, candidates: readonly T[], choice: PoolChoice): T {
  const chosen = strategy(candidates, choice);
  if (candidates.includes(chosen)) return chosen;
  throw new DuctorError('invalid_argument', `strategy of pool ${choice.poolId} chose what is none of its candidates`, {
    remedy: 'Return one of the candidates that the strategy is called with.',
  });
}

/** Every way of choosing but that by tiers. */
export type TurnStrategy<T extends PoolItem> = Exclude<PoolStrategyName, 'escalate-on-retry'> | PoolStrategy<T>;

/**
 * Chooses one of some items of a pool, and notes it in the rotation. Undefined when there are none.
 *
 * @param items all of the pool, in its order
 * @param candidates those of them that may be chosen, in the same order
 * @throws DuctorError invalid_argument when a strategy in code chose something else
 */
export function choose<T extends PoolItem>(
  strategy: TurnStrategy<T>,
  items: readonly T[],
  candidates: readonly T[],
  rotation: Rotation,
  choice: PoolChoice,
): T | undefined {
  if (candidates.length === 0) return undefined;
  const isNamed = typeof strategy === 'string';
  const chosen = isNamed ? byName(strategy, candidates, items, rotation) : byCode(strategy, candidates, choice);
  if (chosen === undefined) return undefined;
  rotation.count += 1;
  rotation.last = nameOf(chosen);
  rotation.chosenAt.set(nameOf(chosen), rotation.count);
  return chosen;
}
