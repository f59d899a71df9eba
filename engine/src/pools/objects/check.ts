/** Creating and partly updating objects: one check for both, so that no update gets in what a creation would not. */
import type { z } from 'zod';
import { DuctorError, type Problem } from '../../kernel/index.js';
import { problemsOf } from '../fields/problems.js';
import { CONFLICT } from './pool-config.js';

/** How objects of one kind are checked. */
export interface ObjectCheck<Fields> {
  /**
   * The fields of a new object in the form in which they are kept.
   * @throws DuctorError `invalid_argument`, `strategy_conflict`; details name each field, its value and the remedy
   */
  create(input: unknown): Fields;
  /**
   * The fields after a partial update (RFC 7396): objects merge by key, lists are replaced, null clears. What the patch
   * does not name stays as it is, byte for byte.
   * @throws DuctorError as create does; also for a field that was fine before, when the update makes it wrong
   */
  update(current: Fields, patch: unknown): Fields;
}

/** What is checked. */
interface CheckedObject<Fields> {
  readonly noun: string;
  readonly schema: z.ZodType<Fields>;
  /** Names of fields, for hints. */
  readonly names: readonly string[];
}

/** Most problems that one answer lists. */
const MAX_PROBLEMS = 50;

/** Checks an object. */
export function check<Fields>(object: CheckedObject<Fields>, input: unknown): Fields {
  const result = object.schema.safeParse(input);
  if (result.success) return result.data;
  throw refusal(object.noun, problemsOf(result.error, input, object.names).slice(0, MAX_PROBLEMS));
}

function refusal(noun: string, details: readonly Problem[]): DuctorError {
  const [first] = details;
  const isConflict = details.some(({ problem }) => problem === CONFLICT);
  const message = `${noun}: ${first?.path ?? ''} ${first?.problem ?? 'is invalid'}`;
  return new DuctorError(isConflict ? 'strategy_conflict' : 'invalid_argument', message, {
    details,
    ...(first === undefined ? {} : { remedy: first.remedy }),
  });
}

/** Checks what an object would be after a partial update. */
export function checkUpdate<Fields>(object: CheckedObject<Fields>, current: Fields, patch: unknown): Fields {
  return check(object, mergePatch(current, patch));
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON Merge Patch of RFC 7396. Keys of the patch are own keys only, whatever they are called. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  const merged = new Map<string, unknown>(isPlainObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
