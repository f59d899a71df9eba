/** Where the worker writes what people should know. */
import type { StepLogger } from '../workflow/step-context.js';

/** Level of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Takes one line; pass your own to createWorker to join your app's logs. */
export type LogSink = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void;

/** Writes info and above as one JSON object a line to standard error. */
export const consoleSink: LogSink = (level, message, fields) => {
  if (level === 'debug') return;
  process.stderr.write(`${JSON.stringify({ level, msg: message, ...fields })}\n`);
};

/** A logger for one step whose lines all carry these fields. */
export function stepLogger(sink: LogSink, fixed: Readonly<Record<string, unknown>>): StepLogger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      sink(level, message, { ...fixed, ...fields });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
