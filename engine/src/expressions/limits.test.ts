/** Limits at N, N + 1 and 10 N. */
import { describe, expect, it } from 'vitest';
import { DuctorError } from '../kernel/index.js';
import { createCelCompiler, type CelSchema } from './index.js';
import { LIMITS } from './limits.js';

const compiler = createCelCompiler();
const schema: CelSchema = { id: 'limits', variables: { x: 'dyn', l: 'dyn' } };

/** `ok`, or the code and message of the error. */
function outcome(text: string, scope: Readonly<Record<string, unknown>> = { x: 1, l: [1] }): string {
  try {
    compiler.compile(text, schema).evaluate(scope);
    return 'ok';
  } catch (caught) {
    if (caught instanceof DuctorError) return `${caught.code}: ${caught.message}`;
    throw caught;
  }
}

describe('size of the text', () => {
  const ofBytes = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`;

  it('takes 8 KiB and no more', () => {
    expect(outcome(ofBytes(LIMITS.textBytes))).toBe('ok');
    expect(outcome(ofBytes(LIMITS.textBytes + 1))).toBe(
      'expression_too_costly: line 1, column 1: the text is longer than 8192 bytes',
    );
    expect(outcome(ofBytes(LIMITS.textBytes * 10))).toContain('expression_too_costly');
  });

  it('counts bytes, not characters', () => {
    expect(outcome(`"${'ü'.repeat(4095)}"`)).toBe('ok');
    expect(outcome(`"${'ü'.repeat(4096)}"`)).toContain('expression_too_costly');
  });
});

describe('number of parts', () => {
  /** A sum of so many nodes: every term but the first brings itself and its plus. */
  const ofNodes = (nodes: number): string => ['1', ...Array.from({ length: (nodes - 1) / 2 }, () => '1')].join('+');

  it('takes 1,000 nodes and no more', () => {
    expect(outcome(ofNodes(LIMITS.nodes - 1))).toBe('ok');
    expect(outcome(`-x+${ofNodes(LIMITS.nodes - 3)}`)).toBe('ok');
    expect(outcome(ofNodes(LIMITS.nodes + 1))).toContain('expression_too_costly');
    expect(outcome(ofNodes(LIMITS.nodes + 1))).toContain('made of more than 1000 parts');
    expect(outcome(ofNodes(3_999))).toContain('expression_too_costly');
  });

  it('takes a list of 999 elements and no more', () => {
    expect(outcome(`[${Array.from({ length: 999 }, () => '1').join(',')}]`)).toBe('ok');
    expect(outcome(`[${Array.from({ length: 1_000 }, () => '1').join(',')}]`)).toContain('expression_too_costly');
  });
});

describe('depth', () => {
  const nested = (depth: number): string => '('.repeat(depth) + '1' + ')'.repeat(depth);

  it('takes 64 levels and no more', () => {
    expect(outcome(nested(LIMITS.depth - 1))).toBe('ok');
    expect(outcome(nested(LIMITS.depth))).toContain('expression_too_costly');
    expect(outcome(nested(LIMITS.depth))).toContain('nested more than 64 deep');
    expect(outcome(nested(LIMITS.depth * 10))).toContain('expression_too_costly');
    expect(outcome(`x${'.a'.repeat(LIMITS.depth * 10)}`)).toContain('expression_too_costly');
  });
});

describe('patterns', () => {
  const matches = (length: number): string => `"a".matches("${'a'.repeat(length)}")`;

  it('take 256 characters and no more, in the text or in the data', () => {
    expect(outcome(matches(LIMITS.patternCharacters))).toBe('ok');
    expect(outcome(matches(LIMITS.patternCharacters + 1))).toContain('a pattern is longer than 256 characters');
    expect(outcome(matches(LIMITS.patternCharacters * 10))).toContain('expression_invalid');
    expect(outcome('"a".matches(x)', { x: 'a'.repeat(256) })).toBe('ok');
    expect(outcome('"a".matches(x)', { x: 'a'.repeat(257) })).toContain('expression_failed');
    expect(outcome('"a".matches(x)', { x: 'a'.repeat(2560) })).toContain('expression_failed');
  });
});

describe('cost', () => {
  const list = (length: number): readonly number[] => Array.from({ length }, (_, index) => index);
  const tooCostly = `expression_too_costly: the expression takes more than ${LIMITS.cost} steps on these values`;

  it('counts nodes of the body times the length of the range', () => {
    const text = 'l.all(e, e >= 0)';
    const perPass = 4;
    expect(outcome(text, { l: list(LIMITS.cost / perPass) })).toBe('ok');
    expect(outcome(text, { l: list(LIMITS.cost / perPass + 1) })).toBe(tooCostly);
    expect(outcome(text, { l: list((LIMITS.cost / perPass) * 10) })).toBe(tooCostly);
  });

  it('counts nested macros by the product of the ranges they meet', () => {
    const text = 'l.all(a, l.all(b, a + b >= 0))';
    expect(outcome(text, { l: list(400) })).toBe('ok');
    expect(outcome(text, { l: list(420) })).toBe(tooCostly);
    expect(outcome(text, { l: list(4_000) })).toBe(tooCostly);
    expect(outcome('l.all(a, l.all(b, l.all(c, true)))', { l: list(1_000) })).toBe(tooCostly);
  });

  it('does not count what is never visited', () => {
    expect(outcome('x == 1 || l.all(a, l.all(b, a + b >= 0))', { x: 1, l: list(100_000) })).toBe('ok');
    expect(outcome('l.exists(e, e == 0)', { l: list(1_000_000) })).toBe('ok');
  });

  it('is not swallowed by operators that swallow failures', () => {
    const costly = 'l.all(a, l.all(b, a + b >= 0))';
    const scope = { l: list(2_000) };
    expect(outcome(`${costly} || true`, scope)).toBe(tooCostly);
    expect(outcome(`!(${costly}) && false`, scope)).toBe(tooCostly);
    expect(outcome(`[1].exists(e, ${costly} || true)`, scope)).toBe(tooCostly);
  });

  it('counts work that grows with a value, not with the text', () => {
    const doubling = Array.from({ length: 30 }).reduce<string>((body) => `cel.bind(s, s + s, ${body})`, 'size(s)');
    expect(outcome(`cel.bind(s, "0123456789", ${doubling})`)).toBe(tooCostly);
    const lists = Array.from({ length: 30 }).reduce<string>((body) => `cel.bind(s, s + s, ${body})`, 'size(s)');
    expect(outcome(`cel.bind(s, [1, 2], ${lists})`)).toBe(tooCostly);
    expect(outcome('l.all(e, l == x)', { l: list(10_000), x: list(10_000) })).toBe(tooCostly);
    expect(outcome('l.exists(e, x in l)', { l: list(10_000), x: -1 })).toBe(tooCostly);
    expect(outcome('l.exists(e, x.contains("b"))', { l: list(10_000), x: 'a'.repeat(100_000) })).toBe(tooCostly);
    expect(outcome('l.map(e, x.replace("a", x))', { l: list(10), x: 'a'.repeat(10_000) })).toBe(tooCostly);
    expect(outcome('x.matches("^(a+)+$")', { x: `${'a'.repeat(2_000_000)}b` })).toBe(tooCostly);
  });

  it('counts the compiling of patterns that come out of data, whether they are cached or not', () => {
    const text = 'l.exists(e, "a".matches("(b{9}){9}" + string(e)))';
    for (let round = 0; round < 3; round++) expect(outcome(text, { l: list(1_000) })).toBe(tooCostly);
    expect(outcome(text, { l: list(10) })).toBe('ok');
    expect(outcome('l.exists(e, "a".matches("(b{9}){9}"))', { l: list(1_000) })).toBe('ok');
  });

  it('starts anew with every evaluation', () => {
    const expression = compiler.compile('l.all(e, e >= 0)', schema);
    const scope = { l: list(200_000) };
    for (let round = 0; round < 5; round++) expect(expression.evaluate(scope)).toBe(true);
  });
});
