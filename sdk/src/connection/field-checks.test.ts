import { describe, expect, it } from 'vitest';
import { DuctorError } from '../errors.js';
import { FieldChecks } from './field-checks.js';

/** What `done` throws. */
function refusalOf(checks: FieldChecks): unknown {
  try {
    checks.done();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('FieldChecks', () => {
  it('lets pass what the wire can say', () => {
    const checks = new FieldChecks('thing');
    checks.names({ a: 1 }, { a: true });
    checks.text('text', '\ud83d\ude00\0');
    checks.whole('whole', 2 ** 32 - 1);
    checks.time('time', new Date(0));
    checks.texts('texts', { a: 'b' });
    expect(refusalOf(checks)).toBeUndefined();
  });

  it('tells everything at once, with the first thing in its message', () => {
    const checks = new FieldChecks('thing');
    checks.names({ b: 1 }, { a: true });
    checks.text('text', 5);
    checks.text('pair', 'x\ud800');
    for (const value of [-1, 0.5, 2 ** 32, '1', Number.NaN]) checks.whole('whole', value);
    checks.time('time', new Date('nonsense'));
    checks.texts('list', ['a']);
    checks.texts('texts', JSON.parse('{"__proto__": "a", "b": null}'));
    const error = refusalOf(checks);
    expect(error).toBeInstanceOf(DuctorError);
    expect(error).toMatchObject({ code: 'invalid_argument', message: 'thing: b is no option and 11 more' });
    const details = error instanceof DuctorError ? error.details : [];
    expect(details.map(({ path, value }) => `${path}: ${value}`)).toEqual([
      ...['b: b', 'text: 5', 'pair: x\ufffd', 'whole: -1', 'whole: 0.5', 'whole: 4294967296', 'whole: 1', 'whole: NaN'],
      ...['time: an object', 'list: a list', 'texts: __proto__', 'texts.b: null'],
    ]);
  });
});
