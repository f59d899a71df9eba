/** What the expressions room promises to the others. No type of the CEL library stands here. */

/** Kind of value an expression may read or yield. Numbers out of JSON are `double`. */
export type CelType =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'null'
  | { readonly list: CelType }
  | { readonly map: CelType }
  | {
      readonly object: Readonly<Record<string, CelType>>;
      /** Whether fields that are not declared may be read (as `dyn`). Default: no, they are compile errors. */
      readonly open?: boolean;
    };

/** Names an expression may use, with their types. Two schemas with the same id must be the same schema (cache key). */
export interface CelSchema {
  readonly id: string;
  readonly variables: Readonly<Record<string, CelType>>;
}

/** One path an expression reads, `['steps','score','output','amount']`; ends where a computed key begins. */
export type CelReference = readonly string[];

/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Steps that several evaluations may take together; each takes what it needed off, and fails when nothing is left. */
export interface CelBudget {
  left: number;
}

/** A compiled and checked expression. */
export interface CelExpression {
  readonly text: string;
  /** As checked; `dyn` when unknown before the values are. */
  readonly resultType: CelType;
  /** Every path of the scope that it may read, without doubles, in order of appearance. */
  readonly references: readonly CelReference[];
  /**
   * Evaluates on plain data: what JSON.parse gives, and Date for timestamps. The scope is read in place, never copied,
   * never changed. The result may hold bigint (int), Date and other rich values: toJsonValue makes JSON of them.
   * @param budget shared by several evaluations; default: one of its own, of 10^6 steps, which bounds each in any case
   * @throws DuctorError `expression_failed`, `expression_too_costly`; their text never holds data of the scope
   */
  evaluate(scope: Readonly<Record<string, unknown>>, budget?: CelBudget): unknown;
}

/** One thing wrong with an expression. */
export interface CelProblem {
  /** Line and column count from 1, offset from 0, in UTF-16 units of the text. */
  readonly position: { readonly line: number; readonly column: number; readonly offset: number };
  readonly problem: string;
  readonly remedy: string;
}

/** Compiles, checks and caches expressions. */
export interface CelCompiler {
  /**
   * @param expected type the result must have; `dyn` and absent take anything
   * @throws DuctorError `expression_invalid`, `expression_too_costly`, with the position in the text of details[0]
   */
  compile(text: string, schema: CelSchema, expected?: CelType): CelExpression;
  /** Everything wrong with an expression; empty when it compiles. */
  check(text: string, schema: CelSchema, expected?: CelType): readonly CelProblem[];
}
