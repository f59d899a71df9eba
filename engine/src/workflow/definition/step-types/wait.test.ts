import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../../expressions/index.js';
import type { ExpressionScope } from '../../machine/plan.js';
import { validateDefinition } from '../validate.js';
import { WAIT } from './wait.js';

const cel = createCelCompiler();
const NOW = 1_700_000_000_000_000;

/** When a wait with these args ends, in microseconds from now. */
function ends(
  args: { readonly [key: string]: string | { readonly [key: string]: string } },
  input: unknown = null,
): number {
  const step = { ref: 'w', type: 'STEP_TYPE_WAIT', args };
  expect(validateDefinition({ family_slug: 'f', steps: [step] }, cel).problems).toEqual([]);
  const scope: ExpressionScope = {
    input: () => input,
    stepOutput: () => undefined,
    stepError: () => undefined,
    run: {},
  };
  const action = WAIT.compile(step, cel, () => expect.fail('no body'));
  return action.type === 'WAIT' ? action.wakeAtUs(scope, NOW) - NOW : Number.NaN;
}

describe('WAIT', () => {
  it('waits for a literal duration', () => {
    expect(ends({ duration: '2s' })).toBe(2_000_000);
    expect(ends({ duration: '0s' })).toBe(0);
    expect(ends({ duration: '1h30m' })).toBe(5_400_000_000);
  });

  it.each<[string, unknown, number]>([
    ['a text', '5m', 300_000_000],
    ['seconds', 1.5, 1_500_000],
    ['fractions of a microsecond, rounded up', 0.000_000_1, 1],
    ['nothing', 0, 0],
    ['a negative number', -5, 0],
    ['a negative text', '-5s', 0],
  ])('waits for a computed duration: %s', (_name, value, us) => {
    expect(ends({ duration: { expr: 'input.d' } }, { d: value })).toBe(us);
  });

  it('takes durations and ints of CEL', () => {
    expect(ends({ duration: { expr: 'duration("90s")' } })).toBe(90_000_000);
    expect(ends({ duration: { expr: 'duration("-90s")' } })).toBe(0);
    expect(ends({ duration: { expr: '60 * 2' } })).toBe(120_000_000);
  });

  it('waits until an instant, and not at all for one that has passed', () => {
    expect(ends({ until: 'input' }, '2023-11-14T22:13:21.5Z')).toBe(1_500_000);
    expect(ends({ until: 'timestamp(input) + duration("1s")' }, '2023-11-14T23:13:20+01:00')).toBe(1_000_000);
    expect(ends({ until: 'input' }, '2020-01-01T00:00:00Z')).toBe(0);
  });

  it('waits until the next slot of a cron pattern in its zone', () => {
    // NOW is 2023-11-14 22:13:20Z: 23:13:20 in Berlin.
    const at = (cron: string, zone: string): number => ends({ schedule: { cron, time_zone: zone } }) / 60_000_000;
    expect(at('0 9 * * *', 'UTC')).toBeCloseTo(10 * 60 + 46 + 2 / 3, 6);
    expect(at('0 9 * * *', 'Europe/Berlin')).toBeCloseTo(9 * 60 + 46 + 2 / 3, 6);
    expect(at('20 13 22 * * *', 'UTC')).toBe(24 * 60);
  });

  it('cannot fail where it waits for a slot or a literal duration', () => {
    expect(WAIT.canFail({ schedule: { cron: '@daily', time_zone: 'UTC' } })).toBe(false);
    expect(WAIT.canFail({ duration: '1s' })).toBe(false);
    expect(WAIT.canFail({ until: 'input' })).toBe(true);
  });

  it.each<[string, { readonly [key: string]: string | { readonly expr: string } }, unknown]>([
    ['a text that is none', { duration: { expr: 'input' } }, 'soon'],
    ['a boolean', { duration: { expr: 'input' } }, true],
    ['an endless one', { duration: { expr: 'input' } }, 1e15],
    ['a day without time', { until: 'input' }, '2026-03-01'],
    ['a number as instant', { until: 'input' }, 1_700_000_000],
    ['an instant too far away', { until: 'input' }, '2099-01-01T00:00:00Z'],
  ])('fails on %s, without quoting it', (_name, args, input) => {
    expect(() => ends(args, input)).toThrow(expect.objectContaining({ code: 'expression_failed' }));
    expect(() => ends(args, input)).not.toThrow(String(input));
  });
});
