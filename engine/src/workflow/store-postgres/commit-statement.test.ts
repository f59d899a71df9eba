import { expect, it } from 'vitest';
import { testDatabase } from '../../store/testing/index.js';
import { PART_NAMES } from './commit-parts.js';
import { commitStatement } from './commit-statement.js';

const test = testDatabase();

/** Sets of at most three parts, and of all but at most three: each pair of parts, there and not there. */
function combinations(): readonly number[] {
  const all = 2 ** PART_NAMES.length - 1;
  const bits = PART_NAMES.map((_, bit) => 1 << bit).concat(0);
  const small = bits.flatMap((a) => bits.flatMap((b) => bits.map((c) => a | b | c)));
  return [...new Set(small.flatMap((set) => [set, all ^ set]))];
}

it('is a statement for combinations of parts', async () => {
  const session = await test.db.connect({ name: 'parts' });
  const made: string[] = [];
  for (const set of combinations()) {
    const names = PART_NAMES.filter((_, bit) => (set & (1 << bit)) !== 0);
    // The other parts write for ticks that have a row in the journal: with none of them there is no such statement.
    if (names.length === 0 || (!names.includes('journal') && names.some((name) => name !== 'dropped'))) continue;
    made.push(names.join());
    await session.query(`prepare parts_${set} as ${commitStatement(names).text}`);
  }
  const { rows } = await session.query("select count(*)::int as n from pg_prepared_statements where name ~ '^parts_'");
  expect(rows).toEqual([{ n: made.length }]);
  expect(made).toContain(PART_NAMES.join());
  await session.close();
});
