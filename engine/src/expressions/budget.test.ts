import { describe, expect, it } from 'vitest';
import { createCelCompiler } from './index.js';

const expression = createCelCompiler().compile('numbers.all(x, x > 0.0)', {
  id: 'budget',
  variables: { numbers: 'dyn' },
});
const numbers = Array.from({ length: 100 }, (_, index) => index + 1);

describe('a shared budget', () => {
  it('is what evaluations take together, until nothing is left', () => {
    const budget = { left: 1_000_000 };
    expect(expression.evaluate({ numbers }, budget)).toBe(true);
    const cost = 1_000_000 - budget.left;
    expect(cost).toBeGreaterThanOrEqual(numbers.length);
    expression.evaluate({ numbers }, budget);
    expect(budget.left).toBe(1_000_000 - 2 * cost);
    expect(() => expression.evaluate({ numbers }, { left: cost - 1 })).toThrow(
      expect.objectContaining({ code: 'expression_too_costly' }),
    );
    expect(expression.evaluate({ numbers }, { left: cost })).toBe(true);
  });

  it('is taken off by evaluations that fail too', () => {
    const budget = { left: 1_000_000 };
    expect(() => expression.evaluate({ numbers: [...numbers, 'x'] }, budget)).toThrow(
      expect.objectContaining({ code: 'expression_failed' }),
    );
    expect(budget.left).toBeLessThan(1_000_000);
  });
});
