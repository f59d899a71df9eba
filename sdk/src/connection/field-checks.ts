/**
 * Collects what is wrong with the fields of a request before it is sent: only what the wire would lose or cannot say.
 * Bounds and meaning are the engine's to judge. Paths are those of the contract, as the engine names them.
 */
import { DuctorError, type Problem } from '../errors.js';

const HALF_PAIR = /\p{Surrogate}/u;
const SHOWN_CHARS = 200;
const UINT32_MAX = 2 ** 32 - 1;

/** What kind of value something is, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A value as errors show it: short and well formed. */
export function shown(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? kindOf(value) : String(value);
  return text
    .slice(0, SHOWN_CHARS)
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll('\0', '\ufffd');
}

/** Whether a text has halves of surrogate pairs, which UTF-8 cannot hold. */
export const hasHalfPair = (text: string): boolean => HALF_PAIR.test(text);

/** The refusal of a request with these problems, of which there is at least one. */
export function refusal(code: string, what: string, problems: readonly Problem[]): DuctorError {
  const [first] = problems;
  const more = problems.length > 1 ? ` and ${problems.length - 1} more` : '';
  return new DuctorError(code, `${what}: ${first?.path ?? ''} ${first?.problem ?? ''}${more}`, {
    details: problems,
    remedy: first?.remedy ?? '',
  });
}

/**
 * Options of these names and no others. Throws DuctorError invalid_argument.
 *
 * @param what names the request in errors
 */
export function checkNames(what: string, options: object, known: Readonly<Record<string, unknown>>): void {
  const checks = new FieldChecks(what);
  checks.names(options, known);
  checks.done();
}

/** Checks fields one by one. */
export class FieldChecks {
  readonly #what: string;
  readonly #problems: Problem[] = [];

  /** @param what names the request in errors: "list of runs" */
  constructor(what: string) {
    this.#what = what;
  }

  /** Notes a problem. */
  note(path: string, value: unknown, problem: string, remedy: string): void {
    this.#problems.push({ path, value: shown(value), problem, remedy });
  }

  /** Options of these names and no others: one that is misspelt would have no effect. */
  names(options: object, known: Readonly<Record<string, unknown>>): void {
    for (const name of Object.keys(options)) {
      if (!Object.hasOwn(known, name))
        this.note(name, name, 'is no option', `use one of ${Object.keys(known).join(', ')}`);
    }
  }

  /** A text that UTF-8 can hold. */
  text(path: string, value: unknown): void {
    if (typeof value !== 'string') this.note(path, value, `is ${kindOf(value)}, not a string`, 'pass a string');
    else if (hasHalfPair(value)) this.note(path, value, 'holds half of a surrogate pair', 'send whole characters');
  }

  /** A text that names something: not empty. */
  name(path: string, value: unknown, remedy = 'give a text'): value is string {
    if (typeof value === 'string' && value !== '') return true;
    this.note(path, value, `is ${value === '' ? 'empty' : kindOf(value)}`, remedy);
    return false;
  }

  /** A whole number that 32 bits can hold. */
  whole(path: string, value: unknown): void {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= UINT32_MAX) return;
    this.note(path, value, 'is not a whole number from 0 to 4294967295', 'pass one, or leave it out');
  }

  /** A valid Date. */
  time(path: string, value: unknown): void {
    if (value instanceof Date && !Number.isNaN(value.getTime())) return;
    this.note(path, value, 'is not a valid Date', 'pass a Date such as new Date("2026-01-31T00:00:00Z")');
  }

  /** An object of texts. */
  texts(path: string, value: unknown): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.note(path, value, `is ${kindOf(value)}, not an object of strings`, 'pass { name: "value" }');
    for (const [name, text] of Object.entries(value)) {
      if (name === '__proto__') this.note(path, name, 'has the name __proto__', 'choose another name');
      if (hasHalfPair(name)) this.note(path, name, 'has half of a surrogate pair in a name', 'send whole characters');
      this.text(`${path}.${name}`, text);
    }
  }

  /** Throws DuctorError invalid_argument when anything is wrong. */
  done(): void {
    if (this.#problems.length > 0) throw refusal('invalid_argument', this.#what, this.#problems);
  }
}
