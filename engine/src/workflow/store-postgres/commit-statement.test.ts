import { expect, it } from 'vitest';
import { testDatabase } from '../../store/testing/index.js';
import { PART_NAMES } from './commit-parts.js';
import { commitStatement } from './commit-statement.js';

const test = testDatabase();

it('is a statement for every combination of parts', async () => {
  const session = await test.db.connect({ name: 'parts' });
  const combinations = 2 ** PART_NAMES.length;
  for (let set = 1; set < combinations; set += 1) {
    const names = PART_NAMES.filter((_, bit) => (set & (1 << bit)) !== 0);
    // The other parts write for ticks that have a row in the journal: with none of them there is no such statement.
    if (!names.includes('journal') && names.some((name) => name !== 'dropped')) continue;
    await session.query(`prepare parts_${set} as ${commitStatement(names).text}`);
  }
  const { rows } = await session.query("select count(*)::int as n from pg_prepared_statements where name ~ '^parts_'");
  expect(rows).toEqual([{ n: combinations / 2 + 1 }]);
  await session.close();
});
