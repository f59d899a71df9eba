import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCelCompiler } from '../../expressions/index.js';
import { RECIPES } from './names.js';
import { strategyOf } from './strategy-of.js';
import { readTree } from './tree.js';

const compiler = createCelCompiler();

function problems(tree: unknown): readonly string[] {
  const result = z
    .unknown()
    .superRefine((value, context) => void readTree(compiler, value, context))
    .safeParse(tree);
  return result.error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [];
}

function nested(depth: number): unknown {
  return depth <= 1 ? 'random' : { strategy: 'top_k', params: { k: 1 }, of: [nested(depth - 1)] };
}

describe('a tree of strategies', () => {
  it('is read with the defaults of every parameter', () => {
    const tree = { strategy: 'tie', of: ['least_loaded', { strategy: 'score', params: { expr: 'recipient.weight' } }] };
    expect(strategyOf(compiler, { strategy_tree: tree })).toEqual({
      strategy: 'tie',
      params: {},
      of: [
        { strategy: 'least_loaded', params: { mode: 'ratio' }, of: [] },
        { strategy: 'score', params: { expr: 'recipient.weight', direction: 'max', on_error: 'exclude' }, of: [] },
      ],
    });
  });

  it('is round robin when nothing is said, and combinators choose by their defaults', () => {
    expect(strategyOf(compiler, {}).strategy).toBe('round_robin');
    const sticky = strategyOf(compiler, { strategy: 'sticky', strategy_params: { key: 'routable.id' } });
    expect(sticky.of.map(({ strategy }) => strategy)).toEqual(['least_loaded']);
  });

  it.each(RECIPES)('is what the recipe %s stands for', (name) => {
    const { strategy, of } = strategyOf(compiler, { recipe: { name } });
    expect(strategy).not.toBe('');
    expect(of.length).toBeGreaterThan(0);
  });

  it.each<[string, unknown, string]>([
    ['a misspelt name', 'least_loded', 'strategy is no strategy'],
    ['a list', [], ' is no strategy'],
    ['children of a leaf', { strategy: 'random', of: ['random'] }, 'of random chooses by no strategies'],
    ['one child of tie', { strategy: 'tie', of: ['random'] }, 'of tie chooses by a list of 2 strategies'],
    ['an unknown field', { strategy: 'random', with: 1 }, 'with is not a field'],
    [
      'shares that do not sum',
      { strategy: 'split', params: { bps: [1, 2] }, of: ['random', 'random'] },
      'params.bps shares sum to 3',
    ],
    [
      'too few shares',
      { strategy: 'weighted_sum', params: { weights_bps: [5] }, of: ['random', 'random'] },
      'params has 1 shares',
    ],
    ['a condition that is none', { strategy: 'restrict', params: { when: '1' }, of: ['random'] }, 'params.when line 1'],
    ['a child that is wrong', { strategy: 'chain', of: ['random', 'ranom'] }, 'of.1.strategy is no strategy'],
  ])('is refused with %s', (_, tree, problem) => {
    expect(problems(tree)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });

  it('is at most 6 deep and has at most 32 strategies', () => {
    expect(problems(nested(6))).toEqual([]);
    expect(problems(nested(7))).toHaveLength(1);
    const wide = {
      strategy: 'chain',
      of: Array.from({ length: 5 }, () => ({ strategy: 'chain', of: Array.from({ length: 8 }, () => 'random') })),
    };
    expect(problems(wide).length).toBeGreaterThan(0);
  });
});
