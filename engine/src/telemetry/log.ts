/** Logs: pino, one JSON line each. Rooms get a `Log`, never pino itself. */
import { pino } from 'pino';

/** Level of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Writes lines. Fields must be plain data; a Secret prints as [secret]. */
export interface Log {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** A log whose lines all carry these fields. */
  with(fields: Readonly<Record<string, unknown>>): Log;
}

/** Where and how much is logged. */
export interface LogOptions {
  /** Lines below it are dropped. Default "info". */
  readonly level?: LogLevel | 'silent';
  /** Takes each line; default: standard error, without buffering, so that a crash loses nothing. */
  readonly write?: (line: string) => void;
}

/** A log. Errors in the field `err` are written with stack and causes. */
export function createLog(options: LogOptions = {}): Log {
  const settings = { level: options.level ?? 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const { write } = options;
  return wrap(pino(settings, write === undefined ? pino.destination({ dest: 2, sync: true }) : { write }));
}

function wrap(logger: pino.Logger): Log {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    with: (fields) => wrap(logger.child(fields)),
  };
}
