import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../../store/testing/index.js';
import { textArray } from './text-array.js';

const test = testDatabase();

describe('textArray', () => {
  it('gives the server the same texts', async () => {
    const text = fc.string({ unit: 'grapheme' });
    const hard = fc.constantFrom('', 'NULL', 'null', '{}', '{', '}', ',', '"', '\\', '\\"', ' ', '\n', "'", '%', 'a,b');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(text, hard), { maxLength: 12 }), async (items) => {
        const { rows } = await test.db.query<{ items: string[] }>('select $1::text[] as items', [textArray(items)]);
        expect(rows[0]?.items).toEqual(items);
      }),
      { numRuns: 150 },
    );
  });
});
