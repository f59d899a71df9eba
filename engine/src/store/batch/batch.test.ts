import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepared } from '../connect/index.js';
import { testDatabase } from '../testing/index.js';
import { BatchBlob, booleanArray, integerArray, uuidArray } from './index.js';

const test = testDatabase();

const ECHO = prepared(
  'test_echo_batch',
  `select i, id, flag, substring($1::bytea from o + 1 for l) as bytes
    from unnest($2::int[], $3::int[], $4::bigint[], $5::uuid[], $6::boolean[]) as t (o, l, i, id, flag)`,
);

/** Rows of a batch, any bytes, empty ones too. */
const rows = fc.array(
  fc.record({
    bytes: fc.uint8Array({ maxLength: 300 }),
    i: fc.option(fc.maxSafeInteger()),
    id: fc.option(fc.uuid()),
    flag: fc.boolean(),
  }),
  { maxLength: 20 },
);

describe('a batch', () => {
  it('arrives as it was sent', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (batch) => {
        const blob = new BatchBlob();
        const slices = batch.map(({ bytes }) => blob.append(bytes));
        const result = await test.db.query<{ bytes: Buffer }>(ECHO, [
          blob.toBuffer(),
          integerArray(slices.map(({ offset }) => offset)),
          integerArray(slices.map(({ length }) => length)),
          integerArray(batch.map(({ i }) => i)),
          uuidArray(batch.map(({ id }) => id)),
          booleanArray(batch.map(({ flag }) => flag)),
        ]);
        expect(result.rows.map((row) => ({ ...row, bytes: new Uint8Array(row.bytes) }))).toEqual(batch);
      }),
      { numRuns: 50 },
    );
  });
});

describe('array parameters', () => {
  it.each([0.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY])('refuse the number %d', (item) => {
    expect(() => integerArray([1, item])).toThrow('not an integer');
  });

  it.each(['}', 'a,b', '"', 'NULL', "'"])('refuse %j as a UUID', (item) => {
    expect(() => uuidArray([item])).toThrow('is not a UUID');
  });
});
