/** The tables of semaphores in memory. */
import {
  nameOf,
  type Holder,
  type SemaphoreChanges,
  type SemaphoreKey,
  type SemaphoreUsage,
} from '../../capacity/index.js';
import type { Waiter } from '../../capacity/index.js';

/** Who holds a semaphore. */
export interface MemoryHold extends Holder {
  readonly key: string;
  readonly limit: number;
}

function holdName({ tenantId, runId, path, key }: Holder & { readonly key: string }): string {
  return JSON.stringify([tenantId, key, runId, path]);
}

/** The tables. */
export class MemorySemaphores {
  readonly holds = new Map<string, MemoryHold>();
  line: (Waiter & { readonly key: string })[] = [];
  readonly #nextAtUs = new Map<string, number>();
  /** What must never happen, in words. */
  readonly violations: string[] = [];

  usage({ tenantId, key }: SemaphoreKey, runIds: ReadonlySet<string>, page: number): SemaphoreUsage {
    const isThis = (one: SemaphoreKey): boolean => one.tenantId === tenantId && one.key === key;
    const holds = [...this.holds.values()].filter(isThis);
    const counts = new Map<number, number>();
    for (const { limit } of holds) counts.set(limit, (counts.get(limit) ?? 0) + 1);
    const line = this.line.filter(isThis);
    return {
      ...{ tenantId, key, nextAtUs: this.#nextAtUs.get(nameOf({ tenantId, key })) ?? 0 },
      holders: [...counts].map(([limit, count]) => ({ limit, count })),
      holds: holds.filter(({ runId }) => runIds.has(runId)),
      ...{ line: line.slice(0, page), isLonger: line.length > page },
      waits: line.filter(({ runId }) => runIds.has(runId)),
    };
  }

  apply({ semaphores, holds, releases, waits, leaves, marks }: SemaphoreChanges): void {
    for (const gone of releases) {
      if (!this.holds.delete(holdName(gone))) this.violations.push(`${holdName(gone)} is given back and was not held`);
    }
    const left = new Set(leaves.map(holdName));
    const noted = new Map(marks.map((one) => [holdName(one), one]));
    this.line = this.line
      .filter((waiter) => !left.has(holdName(waiter)))
      .map((waiter) => {
        const { isCalled, isElsewhere } = noted.get(holdName(waiter)) ?? waiter;
        return { ...waiter, isCalled, isElsewhere };
      });
    for (const hold of holds) {
      if (this.holds.has(holdName(hold))) this.violations.push(`${holdName(hold)} is held twice`);
      this.holds.set(holdName(hold), hold);
    }
    for (const waiter of waits) {
      const isThere = this.line.some((other) => holdName(other) === holdName(waiter));
      if (isThere) this.violations.push(`${holdName(waiter)} stands in line twice`);
      this.line.push(waiter);
    }
    for (const { tenantId, key, held, nextAtUs } of semaphores) {
      this.#nextAtUs.set(nameOf({ tenantId, key }), nextAtUs);
      const limits = [...this.holds.values()].flatMap((one) =>
        one.tenantId === tenantId && one.key === key ? [one.limit] : [],
      );
      if (limits.length !== held) this.violations.push(`${key} says ${held} holders and has ${limits.length}`);
      if (limits.length > 0 && limits.length > Math.min(...limits)) {
        this.violations.push(`${key} has ${limits.length} holders over a limit of ${Math.min(...limits)}`);
      }
    }
  }
}
