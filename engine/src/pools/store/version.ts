/** The guard of changes: whoever says which version it read, changes that one or nothing. */
import { DuctorError } from '../../kernel/index.js';

/**
 * Throws version_conflict, naming the current version, unless it is the expected one.
 *
 * @param expected record_version that the caller read; 0: whatever it is
 */
export function checkVersion(what: string, current: number, expected: number): void {
  if (expected === 0 || expected === current) return;
  const message = `${what} has record_version ${current}, not ${expected}`;
  const details = [
    {
      path: 'expected_version',
      value: String(expected),
      problem: `is not the current record_version ${current}`,
      remedy: 'Read it again, and decide on what it is now.',
    },
  ];
  throw new DuctorError('version_conflict', message, { details });
}
