import { describe, expect, it } from 'vitest';
import { MAX_VALUE_BYTES } from '../ports.js';
import { outcomeFromWire } from './outcome-from-wire.js';

const taken = (data: Uint8Array, encoding = '') =>
  outcomeFromWire({ path: 'score', outcome: { $case: 'output', value: { data: Buffer.from(data), encoding } } });

describe('outcomeFromWire', () => {
  it('takes an output of the largest size, and fails the attempt for good beyond it, with step and size', () => {
    expect(taken(Buffer.alloc(MAX_VALUE_BYTES, 0x20), 'cbor').outcome.kind).toBe('completed');
    const { outcome, problem } = taken(Buffer.alloc(MAX_VALUE_BYTES + 1, 0x20));
    expect(outcome).toMatchObject({ kind: 'failed', code: 'value_too_large', nonRetryable: true, message: problem });
    expect(problem).toContain(`the output of step score has ${MAX_VALUE_BYTES + 1} bytes, at most ${MAX_VALUE_BYTES}`);
  });

  it('fails the attempt for text that cannot be stored, with step, field and remedy', () => {
    for (const [text, message] of [
      ['{"name":"x\\u0000"}', 'the output of step score holds a NUL character at name; remove it'],
      ['["\\ud83d"]', 'the output of step score holds half of a surrogate pair at [0]; send whole characters'],
    ] as const) {
      const { outcome, problem } = taken(Buffer.from(text));
      expect(outcome).toMatchObject({ kind: 'failed', code: 'invalid_argument', nonRetryable: true, message });
      expect(problem).toBe(message);
    }
    expect(taken(Buffer.from([0x22, 0xff, 0x22])).problem).toContain('is not UTF-8');
    expect(taken(Buffer.from([0x22, 0xff, 0x22]), 'cbor').problem).toBe('');
  });
});
