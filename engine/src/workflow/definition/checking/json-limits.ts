/** Whether a value is plain JSON of bearable size, before anything walks it. */
import type { Json } from '../definition.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { childPath, type ProblemSink } from './problems.js';

/** JSON of 1 MiB has at most half as many values as bytes; more means that values are shared many times. */
const MAX_VALUES = DEFINITION_LIMITS.bytes / 2;

interface Walk {
  readonly problems: ProblemSink;
  left: number;
}

function typeOf(value: unknown): string {
  return typeof value === 'object' ? 'an object with a class' : `of type ${typeof value}`;
}

/** Plain objects are those of JSON.parse and of literals, also from another realm (a test runner's, a vm's). */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isPlainScalar(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  return typeof value === 'number' && Number.isFinite(value);
}

/** Walks a value; answers false once it is not worth going on. */
function walk(state: Walk, value: unknown, path: string, depth: number): boolean {
  state.left -= 1;
  if (state.left < 0) {
    state.problems.add('', undefined, 'is larger than 1 MiB', 'Split the workflow, or load large data in a step.');
    return false;
  }
  if (isPlainScalar(value)) return true;
  if (typeof value !== 'object' || value === null || !(Array.isArray(value) || isPlain(value))) {
    const seen = typeof value === 'number' ? String(value) : undefined;
    const problem = typeof value === 'number' ? 'is not a finite number' : `is ${typeOf(value)}, not JSON`;
    state.problems.add(path, seen, problem, 'Use null, true, false, numbers, strings, lists and plain objects.');
    return true;
  }
  if (depth >= DEFINITION_LIMITS.depth) {
    const problem = `is nested more than ${DEFINITION_LIMITS.depth} deep`;
    state.problems.add(path, undefined, problem, 'Nest less.');
    return true;
  }
  const children: Iterable<[string | number, unknown]> = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, child] of children) {
    // A field that is undefined is absent, as JSON.stringify has it.
    if (child === undefined && typeof key === 'string') continue;
    if (!walk(state, child, childPath(path, key), depth + 1)) return false;
  }
  return true;
}

/** Whether the value is plain JSON within depth and size; says what is wrong otherwise. */
export function isBearableJson(value: unknown, problems: ProblemSink): value is Json {
  let isFine = true;
  const sink: ProblemSink = {
    add(path, seen, problem, remedy) {
      isFine = false;
      problems.add(path, seen, problem, remedy);
    },
  };
  walk({ problems: sink, left: MAX_VALUES }, value, '', 0);
  if (!isFine) return false;
  const bytes = Buffer.byteLength(JSON.stringify(value), 'utf8');
  if (bytes > DEFINITION_LIMITS.bytes) {
    sink.add(
      '',
      undefined,
      `is larger than 1 MiB (${bytes} bytes)`,
      'Split the workflow, or load large data in a step.',
    );
  }
  return isFine;
}
