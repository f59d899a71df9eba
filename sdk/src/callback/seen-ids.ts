/**
 * Ids of calls that were seen, each for as long as its timestamp would still be accepted.
 *
 * Invariant: an id is forgotten only when a call with it would be refused for its age.
 */

/** Most ids that are kept: what comes beyond them is refused, not forgotten. */
const MAX_IDS = 1_000_000;

/** Seen ids. */
export class SeenIds {
  readonly #untilMs = new Map<string, number>();

  /**
   * Notes an id. False: it was seen, or there is no room to note it.
   *
   * @param untilMs until when a call with it would be accepted
   */
  add(id: string, untilMs: number, nowMs: number): boolean {
    // In order of arrival, and times of arrival are at most a window apart: the first that must stay ends the look.
    for (const [old, until] of this.#untilMs) {
      if (until >= nowMs) break;
      this.#untilMs.delete(old);
    }
    if (this.#untilMs.has(id) || this.#untilMs.size >= MAX_IDS) return false;
    this.#untilMs.set(id, untilMs);
    return true;
  }
}
