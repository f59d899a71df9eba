/** A shadow of a pool: another strategy that is asked afterwards whom it would have chosen, and never decides. */
import type { CelCompiler } from '../../expressions/index.js';
import { canonicalJson, parseTimestampUs } from '../../kernel/index.js';
import {
  STATEFUL_STRATEGIES,
  strategyOf,
  type PoolConfig,
  type StrategyName,
  type StrategyNode,
} from '../../pools/index.js';
import { hash64 } from '../core/hash.js';
import { digestText } from '../pipeline/digest-text.js';
import { compileStrategy, type CompiledStrategy } from '../strategies/compile-strategy.js';

/** A shadow made ready. */
export interface Shadow {
  /** Digest of what it chooses by: the same for the same strategy, whenever it is configured. */
  readonly id: string;
  /** What it chooses by, in a word. */
  readonly strategy: string;
  readonly node: StrategyNode;
  readonly compiled: CompiledStrategy;
  readonly isStateful: boolean;
  /** Share of the decisions that it is compared with. */
  readonly sampleBps: number;
  /** From then on it is not compared any more; undefined: without an end. */
  readonly untilUs: number | undefined;
}

/** All nodes of a tree. */
export function nodesOf(node: StrategyNode): readonly StrategyNode[] {
  return [node, ...node.of.flatMap(nodesOf)];
}

/** Strategies whose only state is whom keys are bound to. */
const BINDING: readonly StrategyName[] = ['sticky', 'seat_affinity'];

/** Whether what the tree chooses depends on what it chose before. Bindings do not count: they are kept apart. */
export function isStateful(node: StrategyNode): boolean {
  return nodesOf(node).some(({ strategy }) => !BINDING.includes(strategy) && STATEFUL_STRATEGIES.includes(strategy));
}

/** The shadows of a checked configuration. */
export function shadowsOf({ shadow }: PoolConfig, compiler: CelCompiler): readonly Shadow[] {
  if (shadow === undefined) return [];
  const list = Array.isArray(shadow) ? shadow : [shadow];
  return list.map(({ sample_bps: sampleBps = 10_000, until, ...choice }) => {
    const node = strategyOf(compiler, choice);
    return {
      ...{ node, sampleBps, compiled: compileStrategy(node, compiler), isStateful: isStateful(node) },
      id: digestText(canonicalJson(choice)),
      strategy: choice.recipe === undefined ? node.strategy : `recipe ${choice.recipe.name}`,
      untilUs: parseTimestampUs(until ?? ''),
    };
  });
}

/** Whether a decision is one that the shadow is compared with: the same answer on every node, at any time. */
export function isSampled({ id, sampleBps, untilUs }: Shadow, decisionId: string, decidedAtUs: number): boolean {
  if (untilUs !== undefined && decidedAtUs >= untilUs) return false;
  return sampleBps >= 10_000 || Number(hash64('shadow', id, decisionId) % 10_000n) < sampleBps;
}
