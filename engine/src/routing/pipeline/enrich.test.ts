import { describe, expect, it } from 'vitest';
import { poolCheck } from '../../pools/index.js';
import { checkRoutable } from '../core/routable.js';
import { replayExported } from '../decisions/replay.js';
import { documentsOf, writeRecord } from '../decisions/write-record.js';
import { compiler, inputOf, recipientOf, snapshotOf } from '../testing/decision-kit.js';
import { NOW_US } from '../testing/strategy-kit.js';
import { decide } from './decide.js';
import { enrich, enrichersOf } from './enrich.js';
import { ruleScope } from './scope.js';

const pools = poolCheck(compiler);
const TABLE = { a: { country: 'DE', cities: ['Berlin', 'Bonn'] }, b: 7, c: null };

/** What enrichments bring for some work. */
function brought(enrichments: readonly object[], attributes: object) {
  const { config } = pools.create({ name: 'p', config: { enrichments } });
  const rules = ruleScope(checkRoutable({ id: 'w', attributes }), NOW_US);
  return enrich(enrichersOf(config, compiler), rules);
}

describe('enrichments', () => {
  it('are worked out in order, each seeing those before it', () => {
    const { values, isMissing } = brought(
      [
        { name: 'amount', kind: 'expr', expr: 'routable.attributes.amount * 2.0' },
        { name: 'size', kind: 'expr', expr: 'enrichments.amount > 100.0 ? "big" : "small"' },
        { name: 'day', kind: 'expr', expr: 'now.getDayOfWeek()' },
      ],
      { amount: 51 },
    );
    expect(values).toEqual({ amount: 102, size: 'big', day: new Date(NOW_US / 1000).getUTCDay() });
    expect(isMissing).toBe(false);
  });

  it('find rows of a table, whatever JSON they hold', () => {
    for (const [key, value] of Object.entries(TABLE)) {
      const one = brought([{ name: 'row', kind: 'lookup', key: 'routable.attributes.key', table: TABLE }], { key });
      expect(one.values).toEqual({ row: value });
    }
  });

  it.each(['nobody', '__proto__', 'constructor', 'toString'])('find no row called %s that was not given', (key) => {
    const one = brought([{ name: 'row', kind: 'lookup', key: 'routable.attributes.key', table: TABLE }], { key });
    expect(one.brought).toEqual([{ name: 'row', problem: 'its table has no such row' }]);
  });

  it('that fail are absent, and missing where they must succeed', () => {
    const failing = { name: 'x', kind: 'expr', expr: 'routable.attributes.none' };
    expect(brought([failing], {})).toMatchObject({ brought: [{ problem: 'expression_failed' }], isMissing: false });
    expect(brought([{ ...failing, on_error: 'fail' }], {}).isMissing).toBe(true);
    const long = { name: 'x', kind: 'expr', expr: 'routable.attributes.text' };
    expect(brought([long], { text: 'y'.repeat(4095) }).brought[0]?.problem).toMatch(/4097 characters/);
    expect(brought([long], { text: 'y'.repeat(4094) }).brought[0]?.problem).toBeUndefined();
  });

  it('stand in the record, and are worked out again by a replay', () => {
    const enrichments = [
      { name: 'region', kind: 'lookup', key: 'routable.attributes.zip', table: { '1': 'north', '2': 'south' } },
      { name: 'broken', kind: 'expr', expr: 'routable.attributes.gone' },
    ];
    const config = { enrichments, eligibility_rule: 'recipient.attributes.region == enrichments.region' };
    const recipients = ['north', 'south'].map((region, index) => {
      return recipientOf(index + 1, { attributes: { region: { string_value: region } } });
    });
    const decision = decide(inputOf([snapshotOf(500, { config }, recipients)], { work: { attributes: { zip: '2' } } }));
    expect(decision.slate.map(({ id }) => id)).toEqual([recipients[1]?.id]);
    const record = writeRecord(decision, { version: 'test', tzdb: 'test' });
    expect(JSON.parse(record)).toMatchObject({
      routable: { at: { zip: '2' } },
      hops: [
        {
          en: [
            { name: 'region', value: 'south' },
            { name: 'broken', problem: 'expression_failed' },
          ],
        },
      ],
    });
    const documents = Object.fromEntries(documentsOf(decision));
    expect(replayExported({ record, documents })).toMatchObject({ isSame: true });
    const forged = record.replace('"value":"south"', '"value":"north"');
    expect(replayExported({ record: forged, documents })).toMatchObject({ isSame: false });
  });
});

describe('a pool with enrichments', () => {
  const refused = (enrichments: readonly object[]): readonly string[] => {
    const act = () => pools.create({ name: 'p', config: { enrichments } });
    try {
      act();
    } catch (caught) {
      const details: unknown = Reflect.get(Object(caught), 'details');
      if (Array.isArray(details)) return details.map(({ path, problem }) => `${path} ${problem}`);
    }
    return [];
  };
  const row = { name: 'r', kind: 'lookup', key: 'routable.id', table: { a: 1 } };

  it.each<[enrichments: readonly object[], problem: string]>([
    [[{ name: 'x', kind: 'expr' }], 'config.enrichments[0].expr is missing: kind expr needs it'],
    [[{ name: 'x', kind: 'connector' }], 'config.enrichments[0].kind is not there yet'],
    [[{ ...row, key: undefined }], 'config.enrichments[0].key is missing: kind lookup needs it'],
    [[{ ...row, timeout: '1s' }], 'config.enrichments[0].timeout means nothing for kind lookup'],
    [[row, row], 'config.enrichments[1].name is there twice'],
    [
      [{ name: 'x', kind: 'expr', expr: 'enrichments.r' }, row],
      'config.enrichments[0].expr reads "r", which is not worked out before it',
    ],
    [[{ name: 'x', kind: 'expr', expr: 'recipient.id' }], 'config.enrichments[0].expr line 1, column 1: '],
    [[{ ...row, table: { a: 'y'.repeat(5000) } }], 'config.enrichments[0].table.a has 5002 characters as JSON'],
  ])('is refused: %#', (enrichments, problem) => {
    expect(refused(enrichments).join('\n')).toContain(problem);
  });
});
