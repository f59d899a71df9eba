/** What README.md and decision 0004 say of cel-js, run on it. When one of these fails, look again. */
import { evaluate as evaluateThere } from 'cel-js';
import { describe, expect, it } from 'vitest';
import { createCelCompiler, toJsonValue } from './index.js';

const scope = { m: { x: 1, token: 'hunter2' }, s: 'abc' };
const compiler = createCelCompiler();

function here(text: string): unknown {
  return toJsonValue(compiler.compile(text, { id: 'why', variables: { m: 'dyn', s: 'dyn' } }).evaluate(scope));
}

function failure(run: () => unknown): string {
  try {
    return `no failure: ${String(run())}`;
  } catch (caught) {
    return String(caught);
  }
}

describe('cel-js', () => {
  it('divides ints into fractions and confuses those above 2^53', () => {
    expect(evaluateThere('7 / 2')).toBe(3.5);
    expect(here('7 / 2')).toBe(3);
    expect(evaluateThere('9007199254740993 == 9007199254740992')).toBe(true);
    expect(here('9007199254740993 == 9007199254740992')).toBe(false);
  });

  it('always evaluates both sides of ||', () => {
    expect(failure(() => evaluateThere('true || m.missing == 1', scope))).not.toContain('no failure');
    expect(here('true || m.missing == 1')).toBe(true);
  });

  it('has no functions on text', () => {
    expect(failure(() => evaluateThere('s.startsWith("a")', scope))).not.toContain('no failure');
    expect(here('s.startsWith("a")')).toBe(true);
  });

  it('writes the whole scope into its errors', () => {
    expect(failure(() => evaluateThere('m.missing', scope))).toContain('hunter2');
    expect(failure(() => here('m.missing'))).not.toContain('hunter2');
  });

  it('reads what JavaScript objects inherit', () => {
    expect(evaluateThere('m.constructor', scope)).toBe(Object);
    expect(failure(() => here('m.constructor'))).toContain('there is no "constructor"');
  });
});
