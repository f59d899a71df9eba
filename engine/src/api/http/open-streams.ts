/** Streams of answers over HTTP/1.1 that are under way: a node that stops ends them itself, so that nobody waits. */
import { DuctorError } from '../../kernel/index.js';

/** Ends a stream with whatever was caught. */
type End = (caught: unknown) => void;

/** The open ones. */
export class OpenStreams {
  readonly #ends = new Set<End>();

  /** Notes a stream. Returns how to forget it. */
  add(end: End): () => void {
    this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  /** Ends all of them: the caller may ask another node. */
  endAll(): void {
    for (const end of this.#ends) end(new DuctorError('node_starting', 'this node is stopping'));
    this.#ends.clear();
  }
}
