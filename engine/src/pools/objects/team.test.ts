import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { recipientCheck } from './recipient.js';
import { MAX_TEAM, teamNamed } from './team.js';

describe('a team', () => {
  it('is named by a text of 1 to 128 characters, and by nothing else', () => {
    const values = ['west', 'x'.repeat(MAX_TEAM), '', 'x'.repeat(MAX_TEAM + 1), 7, null, undefined, ['west']];
    expect(values.map(teamNamed)).toEqual(['west', 'x'.repeat(MAX_TEAM), null, null, null, null, null, null]);
  });

  it('has no longer name: a recipient with one is refused, where it would be in no team', () => {
    const create = (name: string): unknown =>
      recipientCheck.create({ name: 'r', attributes: { team: { string_value: name } } });
    expect(create('x'.repeat(MAX_TEAM))).toMatchObject({ name: 'r' });
    try {
      create('x'.repeat(MAX_TEAM + 1));
      expect.unreachable('it was accepted');
    } catch (error) {
      const { code, details } = DuctorError.from(error);
      expect([code, details.map(({ path }) => path)]).toEqual(['invalid_argument', ['attributes.team.string_value']]);
    }
  });
});
