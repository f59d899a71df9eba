/** A text that must not be printed: passwords, keys, connection strings. */
import { inspect } from 'node:util';

const MASK = '[secret]';

/** Holds a secret. However it is printed, logged, stringified or spread, it shows [secret]; reveal() gives it away. */
export class Secret {
  readonly #text: string;

  /** @param text what to hide */
  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Call it where it is used, never before. */
  reveal(): string {
    return this.#text;
  }

  /** [secret] */
  toString(): string {
    return MASK;
  }

  /** [secret] */
  toJSON(): string {
    return MASK;
  }

  /** [secret] */
  [inspect.custom](): string {
    return MASK;
  }
}
