/** The error that a step body threw, put together again from what the engine kept of it. */
import type { FailureView } from './run-view.js';

/** Stands for an error of another process, whose class is not known here. */
class BodyError extends Error {}

/** An error with the name and stack of another one, of another process. */
function like(name: string, message: string, stack: string, cause: unknown, members: readonly Error[]): Error {
  const options = cause === undefined ? undefined : { cause };
  const error = members.length === 0 ? new BodyError(message, options) : new AggregateError(members, message, options);
  if (name !== '') Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  error.stack = stack === '' ? `${name === '' ? 'Error' : name}: ${message}` : stack;
  return error;
}

/**
 * An Error (an AggregateError where it had members) with its name, message and stack, and its causes behind it. The
 * classes of the body's process are not known here: tell errors by their names.
 */
export function thrownError({ code, message, stack, causes }: FailureView): Error {
  const build = (of: number): { readonly cause: unknown; readonly members: readonly Error[] } => {
    const own = causes.flatMap((each, index) =>
      each.of === of ? [{ isMember: each.isMember, error: rebuilt(index) }] : [],
    );
    return {
      cause: own.find(({ isMember }) => !isMember)?.error,
      members: own.filter(({ isMember }) => isMember).map(({ error }) => error),
    };
  };
  const rebuilt = (index: number): Error => {
    const { name = '', message: text = '', stack: at = '' } = causes[index] ?? {};
    // An error stands before its own causes, so that this ends.
    const { cause, members } = build(index + 1);
    return like(name, text, at, cause, members);
  };
  const { cause, members } = build(0);
  return like(code, message, stack, cause, members);
}
