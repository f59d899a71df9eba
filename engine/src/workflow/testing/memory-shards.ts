/** Who owns which shard, in memory. The answer is kept as long as nothing changes, because every heartbeat asks. */
import { SHARD_COUNT } from '../../kernel/index.js';

/** Shards by their owner, and those of nobody, each ascending. */
export interface Shares {
  readonly owned: ReadonlyMap<string, readonly number[]>;
  readonly unowned: readonly number[];
}

/** The table of owners. */
export class MemoryShards {
  readonly #owners: (string | null)[] = Array.from({ length: SHARD_COUNT }, () => null);
  #shares: Shares | null = null;

  /** Whoever the table names; null: nobody. The node may be gone. */
  ownerOf(shard: number): string | null {
    return this.#owners[shard] ?? null;
  }

  own(shards: readonly number[], nodeId: string): void {
    for (const shard of shards) this.#owners[shard] = nodeId;
    this.#shares = null;
  }

  /** A node came or went: what the table says of its shards is to be read anew. */
  nodesChanged(): void {
    this.#shares = null;
  }

  /** @param nodeIds all nodes there are */
  shares(nodeIds: Iterable<string>): Shares {
    if (this.#shares !== null) return this.#shares;
    const owned = new Map<string, number[]>();
    for (const nodeId of nodeIds) owned.set(nodeId, []);
    const unowned: number[] = [];
    for (const [shard, owner] of this.#owners.entries()) (owned.get(owner ?? '') ?? unowned).push(shard);
    this.#shares = { owned, unowned };
    return this.#shares;
  }

  /** Whether the table names the node anywhere. */
  hasAny(nodeId: string): boolean {
    return this.#owners.includes(nodeId);
  }
}
