/** How a keyword of JSON Schema is compiled. */
import type { ProblemSink } from '../checking/problems.js';
import type { JsonObject } from '../checking/shape.js';
import type { Json } from '../definition.js';
import type { Check } from './check.js';

/** What keywords are compiled with. */
export interface SchemaContext {
  readonly problems: ProblemSink;
  /** Compiles a schema inside this one. */
  readonly schema: (path: string, value: Json) => Check;
  /** The schema that a `$ref` names; undefined, with a problem, when there is none. */
  readonly reference: (path: string, pointer: string) => Check | undefined;
}

/** One keyword in one schema. */
export interface Keyword {
  readonly context: SchemaContext;
  /** Path of the keyword itself. */
  readonly path: string;
  readonly value: Json;
  /** The schema it stands in. */
  readonly siblings: JsonObject;
}

/** Compiles a keyword; undefined when it asserts nothing by itself, or was refused with a problem. */
export type KeywordCompiler = (keyword: Keyword) => Check | undefined;

/** Refuses a keyword's value. */
export function refuse({ context, path, value }: Keyword, problem: string, remedy: string): undefined {
  context.problems.add(path, value, problem, remedy);
}

/** The value as a whole number, 0 or more; undefined, with a problem, otherwise. */
export function countOf(keyword: Keyword): number | undefined {
  const { value } = keyword;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  return refuse(keyword, 'is not a whole number from 0', 'Use a whole number, 0 or more.');
}

/** The value as a number; undefined, with a problem, otherwise. */
export function numberOf(keyword: Keyword): number | undefined {
  if (typeof keyword.value === 'number') return keyword.value;
  return refuse(keyword, 'is not a number', 'Use a number.');
}

/** The value as a list of texts; undefined, with a problem, otherwise. */
export function textsOf(keyword: Keyword): readonly string[] | undefined {
  const { value } = keyword;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  return refuse(keyword, 'is not a list of strings', 'Use a list of names, such as ["id"].');
}
