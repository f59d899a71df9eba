import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newUnpacker, packHints, type Hint } from './payloads.js';

const hint = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', maxLength: 20_000 }));

describe('payloads', () => {
  it('give back what was packed, in pieces a NOTIFY takes', () => {
    fc.assert(
      fc.property(fc.array(hint, { maxLength: 20 }), fc.nat(), fc.nat(), (hints, origin, batch) => {
        const unpacker = newUnpacker();
        const pieces = packHints(origin, batch, hints);
        expect(pieces.every((piece) => Buffer.byteLength(piece) < 8_000)).toBe(true);
        const taken = pieces.map((piece) => unpacker.take(piece));
        expect(taken.slice(0, -1).every((found) => found === undefined)).toBe(true);
        expect(taken.at(-1)).toEqual({ origin, hints });
      }),
      { numRuns: 60 },
    );
  });

  it('keep senders apart', () => {
    const unpacker = newUnpacker();
    const long = (text: string): Hint[] => [['t', text.repeat(20_000)]];
    const [one, two] = [packHints(1, 1, long('a')), packHints(2, 1, long('b'))];
    expect([one.length, two.length]).toEqual([3, 3]);
    const found = one.flatMap((piece, i) => [unpacker.take(piece), unpacker.take(two[i] ?? '')]);
    expect(found.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(found[4]).toEqual({ origin: 1, hints: long('a') });
    expect(found[5]).toEqual({ origin: 2, hints: long('b') });
  });

  it('drop a batch that lacks a piece', () => {
    const unpacker = newUnpacker();
    const pieces = packHints(1, 1, [['t', 'a'.repeat(30_000)]]);
    expect(pieces.filter((_, i) => i !== 1).map((piece) => unpacker.take(piece))).toEqual(
      pieces.slice(1).map(() => undefined),
    );
    const [next] = packHints(1, 2, [['t', 'b']]);
    expect(unpacker.take(next ?? '')).toEqual({ origin: 1, hints: [['t', 'b']] });
  });

  it.each(['', 'hello', '1:2:3', '1:1:0:1:{', '1:1:0:1:[1]', '1:1:0:1:[["a"]]', '1:1:0:1:null'])(
    'pass over %j',
    (payload) => {
      expect(newUnpacker().take(payload)?.hints ?? []).toEqual([]);
    },
  );
});
