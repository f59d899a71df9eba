/** Tables: a line a row, columns wide enough for what they hold, the last one cut where the terminal ends. */
import type { Tone } from './paint.js';
import { painter } from './paint.js';
import { characters, cut, oneLine } from './safe-text.js';
import type { Terminal } from './terminal.js';

/** A cell: its text, or text with a tone. */
export type Cell = string | { readonly text: string; readonly tone: Tone };

const GAP = '  ';
/** A last column narrower than this is not cut: a long line reads better than three letters. */
const LEAST_LAST_CHARS = 20;

const textOf = (cell: Cell): string => oneLine(typeof cell === 'string' ? cell : cell.text);
const toneOf = (cell: Cell): Tone => (typeof cell === 'string' ? 'plain' : cell.tone);
const widthOf = (text: string): number => characters(text).length;

/**
 * The lines of a table, each with its line break.
 *
 * @param header names of the columns
 * @param rows cells by column; missing ones are empty
 */
export function table(
  terminal: Pick<Terminal, 'columns' | 'hasColour' | 'isLive' | 'isUnicode'>,
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
): string {
  const paint = painter(terminal);
  const widths = header.map((name, column) =>
    Math.max(widthOf(name), ...rows.map((row) => widthOf(textOf(row[column] ?? '')))),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const lastRoom = Math.max(LEAST_LAST_CHARS, terminal.columns() - before);
  const line = (cells: readonly Cell[], tone?: Tone): string => {
    const parts = header.map((_name, column) => {
      const cell = cells[column] ?? '';
      const isLast = column === header.length - 1;
      // Only where a person looks on: what a script reads must be whole.
      const ellipsis = terminal.isUnicode ? '…' : '...';
      const text = isLast && terminal.isLive ? cut(textOf(cell), lastRoom, ellipsis) : textOf(cell);
      const padding = isLast ? '' : ' '.repeat((widths[column] ?? 0) - widthOf(text));
      return paint(tone ?? toneOf(cell), text) + padding;
    });
    return `${parts.join(GAP).trimEnd()}\n`;
  };
  return [line(header, 'quiet'), ...rows.map((row) => line(row))].join('');
}
