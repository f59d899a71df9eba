import type { RunKey } from '../ports.js';

const MAX_STARTS = 50_000;

/** Runs started at this door lately: they exist, so that waiting for their end needs no look at the database first. */
export class RecentStarts {
  readonly #keys = new Set<string>();

  /** Remembers a start. */
  add({ tenantId, runId }: RunKey): void {
    this.#keys.add(tenantId + runId);
    if (this.#keys.size <= MAX_STARTS) return;
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest);
      return;
    }
  }

  /** Whether the run was started here lately. */
  has({ tenantId, runId }: RunKey): boolean {
    return this.#keys.has(tenantId + runId);
  }
}
