/** Where compiled regular expressions are kept. */
import type { RE2JS } from 're2js';

/** Compiled patterns, by their text. */
export interface PatternCache {
  get(pattern: string): RE2JS | undefined;
  set(pattern: string, compiled: RE2JS): unknown;
}
