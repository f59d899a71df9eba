/**
 * Which shards this node owns, and what it may do with them.
 *
 * A shard is: foreign -> gained (owned, its attempts not yet compared with what workers hold) -> settled
 *             gained | settled -> draining (owned, no new ticks, to be given away) -> foreign | gained
 * Invariants:
 * 1. Only the view of a heartbeat makes a shard gained or foreign; what claim, takeOver and handOver answer is not
 *    believed, because their answers may be lost or come late.
 * 2. Ticks and starts happen only on shards that are gained or settled.
 * 3. A draining shard stays so until a heartbeat that was sent after its hand-over ended has told who owns it.
 */

type ShardState = 'gained' | 'settled' | 'draining';

/** The shards of one incarnation. */
export class ShardSet {
  readonly #states = new Map<number, ShardState>();
  /** Number of the first heartbeat whose view tells the truth about a shard that was given away. */
  readonly #truthFromBeat = new Map<number, number>();
  /** All shards of `#states`, ascending. */
  #owned: readonly number[] = [];
  #ticking: readonly number[] = [];
  #turn = 0;

  /** Whether this node may tick runs of the shard. */
  ticks(shard: number): boolean {
    const state = this.#states.get(shard);
    return state === 'gained' || state === 'settled';
  }

  /** Whether un-noted attempts of the shard may be sent again. */
  isSettled(shard: number): boolean {
    return this.#states.get(shard) === 'settled';
  }

  /** Shards this node may tick, ascending. */
  ticking(): readonly number[] {
    return this.#ticking;
  }

  /** Shards this node owns, also those it is giving away, ascending. */
  owned(): readonly number[] {
    return this.#owned;
  }

  /** The next shard for a start, in turn; undefined when none may tick. */
  nextForStart(): number | undefined {
    this.#turn += 1;
    return this.#ticking[this.#turn % this.#ticking.length];
  }

  /**
   * Takes over what a heartbeat saw.
   *
   * @param seen shards the view says this node owns
   * @param beat number of that heartbeat
   */
  follow(
    seen: readonly number[],
    beat: number,
  ): { readonly gained: readonly number[]; readonly lost: readonly number[] } {
    if (this.#isAsBefore(seen)) return { gained: [], lost: [] };
    const now = new Set(seen);
    const gained: number[] = [];
    const lost: number[] = [];
    for (const shard of this.owned()) {
      const from = this.#truthFromBeat.get(shard);
      const draining = this.#states.get(shard) === 'draining';
      if (draining && (from === undefined || beat < from)) continue;
      if (draining || !now.has(shard)) {
        this.#states.delete(shard);
        this.#truthFromBeat.delete(shard);
        if (!draining) lost.push(shard);
      }
    }
    for (const shard of [...now].sort((a, b) => a - b)) {
      if (this.#states.has(shard)) continue;
      this.#states.set(shard, 'gained');
      gained.push(shard);
    }
    this.#refresh();
    return { gained, lost };
  }

  /** The attempts of these shards have been compared with what workers hold. */
  settle(shards: readonly number[]): void {
    for (const shard of shards) if (this.#states.get(shard) === 'gained') this.#states.set(shard, 'settled');
  }

  /** No new ticks of these shards. */
  drain(shards: readonly number[]): void {
    for (const shard of shards) if (this.#states.has(shard)) this.#states.set(shard, 'draining');
    this.#refresh();
  }

  /** The hand-over of these shards ended, well or not: heartbeats from this number on know who owns them. */
  handedOver(shards: readonly number[], truthFromBeat: number): void {
    for (const shard of shards) this.#truthFromBeat.set(shard, truthFromBeat);
  }

  /** Forgets all; returns what was owned. */
  clear(): readonly number[] {
    const owned = this.#owned;
    this.#states.clear();
    this.#truthFromBeat.clear();
    this.#refresh();
    return owned;
  }

  /** Nothing is being given away, and the view names what is owned: so it is with nearly every heartbeat. */
  #isAsBefore(seen: readonly number[]): boolean {
    const owned = this.#owned;
    if (seen.length !== owned.length || this.#ticking.length !== owned.length) return false;
    return seen.every((shard, index) => shard === owned[index]);
  }

  #refresh(): void {
    this.#owned = [...this.#states.keys()].sort((a, b) => a - b);
    this.#ticking = this.#owned.filter((shard) => this.ticks(shard));
  }
}
