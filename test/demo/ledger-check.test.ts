import { describe, expect, it } from 'vitest';
import { objections, withDouble, withoutOne, withRepeatedKey } from './ledger-check.js';

const expected = ['lead-1', 'lead-2'].flatMap((lead) => ['enrich', 'notify'].map((effect) => ({ effect, lead })));
const ledger = expected.map((line, index) => ({ ...line, key: `key-${index}` }));

describe('objections', () => {
  it('has none when each effect stands there once', () => {
    expect(objections(ledger, expected)).toEqual([]);
  });

  it('names an effect that is missing', () => {
    expect(objections(withoutOne(ledger), expected)).toEqual(['missing: notify of lead-2']);
  });

  it('names an effect that was had twice under two keys', () => {
    expect(objections(withDouble(ledger), expected)).toEqual(['doubled: notify of lead-2 took effect 2 times']);
  });

  it('names a key that was accepted twice', () => {
    expect(objections(withRepeatedKey(ledger), expected)).toEqual([
      'doubled: notify of lead-2 took effect 2 times',
      'doubled: key key-3 took effect 2 times',
    ]);
  });

  it('names an effect nobody asked for', () => {
    const stranger = { effect: 'refund', lead: 'lead-1', key: 'key-9' };
    expect(objections([...ledger, stranger], expected)).toEqual(['unexpected: refund of lead-1']);
  });

  it('objects to an empty ledger', () => {
    expect(objections([], expected)).toHaveLength(4);
  });
});
