/** Collects what is wrong with the fields of a request, so that the caller hears of all of it at once. */
import type { Pagination } from '../../../gen/ductor/v1/common.js';
import { DuctorError, isUuid, type Problem } from '../../../kernel/index.js';

const HALF_PAIR = /\p{Surrogate}/u;
/** Longest slug, idempotency key and other identifiers, characters. */
export const MAX_IDENTIFIER_CHARS = 128;
/** Longest reason of what somebody does to runs, pools and whole topologies, characters. */
export const MAX_REASON_CHARS = 4_096;
/** Items of a page when the request does not say. */
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;
const MAX_CURSOR_CHARS = 256;

/** What was found, short enough to send back and well formed. */
function shown(value: string): string {
  return value
    .slice(0, 200)
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '\ufffd');
}

/** Checks fields. Each check answers whether the field is fine. */
export class FieldChecks {
  readonly #problems: Problem[] = [];

  /** Notes a problem. */
  note(path: string, value: string, problem: string, remedy: string): false {
    this.#problems.push({ path, value: shown(value), problem, remedy });
    return false;
  }

  /** An id: a UUID in lower case. */
  uuid(path: string, value: string): boolean {
    if (isUuid(value)) return true;
    return this.note(path, value, 'is not a UUID in lower case', 'send the id as the engine gave it');
  }

  /** A text within bounds, without NUL and halves of surrogate pairs. */
  text(path: string, value: string, maxChars: number): boolean {
    if (value.length > maxChars) {
      return this.note(path, value, `has ${value.length} characters, at most ${maxChars} are allowed`, 'shorten it');
    }
    if (value.includes('\0')) return this.note(path, value, 'holds a NUL character', 'remove it');
    if (HALF_PAIR.test(value)) return this.note(path, value, 'holds half of a surrogate pair', 'send whole characters');
    return true;
  }

  /** A text as above that is not empty. */
  required(path: string, value: string, maxChars = MAX_IDENTIFIER_CHARS): boolean {
    if (value === '') return this.note(path, value, 'is missing', 'name it');
    return this.text(path, value, maxChars);
  }

  /** A count within bounds. */
  count(path: string, value: number, min: number, max: number): boolean {
    if (value >= min && value <= max) return true;
    return this.note(path, String(value), `must be ${min} to ${max}`, 'stay within the bounds');
  }

  /** The page size to use. */
  pageSize(path: string, value: number): number {
    this.count(path, value, 0, MAX_PAGE_SIZE);
    return value === 0 ? DEFAULT_PAGE_SIZE : value;
  }

  /** Checks where a page of a list begins and how long it is; 0 is the default length. */
  page(pagination: Pagination | undefined): { readonly limit: number; readonly cursor: string } {
    const limit = this.pageSize('pagination.page_size', pagination?.pageSize ?? 0);
    const cursor = pagination?.cursor ?? '';
    this.text('pagination.cursor', cursor, MAX_CURSOR_CHARS);
    return { limit, cursor };
  }

  /** Adds problems found elsewhere. */
  add(problems: readonly Problem[]): void {
    this.#problems.push(...problems);
  }

  /** Throws invalid_argument when anything is wrong. */
  done(): void {
    const [first] = this.#problems;
    if (first === undefined) return;
    const more = this.#problems.length > 1 ? ` and ${this.#problems.length - 1} more problems` : '';
    throw new DuctorError('invalid_argument', `${first.path}: ${first.problem}${more}`, {
      details: this.#problems,
      remedy: first.remedy,
    });
  }
}

/** Checks the one id that a request names. Throws invalid_argument. */
export function checkId(path: string, id: string): void {
  const checks = new FieldChecks();
  checks.uuid(path, id);
  checks.done();
}
