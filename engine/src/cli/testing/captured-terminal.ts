/** A terminal whose both outputs are kept. */
import type { Terminal } from '../output/terminal.js';

/** What was written so far. */
export interface CapturedTerminal extends Terminal {
  readonly written: () => string;
  readonly complained: () => string;
}

/** A terminal of 100 columns; by default nobody looks on, without colours, in Unicode. */
export function capturedTerminal(
  options: Partial<Pick<Terminal, 'isLive' | 'hasColour' | 'isUnicode'>> & { readonly columns?: number } = {},
): CapturedTerminal {
  let out = '';
  let err = '';
  return {
    isLive: options.isLive ?? false,
    hasColour: options.hasColour ?? false,
    isUnicode: options.isUnicode ?? true,
    columns: () => options.columns ?? 100,
    rows: () => 0,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    written: () => out,
    complained: () => err,
  };
}
