/** Files to which processes append one JSON object a line. */
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import type { z } from 'zod';

/** All whole lines of the file, in order; none when it does not exist. A last line without its end is left out. */
export function readLines<S extends z.ZodType>(file: string, schema: S): z.output<S>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

const CHUNK_BYTES = 256 * 1024;

/** Reads what is new in a growing file, each line once. */
export class LineFollower<S extends z.ZodType> {
  readonly #file: string;
  readonly #schema: S;
  #readBytes = 0;
  #rest = '';

  constructor(file: string, schema: S) {
    this.#file = file;
    this.#schema = schema;
  }

  /** The whole lines since the last call. */
  next(): z.output<S>[] {
    const lines = `${this.#rest}${this.#newText()}`.split('\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => this.#schema.parse(JSON.parse(line)));
  }

  #newText(): string {
    if (!existsSync(this.#file)) return '';
    const handle = openSync(this.#file, 'r');
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let text = '';
    try {
      for (let size = -1; size !== 0;) {
        size = readSync(handle, chunk, 0, CHUNK_BYTES, this.#readBytes);
        this.#readBytes += size;
        // The files hold ASCII only: a chunk never ends within a character.
        text += chunk.toString('latin1', 0, size);
      }
    } finally {
      closeSync(handle);
    }
    return text;
  }
}
