import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDigest, canonicalJson } from './canonical-json.js';

/** The same JSON with the keys of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, field]) => [key, reversed(field)]),
  );
}

describe('canonicalJson', () => {
  it('writes the example of RFC 8785', () => {
    const example = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '€$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(example)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('orders keys by UTF-16 units, not by code points', () => {
    expect(canonicalJson({ '\ufb33': 1, '\u{1f600}': 2, a: 3 })).toBe('{"a":3,"\u{1f600}":2,"\ufb33":1}');
  });

  it('does not depend on the order of keys and reads back as the same JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(reversed(value))).toBe(text);
        // -0 has no text of its own.
        expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(canonicalJson(JSON.parse(text)))));
        expect(canonicalJson(JSON.parse(JSON.stringify(value)))).toBe(text);
      }),
    );
  });

  it('keeps a key named __proto__ and leaves undefined fields out', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });
});

describe('canonicalDigest', () => {
  it('is SHA-256 of the text', () => {
    // printf '{"a":[],"b":1}' | sha256sum
    expect(Buffer.from(canonicalDigest({ b: 1, a: [] })).toString('hex')).toBe(
      '1c8f8816506a8ccbc55140d8a7bb70214a8942c7030fc0fc2914cec675cd1c15',
    );
  });
});
