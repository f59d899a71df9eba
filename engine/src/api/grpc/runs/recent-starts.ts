import { LRUCache } from 'lru-cache';
import type { RunKey } from '../ports.js';

const MAX_STARTS = 50_000;

/**
 * Runs started at this door lately: they exist, and their end is told here, so that waiting for it needs no look at the
 * database first. What was started under another node id is none of them: once this node was fenced, others may have
 * ended its runs unheard.
 *
 * Not a Set whose first key is deleted when it is full: finding that key walks over all that were deleted before it,
 * 13 us a start at this size where the cache takes 0.7.
 */
export class RecentStarts {
  readonly #keys = new LRUCache<string, string>({ max: MAX_STARTS });
  readonly #nodeId: () => string | null;

  /** @param nodeId under which this node owns shards now; null: under none */
  constructor(nodeId: () => string | null) {
    this.#nodeId = nodeId;
  }

  /** Remembers a start. */
  add({ tenantId, runId }: RunKey): void {
    const nodeId = this.#nodeId();
    if (nodeId !== null) this.#keys.set(tenantId + runId, nodeId);
  }

  /** Whether the run was started here lately, under the node id of now. */
  has({ tenantId, runId }: RunKey): boolean {
    const nodeId = this.#keys.get(tenantId + runId);
    return nodeId !== undefined && nodeId === this.#nodeId();
  }
}
