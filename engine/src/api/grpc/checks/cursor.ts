/** Cursors: where a list goes on, opaque to callers. They hold a position, no right: the tenant is the key's. */
import { DuctorError, isUuid } from '../../../kernel/index.js';

/** A cursor of these parts; none may hold a comma. */
export function encodeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(parts.join(','), 'utf8').toString('base64url');
}

/** The cursor is not one of this list. */
export function badCursor(value: string): DuctorError {
  const problem = 'is not a cursor of this list';
  const details = [
    { path: 'pagination.cursor', value: value.slice(0, 200), problem, remedy: 'send next_cursor as it came' },
  ];
  return new DuctorError('invalid_argument', `pagination.cursor ${problem}`, { details });
}

/** The parts of a cursor. Throws invalid_argument unless there are as many as wanted. */
export function decodeCursor(cursor: string, count: number): readonly string[] {
  const parts = Buffer.from(cursor, 'base64url').toString('utf8').split(',');
  if (parts.length !== count || encodeCursor(parts) !== cursor) throw badCursor(cursor);
  return parts;
}

/** A part that is a whole number from 0. Throws invalid_argument. */
export function cursorNumber(part: string | undefined, cursor: string): number {
  const number = Number(part);
  if (part === undefined || !/^\d{1,16}$/.test(part) || !Number.isSafeInteger(number)) throw badCursor(cursor);
  return number;
}

/** The parts of a cursor that names a moment, microseconds since 1970, and an id. Throws invalid_argument. */
export function momentCursor(cursor: string): { readonly atUs: number; readonly id: string } {
  const [at, id = ''] = decodeCursor(cursor, 2);
  if (!isUuid(id)) throw badCursor(cursor);
  return { atUs: cursorNumber(at, cursor), id };
}
