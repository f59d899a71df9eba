/**
 * The style test: the whole tree against the house rules. DUCTOR_HOUSE_ROOT points it at another tree, without ratchet.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { inspect } from './house.js';
import { type Ratchet, objections } from './ratchet.js';
import { DOCUMENTED_SHARE_MIN, documentation } from './rules/docs.js';
import { CASTS_PER_KLOC_MAX, casts, castsPerKloc } from './rules/types.js';
import { readTree } from './source.js';

const elsewhere = process.env['DUCTOR_HOUSE_ROOT'];
const root = elsewhere ?? fileURLToPath(new URL('../..', import.meta.url));
const accepted: Ratchet = elsewhere ? {} : JSON.parse(readFileSync(new URL('ratchet.json', import.meta.url), 'utf8'));
const tree = readTree(root);

test('the tree keeps the house rules, except for what the ratchet still accepts', () => {
  const texts = objections(inspect(tree), accepted);
  expect(texts.length, texts.join('\n')).toBe(0);
});

test('at least 90 % of exports are documented', () => {
  const { share, undocumented } = documentation(tree);
  const list = undocumented.map(({ path, line, message }) => `${path}:${line} ${message}`).join('\n');
  expect(share, list).toBeGreaterThanOrEqual(DOCUMENTED_SHARE_MIN);
});

test('at most 2 casts per 1,000 lines', () => {
  const list = casts(tree).map(({ path, line }) => `${path}:${line}`);
  expect(castsPerKloc(tree), list.join('\n')).toBeLessThanOrEqual(CASTS_PER_KLOC_MAX);
});
