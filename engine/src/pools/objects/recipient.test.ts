import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { recipientCheck, stateAfter } from './recipient.js';

/** The body of the example that creates a recipient on the users' page. */
const JORDAN = {
  name: 'Jordan Reyes',
  type: 'agent',
  external_id: 'agent-4471',
  state: 'RECIPIENT_STATE_AVAILABLE',
  weight: 2.0,
  capacity: { max_concurrent: 5, daily_limit: 40 },
  tags: ['billing', 'spanish'],
  attributes: {
    skill: { string_value: 'billing' },
    seniority: { number_value: 3 },
    vip_certified: { bool_value: true },
  },
  timezone: 'America/Chicago',
};

function problemsOf(input: unknown): readonly string[] {
  try {
    recipientCheck.create(input);
    return [];
  } catch (caught) {
    return DuctorError.from(caught).details.map(({ path, problem }) => `${path} ${problem}`);
  }
}

describe('a recipient', () => {
  it('is created as the page of the users writes it', () => {
    expect(recipientCheck.create(JORDAN)).toMatchObject({
      ...JORDAN,
      capacity: { max_concurrent: 5, daily_limit: 40, unit_costs: {} },
    });
  });

  it('is offline, of weight 1 and unlimited unless it says otherwise; null is unlimited too', () => {
    expect(recipientCheck.create({ name: 'x', capacity: { max_concurrent: null } })).toMatchObject({
      state: 'RECIPIENT_STATE_OFFLINE',
      weight: 1,
      capacity: { max_concurrent: 0, daily_limit: 0 },
    });
  });

  it.each<[string, object, string]>([
    ['a weight of four decimals', { weight: 0.1234 }, 'weight has more than three decimals'],
    ['a negative weight', { weight: -1 }, 'weight is too small'],
    [
      'an attribute of two kinds',
      { attributes: { a: { string_value: 'x', bool_value: true } } },
      'attributes.a has 2 values',
    ],
    ['an attribute of no kind', { attributes: { a: {} } }, 'attributes.a has 0 values'],
    ['a cost without currency', { cost_micros: '5' }, 'currency is missing'],
    ['a cost that is a number', { cost_micros: 5, currency: 'EUR' }, 'cost_micros is not a string'],
    ['a cost beyond 64 bits', { cost_micros: '9223372036854775808', currency: 'EUR' }, 'cost_micros is not an amount'],
    ['an unspecified state', { state: 'RECIPIENT_STATE_UNSPECIFIED' }, 'state is not one of its values'],
    ['a negative limit', { capacity: { daily_limit: -1 } }, 'capacity.daily_limit is too small'],
    ['a misspelt limit', { capacity: { max_concurent: 1 } }, 'capacity.max_concurent is not a field'],
    ['an unknown zone', { timezone: 'Nowhere' }, 'timezone is not a time zone'],
  ])('cannot have %s', (_, fields, problem) => {
    expect(problemsOf({ name: 'x', ...fields })).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
  });

  it('takes the partial update of the page: the daily limit stays', () => {
    const after = recipientCheck.update(recipientCheck.create(JORDAN), {
      weight: 1.5,
      capacity: { max_concurrent: 8 },
    });
    expect(after.weight).toBe(1.5);
    expect(after.capacity).toEqual({ max_concurrent: 8, daily_limit: 40, unit_costs: {} });
    expect(after.tags).toEqual(JORDAN.tags);
  });

  it('changes the kind of one attribute and keeps the others', () => {
    const after = recipientCheck.update(recipientCheck.create(JORDAN), { attributes: { seniority: { int_value: 4 } } });
    expect(after.attributes).toEqual({ ...JORDAN.attributes, seniority: { int_value: 4 } });
  });

  it('is paused from anywhere and resumed from where it was paused', () => {
    expect(stateAfter('RECIPIENT_STATE_OFFLINE', 'pause')).toBe('RECIPIENT_STATE_PAUSED');
    expect(stateAfter('RECIPIENT_STATE_PAUSED', 'resume')).toBe('RECIPIENT_STATE_AVAILABLE');
    expect(stateAfter('RECIPIENT_STATE_DRAINING', 'resume')).toBe('RECIPIENT_STATE_AVAILABLE');
    expect(stateAfter('RECIPIENT_STATE_OFFLINE', 'resume')).toBeUndefined();
  });
});
