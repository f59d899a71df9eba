/** What is found wrong with an expression before it runs. */
import type { CelProblem } from '../types.js';

/** One thing wrong, at an offset of the text. */
export interface Finding {
  /** Offset in UTF-16 units of the text. */
  readonly at: number;
  readonly problem: string;
  readonly remedy: string;
  /** Whether a limit was passed, rather than a rule of the language broken. */
  readonly isTooCostly?: boolean;
}

/** Carries a finding out of the parser. Not an Error: it never leaves the room, and needs no stack. */
export class SyntaxFailure {
  constructor(readonly finding: Finding) {}
}

/** Line and column (from 1) of an offset (from 0). */
export function positionOf(text: string, offset: number): CelProblem['position'] {
  const bounded = Math.max(0, Math.min(offset, text.length));
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < bounded; end = text.indexOf('\n', end + 1)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: bounded - start + 1, offset: bounded };
}

/** A finding as other rooms see it. */
export function toCelProblem(text: string, finding: Finding): CelProblem {
  return { position: positionOf(text, finding.at), problem: finding.problem, remedy: finding.remedy };
}
