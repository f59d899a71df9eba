import { describe, expect, it } from 'vitest';
import { jsonOf, payloadOf } from './value.js';

const value = (text: string, encoding = 'json'): { data: Buffer; encoding: string } => ({
  data: Buffer.from(text),
  encoding,
});

describe('jsonOf', () => {
  it('shows JSON as it is', () => {
    expect(jsonOf(value('{"a":[1,null]}'))).toEqual({ a: [1, null] });
    expect(jsonOf(value('1', ''))).toBe(1);
  });

  it('shows of typed JSON the JSON', () => {
    expect(jsonOf(value('{"json":{"at":"x"},"types":[[["at"],"Date"]]}', 'json-typed'))).toEqual({ at: 'x' });
    expect(jsonOf(value('1', 'json-typed'))).toEqual({ encoding: 'json-typed', base64: 'MQ==' });
  });

  it('shows everything else whole, and is never a reason to fail', () => {
    expect(jsonOf(value('{"a":'))).toEqual({ encoding: 'json', base64: 'eyJhIjo=' });
    expect(jsonOf(value('x', 'cbor'))).toEqual({ encoding: 'cbor', base64: 'eA==' });
    expect(jsonOf(value(''))).toEqual({ encoding: 'json', base64: '' });
  });
});

describe('payloadOf', () => {
  it('does not copy, and respects where the bytes begin', () => {
    const whole = Buffer.from('abcdef');
    const { data } = payloadOf({ data: new Uint8Array(whole.buffer, whole.byteOffset + 2, 3), encoding: 'json' });
    expect(data.toString()).toBe('cde');
    expect(data.buffer).toBe(whole.buffer);
  });
});
