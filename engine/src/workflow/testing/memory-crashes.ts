/** What the tables know of runs that may end their engine, in memory. */
import type { RunKey } from '../coordinator/ports.js';
import { CRASHES_LEFT, CRASHES_WITHIN_MS, SUSPECT_MS, type CrashedRun } from '../coordinator/probe-ports.js';
import { shardOf } from '../../kernel/index.js';

interface Crash extends RunKey {
  crashes: number;
  atUs: number;
}

function nameOf({ tenantId, runId }: RunKey): string {
  return `${tenantId}/${runId}`;
}

/** Names, counts, and when shards were taken from a node that ended. */
export class MemoryCrashes {
  readonly #probed = new Map<string, readonly RunKey[]>();
  readonly #crashes = new Map<string, Crash>();
  readonly #takenAtUs = new Map<number, number>();

  /** @param nowUs database time */
  constructor(readonly nowUs: () => number) {}

  name(nodeId: string, runs: readonly RunKey[]): void {
    this.#probed.set(nodeId, runs);
  }

  /** What this node tries. */
  probed(nodeId: string): readonly RunKey[] {
    return this.#probed.get(nodeId) ?? [];
  }

  /** The node ended without leaving, and these shards were taken from it. */
  taken(deadNodeId: string, shards: readonly number[]): void {
    const atUs = this.nowUs();
    const probed = this.probed(deadNodeId);
    for (const run of probed) {
      const known = this.#crashes.get(nameOf(run));
      const isCounted = known !== undefined && known.atUs >= atUs - CRASHES_WITHIN_MS * 1_000;
      const before = isCounted ? known.crashes : 0;
      const crashes = probed.length === 1 ? before + 1 : Math.max(before, Math.min(before + 1, CRASHES_LEFT));
      this.#crashes.set(nameOf(run), { ...run, crashes, atUs });
    }
    this.#probed.delete(deadNodeId);
    for (const shard of shards) this.#takenAtUs.set(shard, atUs);
  }

  /** Those of the shards that were taken so, not long ago. */
  crashedAmong(shards: readonly number[]): readonly number[] {
    const afterUs = this.nowUs() - SUSPECT_MS * 1_000;
    return shards.filter((shard) => (this.#takenAtUs.get(shard) ?? 0) > afterUs);
  }

  crashes(shards: readonly number[]): readonly CrashedRun[] {
    const afterUs = this.nowUs() - CRASHES_WITHIN_MS * 1_000;
    return [...this.#crashes.values()]
      .filter(({ runId, atUs }) => shards.includes(shardOf(runId)) && atUs > afterUs)
      .map(({ tenantId, runId, crashes, atUs }) => ({
        ...{ tenantId, runId, crashes },
        agoMs: (this.nowUs() - atUs) / 1_000,
      }));
  }

  quarantined(run: RunKey): void {
    const known = this.#crashes.get(nameOf(run));
    if (known !== undefined) known.crashes = Math.min(known.crashes, CRASHES_LEFT);
  }
}
