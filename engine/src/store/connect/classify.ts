/** What an error of the database means for the one who sent the statement. */
import { DuctorError, type ErrorCode } from '../../kernel/index.js';

/**
 * - serialization: 40001 or 40P01; the transaction did nothing, repeat it
 * - data: class 22, 23 or 54; the statement's own values are at fault, repeating it fails again
 * - lock: 55P03; a lock was not had in time, nothing was done
 * - timeout: 57014; the statement ran into its time limit or was cancelled, nothing was done
 * - unavailable: the server answered that it cannot work now (57P.., 53..); nothing was done
 * - unknown_outcome: no answer with an SQLSTATE; what was sent may or may not have been committed, or yet be
 * - statement: any other SQLSTATE; the statement is wrong
 * - none: not an error of the database
 */
export type ErrorClass =
  'serialization' | 'data' | 'lock' | 'timeout' | 'unavailable' | 'unknown_outcome' | 'statement' | 'none';

/** A classified error. */
export interface Classified {
  readonly class: ErrorClass;
  /** The five characters of the SQL standard; undefined when the server sent none. */
  readonly sqlState: string | undefined;
  /** Name of the violated constraint, if any. */
  readonly constraint: string | undefined;
}

/** SQLSTATEs with a meaning of their own. */
const BY_STATE: Readonly<Record<string, ErrorClass>> = {
  '25P03': 'unavailable',
  '40001': 'serialization',
  '40P01': 'serialization',
  '55P03': 'lock',
  '57014': 'timeout',
};

/** Classes of SQLSTATEs, by their first two characters. 08: the connection failed, 40003: completion unknown. */
const BY_CLASS: Readonly<Record<string, ErrorClass>> = {
  '08': 'unknown_outcome',
  '22': 'data',
  '23': 'data',
  '40': 'unknown_outcome',
  '53': 'unavailable',
  '54': 'data',
  '57': 'unavailable',
  '58': 'unavailable',
};

/** The code a caller sees. */
const CODES: Readonly<Record<Exclude<ErrorClass, 'none'>, ErrorCode>> = {
  serialization: 'database_unavailable',
  data: 'internal',
  lock: 'database_unavailable',
  timeout: 'database_unavailable',
  unavailable: 'database_unavailable',
  unknown_outcome: 'database_unavailable',
  statement: 'internal',
};

/** A text property of an unknown thing. */
function textOf(thing: object, name: 'code' | 'constraint' | 'severity'): string | undefined {
  const value: unknown = Reflect.get(thing, name);
  return typeof value === 'string' ? value : undefined;
}

/** Marks what query() wraps, so that an error without SQLSTATE is told from one that never met the database. */
class DatabaseFailure extends DuctorError {}

/** Class of what a statement threw, whether wrapped by query() or as node-postgres threw it. */
function classifyRaw(error: object): Classified {
  const code = textOf(error, 'code');
  // node's own codes (ECONNRESET, EPIPE) are longer than an SQLSTATE or come without the server's severity.
  const sqlState =
    code !== undefined && /^[0-9A-Z]{5}$/.test(code) && textOf(error, 'severity') !== undefined ? code : undefined;
  const found =
    sqlState === undefined ? 'unknown_outcome' : (BY_STATE[sqlState] ?? BY_CLASS[sqlState.slice(0, 2)] ?? 'statement');
  return { class: found, sqlState, constraint: textOf(error, 'constraint') };
}

/** Classifies anything caught from a Queryable. */
export function classify(caught: unknown): Classified {
  if (caught instanceof DatabaseFailure) {
    return typeof caught.cause === 'object' && caught.cause !== null
      ? classifyRaw(caught.cause)
      : { class: 'unknown_outcome', sqlState: undefined, constraint: undefined };
  }
  return { class: 'none', sqlState: undefined, constraint: undefined };
}

/**
 * What node-postgres threw as a DuctorError. The server's DETAIL stays in the cause: it quotes values.
 *
 * @param caught the error
 * @param what what was tried: the statement's name or "connect"
 */
export function databaseError(caught: unknown, what: string): DuctorError {
  // Our own parsers throw inside node-postgres.
  if (caught instanceof DuctorError) return caught;
  const cause = caught instanceof Error ? caught : new DuctorError('internal', String(caught));
  const { class: found, sqlState } = classifyRaw(cause);
  const code = found === 'none' ? 'internal' : CODES[found];
  const message = cause.message === '' ? cause.name : cause.message;
  return new DatabaseFailure(code, `${what}: ${message}${sqlState === undefined ? '' : ` (SQLSTATE ${sqlState})`}`, {
    cause,
  });
}
