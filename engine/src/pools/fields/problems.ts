/** What a check found, in our own words: each problem names the field, the value that stands there and what to do. */
import type { z } from 'zod';
import { nearestName } from '../../expressions/index.js';
import { fieldPath, type Problem } from '../../kernel/index.js';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** `config.fallback[0].kind`: where an issue is, as the sender knows it. */
function pathText(path: Path): string {
  let text = '';
  for (const part of path) text = typeof part === 'number' ? `${text}[${part}]` : fieldPath(text, String(part));
  return text;
}

/** What stands at a path; undefined when nothing does. */
function valueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** A value as people read it, at most 200 characters. */
function valueText(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? typeof value);
  return text.slice(0, 200);
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

/** What was wanted instead of a value of the wrong type, with its article. */
function kindText(expected: string): string {
  return KINDS[expected] ?? `of type ${expected}`;
}

/** The unit a bound counts in. */
function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  if (origin === 'array' || origin === 'set') return ' items';
  return origin === 'object' || origin === 'record' ? ' keys' : '';
}

/** ` Did you mean "x"?`, or nothing. */
function hint(text: unknown, names: readonly string[]): string {
  const near = typeof text === 'string' ? nearestName(text, names) : undefined;
  return near === undefined ? '' : ` Did you mean ${JSON.stringify(near)}?`;
}

function wrongType(path: string, value: unknown, expected: string): Problem {
  if (value === undefined) return { path, value: '', problem: 'is missing', remedy: `Add it: ${kindText(expected)}.` };
  return {
    path,
    value: valueText(value),
    problem: `is not ${kindText(expected)}`,
    remedy: `Make it ${kindText(expected)}.`,
  };
}

function outOfBounds(path: string, value: unknown, bound: string, origin: string, isTooBig: boolean): Problem {
  const limit = `${isTooBig ? 'at most' : 'at least'} ${bound}${unitOf(origin)}`;
  return {
    path,
    value: valueText(value),
    problem: `is too ${isTooBig ? 'large' : 'small'}`,
    remedy: `Use ${limit}.`,
  };
}

/** Remedy of a custom issue, which our own checks put into its params. */
function remedyOf(params: Readonly<Record<string, unknown>> | undefined): string {
  const remedy = params?.['remedy'];
  return typeof remedy === 'string' ? remedy : 'Mend it.';
}

/** The problems one issue stands for: an object with three unknown keys has three. */
function translate(issue: Issue, input: unknown, known: readonly string[]): Problem[] {
  const path = pathText(issue.path);
  const value = valueAt(input, issue.path);
  switch (issue.code) {
    case 'invalid_type':
      return [wrongType(path, value, issue.expected)];
    case 'too_big':
      return [outOfBounds(path, value, String(issue.maximum), issue.origin, true)];
    case 'too_small':
      return [outOfBounds(path, value, String(issue.minimum), issue.origin, false)];
    case 'invalid_value': {
      const values = issue.values.map((each) => String(each));
      if (value === undefined) return [wrongType(path, value, 'string')];
      const remedy = `Use one of ${values.join(', ')}.${hint(value, values)}`;
      return [{ path, value: valueText(value), problem: 'is not one of its values', remedy }];
    }
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: fieldPath(path, key),
        value: valueText(valueAt(input, [...issue.path, key])),
        problem: 'is not a field',
        remedy: `Remove it.${hint(key, known)}`,
      }));
    case 'custom':
      return [{ path, value: valueText(value), problem: issue.message, remedy: remedyOf(issue.params) }];
    case 'invalid_key':
      return [{ path, value: valueText(value), problem: 'is no key it may have', remedy: 'Rename the key.' }];
    default:
      return [{ path, value: valueText(value), problem: issue.message, remedy: 'Mend it.' }];
  }
}

/**
 * Problems of a failed check, in the order in which they were found.
 *
 * @param input what was checked; values are quoted from it, shortened to 200 characters
 * @param known names of fields, for hints on misspelt ones
 */
export function problemsOf(error: z.core.$ZodError, input: unknown, known: readonly string[]): Problem[] {
  return error.issues.flatMap((issue) => translate(issue, input, known));
}
