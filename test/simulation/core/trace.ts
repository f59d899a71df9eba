/** What happened, one line each: hashed as a whole, its end kept for people. */
import { createHash } from 'node:crypto';

const KEPT_LINES = 80;

/** Virtual time as seconds. */
function stamp(atUs: number): string {
  return (atUs / 1_000_000).toFixed(6).padStart(11);
}

/** The trace of one seed. */
export class Trace {
  readonly #hash = createHash('sha256');
  readonly #tail: string[] = [];
  #pending = '';

  /** @param print told of each line; null: nobody */
  constructor(readonly print: ((line: string) => void) | null = null) {}

  /** Adds a line. */
  line(atUs: number, who: string, what: string): void {
    const line = `${stamp(atUs)} ${who.padEnd(4)} ${what}`;
    this.#pending += `${line}\n`;
    if (this.#pending.length > 16_384) this.#flush();
    this.#tail.push(line);
    if (this.#tail.length > KEPT_LINES * 2) this.#tail.splice(0, KEPT_LINES);
    this.print?.(line);
  }

  /** The last lines. */
  tail(): readonly string[] {
    return this.#tail.slice(-KEPT_LINES);
  }

  /** SHA-256 of all lines; ends the trace. */
  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#pending);
    this.#pending = '';
  }
}
