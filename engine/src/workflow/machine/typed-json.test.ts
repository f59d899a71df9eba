/** Values that are put together and taken apart again are what they were. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CASES } from '../testing/random-plan.js';
import { itemsOfTyped, listOfValues, TYPED_ENCODING } from './typed-json.js';
import { jsonValue, type Value } from './value.js';

const plain = fc.jsonValue({ noUnicodeString: true }).map((json) => jsonValue(JSON.parse(JSON.stringify(json))));
const typed = fc.constantFrom('bigint', 'Date', 'Map', 'encoded').map((type): Value => {
  const json = { of: { data: '', encoding: '' } };
  return { data: Buffer.from(JSON.stringify({ json, types: [[['of'], type]] })), encoding: TYPED_ENCODING };
});
const coded = fc.uint8Array({ maxLength: 20 }).map((data): Value => ({ data, encoding: 'codec/mine' }));

const shown = ({ data, encoding }: Value): readonly string[] => [encoding, Buffer.from(data).toString('latin1')];

describe('a list of values', () => {
  it('has each of them again, in its order', () => {
    const lists = fc.tuple(fc.array(fc.oneof(plain, typed, coded)), fc.oneof(typed, coded));
    fc.assert(
      fc.property(lists, ([some, last]) => {
        const values = [...some, last];
        const list = listOfValues(values);
        expect(list.encoding).toBe(TYPED_ENCODING);
        expect(itemsOfTyped(list)?.map(shown)).toEqual(values.map(shown));
      }),
      CASES,
    );
  });

  it('is plain JSON where all of them are', () => {
    fc.assert(
      fc.property(fc.array(plain), (values) => {
        const list = listOfValues(values);
        const parsed: unknown = JSON.parse(String(list.data));
        expect([list.encoding, parsed]).toEqual(['json', values.map(({ data }): unknown => JSON.parse(String(data)))]);
      }),
      CASES,
    );
  });

  it('has what cannot be read as its bytes', () => {
    const data = Buffer.from('{"json":1');
    const list = listOfValues([jsonValue(1), { data, encoding: TYPED_ENCODING }]);
    const shownAs = { encoding: TYPED_ENCODING, data: data.toString('base64') };
    expect([list.encoding, JSON.parse(String(list.data))]).toEqual(['json', [1, shownAs]]);
  });
});
