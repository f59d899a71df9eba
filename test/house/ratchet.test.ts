import { expect, test } from 'vitest';
import { count, lowered, objections } from './ratchet.js';
import type { Finding } from './source.js';

const find = (path: string, line: number): Finding => ({ rule: 'any', path, line, message: 'the type any' });
const two = [find('a.ts', 1), find('a.ts', 2)];

test('what is recorded is accepted', () => {
  expect(objections(two, { any: { 'a.ts': 2 } })).toEqual([]);
  expect(objections([], {})).toEqual([]);
});

test('one more than recorded fails, and says where', () => {
  expect(objections(two, { any: { 'a.ts': 1 } })).toEqual([expect.stringContaining('a.ts:2 the type any')]);
  expect(objections(two, {})).toHaveLength(1);
});

test('red in another file than recorded fails on both', () => {
  expect(objections([find('b.ts', 1)], { any: { 'a.ts': 1 } })).toHaveLength(2);
});

test('one less than recorded asks to lower the record', () => {
  expect(objections(two, { any: { 'a.ts': 3 } })).toEqual([expect.stringContaining('lower it')]);
});

test('lowering never raises and drops what is gone', () => {
  expect(lowered(two, { any: { 'a.ts': 5, 'gone.ts': 1 }, other: { 'a.ts': 1 } })).toEqual({ any: { 'a.ts': 2 } });
  expect(lowered(two, { any: { 'a.ts': 1 } })).toEqual({ any: { 'a.ts': 1 } });
  expect(count(two)).toEqual({ any: { 'a.ts': 2 } });
});
