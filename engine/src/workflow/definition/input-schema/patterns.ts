/** Regular expressions of schemas: linear time, by RE2. */
import { RE2JS, RE2JSException } from 're2js';
import { refuse, type Keyword } from './keyword.js';

/**
 * Longest pattern. More than the 256 of CEL, because the patterns that zod writes for dates and times have up to 400;
 * the time to match stays linear in the text, and the text is bounded by the input's 2 MiB.
 */
const MAX_PATTERN = 512;

/** Compiles a pattern; undefined, with a problem, when it is none. */
export function compilePattern(keyword: Keyword, pattern: string): ((text: string) => boolean) | undefined {
  if (pattern.length > MAX_PATTERN) {
    return refuse(keyword, `is longer than ${MAX_PATTERN} characters`, 'Shorten the pattern.');
  }
  try {
    // JavaScript's \u00e4, \/ and (?<name>) are written otherwise in RE2.
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return (text) => compiled.matcher(text).find();
  } catch (caught) {
    if (!(caught instanceof RE2JSException) && !(caught instanceof RangeError)) throw caught;
    const remedy = 'Use RE2 syntax: no look-ahead, no look-behind, no back-references.';
    return refuse(keyword, 'is not a regular expression of linear time', remedy);
  }
}
