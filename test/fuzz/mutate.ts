/** Inputs that are nearly right: seeds, changed a little, by a random number generator that can be repeated. */
import type { Random } from '../../engine/src/kernel/index.js';

/** Texts that have broken parsers before. */
const TOKENS = [
  ...['__proto__', 'constructor', 'toString', '{"__proto__":{"polluted":true}}', '"\\u0000"', '"\\ud800"', '\u0000'],
  ...[
    '\ufeff',
    '-0',
    '1e999',
    '-1e-999',
    '9007199254740993',
    '18446744073709551616',
    'NaN',
    'null',
    'true',
    '""',
    '[]',
  ],
  ...['{', '}', '[', ']', '(', ')', '"', '\\', '/*', '--', ';', "'", "' or 1=1 --", '%00', '%', '../', '${x}', '{{x}}'],
  ...['😀', '\u202e', 'é', 'A'.repeat(300), '['.repeat(200), '('.repeat(200), '{"a":'.repeat(100), '\r\n', '\t', ' '],
];

/** Makes inputs. */
export class Mutator {
  constructor(readonly random: Random) {}

  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number {
    return limit <= 1 ? 0 : this.random.uint32() % limit;
  }

  pick<T>(from: readonly T[]): T {
    const value = from[this.below(from.length)];
    if (value === undefined) throw new RangeError('there is nothing to pick from');
    return value;
  }

  /** A seed with up to six changes; once in a while nothing but noise. */
  bytes(seeds: readonly Buffer[]): Buffer {
    if (this.below(50) === 0) return Buffer.from(this.random.bytes(this.below(300)));
    let bytes = this.pick(seeds);
    for (let left = this.below(7); left > 0; left -= 1) bytes = this.#change(bytes, seeds);
    return bytes;
  }

  /** As bytes, but of texts. */
  text(seeds: readonly string[]): string {
    return this.bytes(seeds.map((seed) => Buffer.from(seed))).toString('utf8');
  }

  /** A JSON value with one to four of its parts replaced, taken away, doubled or renamed. */
  json(seeds: readonly unknown[]): unknown {
    let value = this.pick(seeds);
    for (let left = 1 + this.below(4); left > 0; left -= 1) value = this.#changePart(value, seeds);
    return value;
  }

  #change(bytes: Buffer, seeds: readonly Buffer[]): Buffer {
    const at = this.below(bytes.length + 1);
    const to = Math.min(bytes.length, at + this.below(16));
    const [head, middle, tail] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
    switch (this.below(7)) {
      case 0: {
        const copy = Buffer.from(bytes);
        if (copy.length > 0) copy[this.below(copy.length)] = this.below(256);
        return copy;
      }
      case 1:
        return Buffer.concat([head, tail]);
      case 2:
        return Buffer.concat([head, middle, middle, tail]);
      case 3:
        return Buffer.concat([head, Buffer.from(this.pick(TOKENS)), tail]);
      case 4:
        return head;
      case 5: {
        const other = this.pick(seeds);
        return Buffer.concat([head, other.subarray(this.below(other.length))]);
      }
      default:
        return Buffer.concat([head, Buffer.from(this.random.bytes(this.below(9))), tail]);
    }
  }

  #changePart(value: unknown, seeds: readonly unknown[]): unknown {
    if (typeof value !== 'object' || value === null || this.below(4) === 0) return this.#other(seeds);
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value;
      const at = this.below(items.length);
      const changed = this.#changePart(items[at], seeds);
      if (this.below(5) === 0) return [...items.slice(0, at), ...items.slice(at + 1)];
      if (this.below(5) === 0) return [...items, changed];
      return items.map((item, index) => (index === at ? changed : item));
    }
    const entries = Object.entries(value);
    const [name = 'a', inner] = entries.length === 0 ? [] : this.pick(entries);
    const rest = entries.filter(([other]) => other !== name);
    if (this.below(6) === 0) return Object.fromEntries(rest);
    if (this.below(6) === 0) return Object.fromEntries([...rest, [this.pick(TOKENS), inner]]);
    return Object.fromEntries([...rest, [name, this.#changePart(inner, seeds)]]);
  }

  /** Something else altogether. */
  #other(seeds: readonly unknown[]): unknown {
    switch (this.below(6)) {
      case 0:
        return this.pick(TOKENS);
      case 1:
        return this.pick([0, -1, 1.5, 1e300, 9007199254740993, true, false, null]);
      case 2:
        return [];
      case 3:
        return {};
      case 4: {
        let deep: unknown = this.pick(TOKENS);
        for (let depth = this.below(200); depth > 0; depth -= 1) deep = this.below(2) === 0 ? [deep] : { a: deep };
        return deep;
      }
      default:
        return this.pick(seeds);
    }
  }
}
