import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CASES } from '../testing/random-plan.js';
import { jsonOf } from '../testing/drive.js';
import { countItems, itemAt } from './list.js';
import { jsonValue, type Value } from './value.js';

function text(json: string): Value {
  return { data: Buffer.from(json), encoding: 'json' };
}

describe('items of a list', () => {
  it('are those that a parser finds, however the list is written', () => {
    const lists = fc.tuple(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'));
    const property = fc.property(lists, ([list, space]) => {
      const value = text(JSON.stringify(list, undefined, space));
      const parsed: unknown = JSON.parse(JSON.stringify(list));
      expect(countItems(value, 'it')).toBe(list.length);
      expect(list.map((_, index) => jsonOf(itemAt(value, index) ?? null))).toEqual(parsed);
      expect(itemAt(value, list.length)).toBeUndefined();
    });
    fc.assert(property, CASES);
  });

  it('stay byte for byte what they are', () => {
    const value = text(' [ 1.0e2 , "a\\u0041\\"],[" ,{"k": [ ]} ] ');
    const items = [0, 1, 2].map((index) => Buffer.from(itemAt(value, index)?.data ?? []).toString());
    expect(items).toEqual(['1.0e2', '"a\\u0041\\"],["', '{"k": [ ]}']);
  });

  it('keep the types of a list that has some, and a Set is a list as it is to expressions', () => {
    const typed = (json: string, types: string): Value => {
      return { data: Buffer.from(`{"json":${json},"types":${types}}`), encoding: 'json-typed' };
    };
    const list = typed('["1",{"at":"x"},2]', '[[[],"Set"],[[0],"bigint"],[[1,"at"],"Date"]]');
    expect(countItems(list, 'it')).toBe(3);
    const items = [0, 1, 2, 3].map((index) => itemAt(list, index));
    expect(items.map((item) => item && [item.encoding, String(item.data)])).toEqual([
      ['json-typed', '{"json":"1","types":[[[],"bigint"]]}'],
      ['json-typed', '{"json":{"at":"x"},"types":[[["at"],"Date"]]}'],
      ['json', '2'],
      undefined,
    ]);
    expect(() => countItems(typed('[["a",1]]', '[[[],"Map"]]'), 'a map')).toThrow('a map is no list');
    expect(() => countItems(typed('{}', '[]'), 'an object')).toThrow('an object is no list');
    expect(() => countItems({ data: Buffer.from('{'), encoding: 'json-typed' }, 'it')).toThrow('it is no list');
  });

  it('are refused of what is no list', () => {
    expect(() => countItems(jsonValue({ a: [] }), 'args.items')).toThrow('args.items is no list');
    expect(() => countItems({ data: Buffer.from('[]'), encoding: 'cbor' }, 'it')).toThrow('it is no list');
    expect(itemAt(jsonValue('text'), 0)).toBeUndefined();
  });
});
