import { describe, expect, it } from 'vitest';
import { DuctorError } from '../../kernel/index.js';
import { leavesRow } from './leaves-row.js';

describe('leavesRow', () => {
  it('is so for what is refused for good', () => {
    expect(leavesRow(new DuctorError('permission_denied', 'no'))).toBe(true);
    expect(leavesRow(new DuctorError('limit_exceeded', 'too many keys'))).toBe(true);
  });

  it('is not so for nonsense, nor for who is to come again later', () => {
    expect(leavesRow(new DuctorError('invalid_argument', 'what?'))).toBe(false);
    expect(leavesRow(new DuctorError('limit_exceeded', 'later', { retryAfterMs: 100 }))).toBe(false);
    expect(leavesRow(new DuctorError('node_starting', 'later', { retryAfterMs: 200 }))).toBe(false);
  });
});
