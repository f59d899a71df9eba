/** Where a command writes, and what it may assume of who reads. */

type Env = Readonly<Record<string, string | undefined>>;

/** Both outputs of a command. Lines are written whole. */
export interface Terminal {
  /** A person watches: progress may be redrawn in place. */
  readonly isLive: boolean;
  /** Colours are welcome. */
  readonly hasColour: boolean;
  /** Box characters and marks beyond ASCII are shown. */
  readonly isUnicode: boolean;
  /** Columns; 100 where nobody says. */
  columns(): number;
  /** Lines that are seen at once; 0: unknown. */
  rows(): number;
  /** Results. */
  out(text: string): void;
  /** What went wrong, and progress that is no result. */
  err(text: string): void;
}

/** A stream that may be a terminal. */
type Output = Pick<NodeJS.WriteStream, 'write'> & Partial<Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>>;

const DEFAULT_COLUMNS = 100;
const UTF8 = /utf-?8/i;

/** NO_COLOR (any text but an empty one) and TERM=dumb switch colours off, FORCE_COLOR switches them on. */
function wantsColour(env: Env, isTty: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  if ((env['FORCE_COLOR'] ?? '') !== '') return env['FORCE_COLOR'] !== '0';
  return isTty && env['TERM'] !== 'dumb';
}

/** By the locale; Windows Terminal names itself. */
function speaksUnicode(env: Env): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((text) => text !== undefined && text !== '') ?? '';
  return UTF8.test(locale) || (env['WT_SESSION'] ?? '') !== '';
}

/**
 * The terminal of a process.
 *
 * @param env LC_ALL, LC_CTYPE, LANG, NO_COLOR, FORCE_COLOR, TERM and COLUMNS are read
 */
export function processTerminal(env: Env, stdout: Output = process.stdout, stderr: Output = process.stderr): Terminal {
  const isTty = stdout.isTTY === true;
  const told = Number(env['COLUMNS']);
  return {
    isLive: isTty && env['TERM'] !== 'dumb',
    hasColour: wantsColour(env, isTty),
    isUnicode: speaksUnicode(env),
    columns: () => stdout.columns ?? (Number.isInteger(told) && told > 0 ? told : DEFAULT_COLUMNS),
    rows: () => stdout.rows ?? 0,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
  };
}
