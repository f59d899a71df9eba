import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonTextProblems } from './json-text.js';

const problemsOf = (text: string): readonly string[] =>
  jsonTextProblems(Buffer.from(text, 'utf8')).map(({ path, problem }) => `${path}: ${problem}`);

describe('jsonTextProblems', () => {
  it('finds NUL and halves of pairs in texts and keys, at any depth, with where they stand', () => {
    expect(problemsOf('{"a":["x\\u0000y"]}')).toEqual(['a[0]: holds a NUL character']);
    expect(problemsOf('{"a b":"\\ud83d"}')).toEqual(['["a b"]: holds half of a surrogate pair']);
    expect(problemsOf('{"\\uDE00":1}')).toEqual(['["\ufffd"]: holds half of a surrogate pair']);
    expect(problemsOf(`${'['.repeat(5_000)}"\\u0000"${']'.repeat(5_000)}`)).toHaveLength(1);
  });

  it('lets whole pairs pass, written as escapes or not, and what only looks like an escape', () => {
    for (const text of ['"\\ud83d\\ude00"', '"😀"', '"\\\\u0000"', '"\\\\ud83d"', 'no json \\u0000', '{}']) {
      expect(problemsOf(text)).toEqual([]);
    }
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(jsonTextProblems(Buffer.from([0x22, 0xff, 0x22]), 'output')).toMatchObject([
      { path: 'output', problem: 'is not UTF-8' },
    ]);
  });

  it('agrees with a look at every text, for all JSON', () => {
    const isBad = (node: unknown): boolean => {
      if (typeof node === 'string') return node.includes('\0') || /\p{Surrogate}/u.test(node);
      if (typeof node !== 'object' || node === null) return false;
      return Object.entries(node).some(([key, part]) => isBad(key) || isBad(part));
    };
    const strange = fc.constantFrom('\0', '\ud800', '\udc00', '😀', '\\u0000');
    const text = fc.oneof(fc.string(), strange);
    const json = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.array(tie('node')), fc.dictionary(text, tie('node'))),
    })).node;
    fc.assert(fc.property(json, (value) => problemsOf(JSON.stringify(value)).length > 0 === isBad(value)));
  });
});
