/** JSON that is not parsed on its way: only its text is looked at, for what no other program could be given. */
import { isUtf8 } from 'node:buffer';
import type { Problem } from './errors/ductor-error.js';
import { fieldPath } from './json-limits.js';

/** One who sends thousands of such texts reads no more than these. */
const MAX_PROBLEMS = 10;
const HALF_PAIR = /\p{Surrogate}/u;

/** Escapes without which JSON in UTF-8 can hold neither NUL nor half of a surrogate pair. */
const SUSPECT = /\\u(?:0000|[dD])/;

function problemOf(text: string): readonly [problem: string, remedy: string] | undefined {
  if (text.includes('\0')) return ['holds a NUL character', 'remove it'];
  return HALF_PAIR.test(text) ? ['holds half of a surrogate pair', 'send whole characters'] : undefined;
}

/** Texts and keys within parsed JSON that hold NUL or half of a surrogate pair; any depth. */
function textProblems(value: unknown, path: string): readonly Problem[] {
  const problems: Problem[] = [];
  const left: (readonly [path: string, value: unknown])[] = [[path, value]];
  const look = (at: string, text: string): void => {
    const found = problemOf(text);
    if (found === undefined) return;
    const shown = text.slice(0, 200).replaceAll(/\0|\p{Surrogate}/gu, '\ufffd');
    problems.push({ path: at, value: shown, problem: found[0], remedy: found[1] });
  };
  for (let next = left.pop(); next !== undefined && problems.length < MAX_PROBLEMS; next = left.pop()) {
    const [at, node] = next;
    if (typeof node === 'string') look(at, node);
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, part] of Object.entries(node)) {
      const inside = Array.isArray(node) ? `${at}[${key}]` : fieldPath(at, key);
      look(inside, key);
      left.push([inside, part]);
    }
  }
  return problems;
}

/**
 * What is wrong with the text of JSON bytes; empty when nothing is, or when they are no JSON. Bytes without an escape
 * are not parsed: looking for one takes 0.7 ms a MiB.
 *
 * @param path where the value stands; default: it is the whole
 */
export function jsonTextProblems(data: Uint8Array, path = ''): readonly Problem[] {
  if (!isUtf8(data)) return [{ path, value: '', problem: 'is not UTF-8', remedy: 'encode it as UTF-8' }];
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (!bytes.includes('\\u')) return [];
  const text = bytes.toString('utf8');
  if (!SUSPECT.test(text)) return [];
  try {
    return textProblems(JSON.parse(text), path);
  } catch {
    return [];
  }
}
