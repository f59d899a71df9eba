/** What a PoolManager knows of one pool: bindings, cooldowns, outcomes, turns and tiers. */
import { newRotation, type Rotation } from './choose.js';
import { itemNames, type PoolItem, type PoolNode } from './pool-node.js';

const DEFAULT_MIN_SAMPLES = 5;

/** By what a tier is judged. */
type Quality = Pick<PoolNode<PoolItem>, 'minSuccessRate' | 'minSamples'>;

/** How executions by a model ended. */
interface Outcomes {
  sampleCount: number;
  successCount: number;
}

/** All that is known of one pool. */
export class PoolState {
  /** Seat of each run. */
  readonly bindings = new Map<string, string>();
  /** Until when, milliseconds since 1970, by seat or model. */
  readonly cooldowns = new Map<string, number>();
  readonly outcomes = new Map<string, Outcomes>();
  /** Highest tier of each run. */
  readonly tiers = new Map<string, number>();
  readonly rotation: Rotation = newRotation();

  /** Until when an item cools down. 0: it never did. */
  cooldownOf(item: PoolItem): number {
    return Math.max(...itemNames(item).map((name) => this.cooldowns.get(name) ?? 0));
  }

  /** Whether an item may not be chosen now. */
  isCooling(item: PoolItem, nowMs: number): boolean {
    return this.cooldownOf(item) > nowMs;
  }

  /** Whether an item succeeds too seldom, as far as enough is known of it. */
  isPoor(item: PoolItem, { minSuccessRate = 0, minSamples = DEFAULT_MIN_SAMPLES }: Quality): boolean {
    let samples = 0;
    let successes = 0;
    for (const name of itemNames(item)) {
      const { sampleCount = 0, successCount = 0 } = this.outcomes.get(name) ?? {};
      samples += sampleCount;
      successes += successCount;
    }
    return samples >= minSamples && successes / samples < minSuccessRate;
  }

  /** What is left while everything cools down. */
  lastResort<T extends PoolItem>({ fallbackItem, items }: PoolNode<T>): T | undefined {
    if (fallbackItem !== undefined) return fallbackItem;
    return items.toSorted((a, b) => this.cooldownOf(a) - this.cooldownOf(b))[0];
  }
}
