/** A text that is drawn again where it stood. */
import type { Terminal } from './terminal.js';

const CLEAR_DOWN = '\u001b[J';
const up = (lines: number): string => (lines === 0 ? '' : `\u001b[${lines}A`);

/** A place on a live terminal. What is longer than the screen is cut at its upper end, or it could not be redrawn. */
export class Frame {
  readonly #terminal: Pick<Terminal, 'out' | 'rows'>;
  #lines = 0;

  constructor(terminal: Pick<Terminal, 'out' | 'rows'>) {
    this.#terminal = terminal;
  }

  /** Draws a text over the one before. */
  show(text: string): void {
    const rows = this.#terminal.rows();
    const lines = text.replace(/\n$/, '').split('\n');
    const shown = rows > 1 && lines.length > rows - 1 ? lines.slice(lines.length - (rows - 1)) : lines;
    this.#terminal.out(`${up(this.#lines)}\r${CLEAR_DOWN}${shown.join('\n')}\n`);
    this.#lines = shown.length;
  }
}
