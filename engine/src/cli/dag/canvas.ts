/** A sheet of characters: lines that join where they belong together, texts over them. */
import type { Paint, Tone } from '../output/paint.js';
import { characters } from '../output/safe-text.js';

const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8];
/** Box characters by the arms they have. */
const BOXES = ' │││─┘┐┤─└┌├─┴┬┼';
const ASCII = ' |||-+++-+++-+++';

/** Where a line goes on from a cell. */
export interface Arms {
  readonly up?: boolean;
  readonly down?: boolean;
  readonly left?: boolean;
  readonly right?: boolean;
}

interface Cell {
  readonly char: string;
  readonly tone: Tone;
}

/** A sheet; rows and columns from 0. */
export class Canvas {
  readonly #arms = new Map<number, number[]>();
  readonly #texts = new Map<number, Map<number, Cell>>();
  #rows = 0;

  /** Adds arms to a cell. */
  join(row: number, column: number, { up, down, left, right }: Arms): void {
    const line = this.#arms.get(row) ?? [];
    const arms = (up ? UP : 0) | (down ? DOWN : 0) | (left ? LEFT : 0) | (right ? RIGHT : 0);
    line[column] = (line[column] ?? 0) | arms;
    this.#arms.set(row, line);
    this.#rows = Math.max(this.#rows, row + 1);
  }

  /** A cell's line that others pass behind: a vertical one. */
  pass(row: number, column: number): void {
    const line = this.#arms.get(row) ?? [];
    line[column] = UP | DOWN;
    this.#arms.set(row, line);
    this.#rows = Math.max(this.#rows, row + 1);
  }

  /** Writes a text over whatever is there. */
  write(row: number, column: number, text: string, tone: Tone): void {
    const line = this.#texts.get(row) ?? new Map<number, Cell>();
    for (const [index, char] of characters(text).entries()) line.set(column + index, { char, tone });
    this.#texts.set(row, line);
    this.#rows = Math.max(this.#rows, row + 1);
  }

  /** The lines, painted, without white space at their ends. */
  lines(isUnicode: boolean, paint: Paint): string[] {
    return Array.from({ length: this.#rows }, (_none, row) => this.#line(row, isUnicode ? BOXES : ASCII, paint));
  }

  #line(row: number, boxes: string, paint: Paint): string {
    const arms = this.#arms.get(row) ?? [];
    const texts = this.#texts.get(row) ?? new Map<number, Cell>();
    const width = Math.max(arms.length, ...[...texts.keys()].map((column) => column + 1));
    let line = '';
    let pending: Cell | undefined;
    const flush = (): void => {
      if (pending !== undefined) line += paint(pending.tone, pending.char);
      pending = undefined;
    };
    for (let column = 0; column < width; column += 1) {
      const { char, tone } = texts.get(column) ?? { char: boxes[arms[column] ?? 0] ?? ' ', tone: 'quiet' as const };
      if (pending !== undefined && pending.tone === tone) pending = { char: pending.char + char, tone };
      else {
        flush();
        pending = { char, tone };
      }
    }
    if (pending !== undefined) pending = { ...pending, char: pending.char.trimEnd() };
    flush();
    return line;
  }
}
