import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../kernel/index.js';
import { fieldChanges } from './field-changes.js';

describe('fieldChanges', () => {
  it('names the fields that differ, lists as a whole', () => {
    const before = { a: 1, list: [1, 2], deep: { same: true, gone: { x: 1 } } };
    const after = { a: 1, list: [2, 1], deep: { same: true, made: { y: 2 } }, none: {} };
    expect(fieldChanges(before, after)).toEqual([
      { path: 'deep.gone.x', before: 1, after: undefined },
      { path: 'deep.made.y', before: undefined, after: 2 },
      { path: 'list', before: [1, 2], after: [2, 1] },
      { path: 'none', before: undefined, after: {} },
    ]);
  });

  it('finds nothing exactly when both are the same JSON (1,000 pairs)', () => {
    const objects = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        expect(fieldChanges(before, after).length === 0).toBe(canonicalJson(before) === canonicalJson(after));
        expect(fieldChanges(before, structuredClone(before))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
