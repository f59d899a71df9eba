/** Trees of strategies: nodes with parameters, and the nodes they choose by. */
import type { z } from 'zod';
import { nearestName, type CelCompiler } from '../../expressions/index.js';
import { refuse } from '../fields/primitives.js';
import { COMBINATORS, STRATEGY_NAMES, type StrategyName } from './names.js';
import { paramSchemas, type ParamSchemas, type ParamsOf } from './params.js';

/** A checked node: `strategy` says which parameters it has. */
export type StrategyNode = {
  readonly [Name in keyof ParamSchemas]: {
    readonly strategy: Name;
    readonly params: ParamsOf<Name>;
    /** Empty for strategies that choose by themselves. */
    readonly of: readonly StrategyNode[];
  };
}[keyof ParamSchemas];

/** Deepest nesting of a tree, and most nodes of one. */
const TREE_LIMITS = { depth: 6, nodes: 32 } as const;

/** How many nodes each combinator chooses by. */
const CHILDREN: Partial<Record<StrategyName, readonly [min: number, max: number]>> = {
  priority: [1, 1],
  sticky: [1, 1],
  top_k: [1, 1],
  split: [2, 8],
  chain: [1, 8],
  tie: [2, 2],
  prefer: [1, 1],
  restrict: [1, 1],
  weighted_sum: [1, 8],
  exclude_previous: [1, 1],
  slow_start: [1, 1],
  custom: [0, 1],
  seat_affinity: [0, 1],
  escalate_on_retry: [0, 1],
  shark_tank: [0, 1],
};

/** What a combinator chooses by when it stands alone in `strategy`, or may do without `of`. */
const DEFAULT_CHILD: Partial<Record<StrategyName, StrategyName>> = {
  priority: 'round_robin',
  sticky: 'least_loaded',
  top_k: 'round_robin',
  exclude_previous: 'round_robin',
  slow_start: 'smooth_weighted_round_robin',
  prefer: 'round_robin',
  restrict: 'round_robin',
  custom: 'round_robin',
  seat_affinity: 'smooth_weighted_round_robin',
  escalate_on_retry: 'latency_ewma',
  shark_tank: 'round_robin',
};

/** Collects a tree while it is read. */
interface Reading {
  readonly schemas: ParamSchemas;
  readonly context: z.core.$RefinementCtx;
  nodes: number;
}

type Path = readonly PropertyKey[];

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStrategyName(value: unknown): value is StrategyName {
  return typeof value === 'string' && STRATEGY_NAMES.some((name) => name === value);
}

function isCombinator(name: StrategyName): boolean {
  return COMBINATORS.some((each) => each === name);
}

/** The parameters as checked; problems stand at their own paths. */
function readParams(reading: Reading, name: StrategyName, params: unknown, path: Path): unknown {
  const result = reading.schemas[name].safeParse(params ?? {});
  if (result.success) return result.data;
  for (const issue of result.error.issues) reading.context.addIssue({ ...issue, path: [...path, ...issue.path] });
  return undefined;
}

/** One list of a parameter must be as long as `of`. */
function checkLengths(reading: Reading, node: StrategyNode, path: Path): void {
  const lists = node.strategy === 'split' ? node.params.bps : undefined;
  const weights = node.strategy === 'weighted_sum' ? node.params.weights_bps : lists;
  if (weights === undefined || weights.length === node.of.length) return;
  refuse(reading.context, `has ${weights.length} shares for ${node.of.length} strategies`, 'Give one share to each.', [
    ...path,
    'params',
  ]);
}

function readChildren(reading: Reading, name: StrategyName, value: unknown, path: Path, depth: number): StrategyNode[] {
  const [min, max] = CHILDREN[name] ?? [0, 0];
  const byDefault = value === undefined && min === 0 ? DEFAULT_CHILD[name] : undefined;
  if (byDefault !== undefined) return [nodeOf(byDefault, readParams(reading, byDefault, {}, path), [])];
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  if (list.length < min || list.length > max || (value !== undefined && !Array.isArray(value))) {
    const wanted = max === 0 ? 'no strategies' : `a list of ${min === max ? min : `${min} to ${max}`} strategies`;
    refuse(reading.context, `${name} chooses by ${wanted}`, `Give "of" ${wanted}.`, [...path, 'of']);
    return [];
  }
  return list.flatMap((each, index) => readNode(reading, each, [...path, 'of', index], depth + 1) ?? []);
}

/** Narrowing a name together with what its own schema answered is beyond the checker: one cast holds both. */
function nodeOf(strategy: StrategyName, params: unknown, of: readonly StrategyNode[]): StrategyNode {
  return { strategy, params, of } as StrategyNode;
}

function readNode(reading: Reading, value: unknown, path: Path, depth: number): StrategyNode | undefined {
  const { context } = reading;
  reading.nodes += 1;
  if (reading.nodes === TREE_LIMITS.nodes + 1 || depth > TREE_LIMITS.depth) {
    const limit = `${TREE_LIMITS.depth} levels and ${TREE_LIMITS.nodes} strategies`;
    refuse(context, `is larger than ${limit}`, 'Nest less, or leave some out.', path);
  }
  if (reading.nodes > TREE_LIMITS.nodes || depth > TREE_LIMITS.depth) return undefined;
  const node = typeof value === 'string' ? { strategy: value } : value;
  if (!isObject(node)) {
    refuse(context, 'is no strategy', 'Write {"strategy": "round_robin", "params": {}}, or the name alone.', path);
    return undefined;
  }
  for (const key of Object.keys(node)) {
    if (!['strategy', 'params', 'of'].includes(key)) refuse(context, 'is not a field', 'Remove it.', [...path, key]);
  }
  const name = node['strategy'];
  if (!isStrategyName(name)) {
    const near = typeof name === 'string' ? nearestName(name, STRATEGY_NAMES) : undefined;
    const hint = near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
    refuse(context, 'is no strategy', `Use one of ${STRATEGY_NAMES.join(', ')}.${hint}`, [...path, 'strategy']);
    return undefined;
  }
  if (name === 'shark_tank' && depth > 1) {
    refuse(context, 'decides how the whole pool works', 'Let it stand at the root, and choose below it.', path);
  }
  const params = readParams(reading, name, node['params'], [...path, 'params']);
  const of = readChildren(reading, name, node['of'], path, depth);
  if (params === undefined) return undefined;
  const read = nodeOf(name, params, of);
  checkLengths(reading, read, path);
  return read;
}

/**
 * Reads a tree as users write it: `{"strategy": "tie", "of": ["least_loaded", {"strategy": "score", "params": {…}}]}`.
 * What is wrong becomes issues of the context, at their paths.
 */
export function readTree(
  compiler: CelCompiler,
  value: unknown,
  context: z.core.$RefinementCtx,
): StrategyNode | undefined {
  return readNode({ schemas: paramSchemas(compiler), context, nodes: 0 }, value, [], 1);
}

/** Reads a name and its parameters, as they stand in a pool's `strategy` and `config.strategy_params`. */
export function readShorthand(
  compiler: CelCompiler,
  name: StrategyName,
  params: unknown,
  context: z.core.$RefinementCtx,
  path: Path,
): StrategyNode | undefined {
  const reading: Reading = { schemas: paramSchemas(compiler), context, nodes: 0 };
  const child = DEFAULT_CHILD[name];
  if (isCombinator(name) && child === undefined) {
    refuse(context, `${name} needs strategies to choose by`, 'Write it as config.strategy_tree, with "of".', [
      'strategy',
    ]);
    return undefined;
  }
  const checked = readParams(reading, name, params, path);
  if (checked === undefined) return undefined;
  return nodeOf(name, checked, child === undefined ? [] : [nodeOf(child, readParams(reading, child, {}, path), [])]);
}
