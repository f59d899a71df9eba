import { describe, expect, it } from 'vitest';
import { thrownError } from '../client/thrown-error.js';
import { errorCauses } from './error-causes.js';
import { outcomeOfError } from './attempt-outcome.js';

const error = (message: string, cause?: unknown): Error => new TypeError(message, cause === undefined ? {} : { cause });

/** Over the wire and back. */
function roundTrip(thrown: unknown): Error {
  const outcome = outcomeOfError(thrown, undefined);
  const { code = '', message = '', stack = '', causes = [] } = outcome.$case === 'error' ? outcome.value : {};
  return thrownError({ code, message, stack, causes, step: 's', attempt: 1 });
}

describe('what is behind an error', () => {
  it('comes back as it was thrown: names, messages, stacks, causes, members', () => {
    const inner = new AggregateError([error('one', error('deeper')), 'two', error('three')], 'all failed');
    const thrown = error('outer', error('middle', inner));
    const back = roundTrip(thrown);
    const shape = (each: unknown): unknown =>
      each instanceof Error
        ? {
            ...{ name: each.name, message: each.message, stack: each.stack },
            cause: shape(each.cause),
            members: each instanceof AggregateError ? each.errors.map(shape) : [],
          }
        : each;
    const expected = new AggregateError([...inner.errors], inner.message);
    expected.stack = inner.stack ?? '';
    expect(shape(back)).toEqual(
      JSON.parse(JSON.stringify(shape(thrown)), (_, value: unknown) =>
        value === 'two' ? { name: 'Error', message: 'two', stack: 'Error: two', members: [] } : value,
      ),
    );
  });

  it('is bounded by number, depth and size, however it is thrown', () => {
    let long = error('0');
    for (let depth = 1; depth < 50; depth += 1) long = error(String(depth), long);
    expect(errorCauses(long)).toHaveLength(8);
    const wide = new AggregateError(Array.from({ length: 100 }, (_, n) => error(String(n))));
    expect(errorCauses(wide)).toHaveLength(16);
    const large = error('x', error('y'.repeat(100_000)));
    const [cause] = errorCauses(large);
    expect([cause?.message.length, cause?.stack.length]).toEqual([1_024, 4_096]);
    const sizes = errorCauses(new AggregateError(Array.from({ length: 16 }, () => error('z'.repeat(9_000)))));
    expect(sizes.reduce((sum, { stack }) => sum + stack.length, 0)).toBe(16_384);
  });

  it('ends where errors cause each other, and survives errors that throw when they are looked at', () => {
    const [a, b] = [error('a'), error('b')];
    a.cause = b;
    b.cause = a;
    expect(errorCauses(a).map(({ message }) => message)).toEqual(['b']);
    const hostile = error('fine');
    Object.defineProperty(hostile, 'cause', {
      get() {
        throw new TypeError('no');
      },
    });
    expect(errorCauses(error('outer', hostile)).map(({ message }) => message)).toEqual(['fine']);
    expect(errorCauses(error('outer', Symbol('odd'))).map(({ message }) => message)).toEqual(['Symbol(odd)']);
    expect(errorCauses('no error at all')).toEqual([]);
  });
});
