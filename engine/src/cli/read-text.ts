/** Texts that arguments name: a file, or what is piped in. */
import { readFileSync } from 'node:fs';
import { DuctorError } from '../kernel/index.js';

const STANDARD_INPUT = 0;

/** The text of a file; `-` is standard input. Throws invalid_argument naming the file and what is wrong with it. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? STANDARD_INPUT : path, 'utf8');
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new DuctorError('invalid_argument', `${path} cannot be read: ${said}`, {
      remedy: 'Check the path.',
      cause,
    });
  }
}

/** A value given in place, or as `@file`, or as `-` for standard input. */
export function readArgument(text: string): { readonly text: string; readonly where: string } {
  if (text === '-') return { text: readText('-'), where: 'standard input' };
  if (!text.startsWith('@')) return { text, where: 'the argument' };
  return { text: readText(text.slice(1)), where: text.slice(1) };
}
