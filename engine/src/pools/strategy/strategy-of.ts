/** The tree a checked pool chooses by. */
import { z } from 'zod';
import type { CelCompiler } from '../../expressions/index.js';
import { impossible } from '../../kernel/index.js';
import { STRATEGY_NAMES, type StrategyName } from './names.js';
import { recipeField, treeOfRecipe } from './recipes.js';
import { readShorthand, readTree, type StrategyNode } from './tree.js';

/** What a pool, a shadow or a tie break says about choosing; all of it was checked when it was written. */
export interface StrategyChoice {
  readonly strategy?: string | undefined;
  readonly strategy_params?: unknown;
  readonly recipe?: unknown;
  readonly strategy_tree?: unknown;
}

function isStrategyName(text: string): text is StrategyName {
  return STRATEGY_NAMES.some((name) => name === text);
}

/** Runs a reader that reports to a context, and insists that it finds nothing wrong. */
function readChecked(read: (context: z.core.$RefinementCtx) => StrategyNode | undefined): StrategyNode {
  const schema = z.unknown().transform((_, context) => read(context) ?? z.NEVER);
  const result = schema.safeParse(undefined);
  if (result.success) return result.data;
  return impossible('pool-strategy', 'a stored strategy does not pass its check');
}

/** The tree; `round_robin` when nothing is said. */
export function strategyOf(compiler: CelCompiler, choice: StrategyChoice): StrategyNode {
  const { strategy = '', recipe, strategy_tree } = choice;
  if (strategy_tree !== undefined) return readChecked((context) => readTree(compiler, strategy_tree, context));
  if (recipe !== undefined) {
    return readChecked((context) => readTree(compiler, treeOfRecipe(recipeField.parse(recipe)), context));
  }
  const name = isStrategyName(strategy) ? strategy : 'round_robin';
  return readChecked((context) => readShorthand(compiler, name, choice.strategy_params, context, []));
}

/** Name of the strategy at the root. */
export function rootOf({ strategy = '', recipe, strategy_tree: tree }: StrategyChoice): string {
  const root: unknown = recipe === undefined ? tree : treeOfRecipe(recipeField.parse(recipe));
  if (typeof root === 'string') return root;
  const name: unknown = typeof root === 'object' && root !== null ? Reflect.get(root, 'strategy') : strategy;
  return typeof name === 'string' ? name : '';
}
