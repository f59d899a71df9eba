import { expect, it } from 'vitest';
import type { StrategyName } from '../../pools/index.js';
import { candidatesOf, contextOf, strategyNamed } from '../testing/strategy-kit.js';
import { select } from './select.js';

/** The highest load after as many choices as there are recipients, each of which stays. */
function highestLoad(name: StrategyName, dice: number): number {
  const strategy = strategyNamed(name);
  let candidates = candidatesOf(200);
  for (let time = 0; time < 200; time += 1) {
    const [winner] = select(strategy, candidates, contextOf(candidates, { dice: dice + time })).slate;
    candidates = candidates.map((each) => (each.id === winner?.id ? { ...each, load: each.load + 1 } : each));
  }
  return Math.max(...candidates.map(({ load }) => load));
}

it('keeps the highest load at 3 where random lets it grow', () => {
  expect(highestLoad('power_of_two_choices', 5)).toBeLessThanOrEqual(3);
  expect(highestLoad('random', 5)).toBeGreaterThan(3);
});
