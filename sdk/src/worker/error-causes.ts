/** What is behind an error: its cause, the cause of that, members of an AggregateError. */
import { inspect } from 'node:util';
import type { ErrorCause } from '../gen/ductor/v1/common.js';

/** As the engine takes them (engine/src/bridge/limits.ts). */
const CAUSES_MAX = 16;
const DEPTH_MAX = 8;
const NAME_CHARS_MAX = 128;
const MESSAGE_CHARS_MAX = 1_024;
const STACK_CHARS_MAX = 4_096;
/** Of all stacks together: a failure is kept in the journal for as long as its run. */
const STACKS_CHARS_MAX = 16_384;

interface Behind {
  readonly value: unknown;
  readonly isMember: boolean;
}

/** A property of whatever was thrown, as text; one that throws or is none is ''. */
function textOf(thing: object, name: 'name' | 'message' | 'stack', most: number): string {
  try {
    const value: unknown = Reflect.get(thing, name);
    return typeof value === 'string' ? value.slice(0, most) : '';
  } catch {
    return '';
  }
}

function behindOf(error: Error): readonly Behind[] {
  try {
    const members: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
    const own = error.cause === undefined ? [] : [{ value: error.cause, isMember: false }];
    return [...own, ...members.map((value) => ({ value, isMember: true }))];
  } catch {
    return [];
  }
}

/** What was thrown that is no error, in a few words. */
function wordsFor(value: unknown): string {
  try {
    return (typeof value === 'string' ? value : inspect(value, { depth: 1 })).slice(0, MESSAGE_CHARS_MAX);
  } catch {
    return 'something that cannot be shown';
  }
}

/** At most 16, none further than 8 away, each once; where there is no room for a stack it is left out. */
export function errorCauses(error: unknown): ErrorCause[] {
  const found: ErrorCause[] = [];
  const seen = new Set<unknown>([error]);
  let room = STACKS_CHARS_MAX;
  const note = (value: unknown, of: number, isMember: boolean): void => {
    if (!(value instanceof Error)) {
      found.push({ name: '', message: wordsFor(value), stack: '', of, isMember });
      return;
    }
    const stack = textOf(value, 'stack', Math.min(room, STACK_CHARS_MAX));
    room -= stack.length;
    const name = textOf(value, 'name', NAME_CHARS_MAX);
    found.push({ name, message: textOf(value, 'message', MESSAGE_CHARS_MAX), stack, of, isMember });
  };
  const walk = (at: unknown, of: number, depth: number): void => {
    if (!(at instanceof Error) || depth > DEPTH_MAX) return;
    for (const { value, isMember } of behindOf(at)) {
      if (found.length === CAUSES_MAX) return;
      if (seen.has(value)) continue;
      if (typeof value === 'object') seen.add(value);
      note(value, of, isMember);
      walk(value, found.length, depth + 1);
    }
  };
  walk(error, 0, 1);
  return found;
}
