/** Hints that wait until they may go out: each once, in the order in which they were first said. */
import type { Hint } from './payloads.js';

/** Most hints that wait; beyond, new ones are dropped. Listeners look by themselves anyway. */
const MAX_HINTS = 5_000;
/** Hints that go out at once: the rest waits for the next time. */
const MAX_BATCH = 1_000;

/** Hints of this node. */
export class OutgoingHints {
  readonly #waiting = new Map<string, Hint>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(topic: string, body: string): void {
    if (this.#waiting.size >= MAX_HINTS) return;
    const hint: Hint = [topic, body];
    this.#waiting.set(JSON.stringify(hint), hint);
  }

  /** Takes the first ones, at most a thousand. */
  take(): readonly Hint[] {
    const taken = [...this.#waiting].slice(0, MAX_BATCH);
    for (const [key] of taken) this.#waiting.delete(key);
    return taken.map(([, hint]) => hint);
  }
}
