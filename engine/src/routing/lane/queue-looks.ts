/**
 * Looks at waiting work: decides it anew, beside the calls of Route, in transactions as theirs.
 *
 * Invariants: 1. an item leaves its queue in the transaction that writes what it came to, under the lock of its row:
 * whoever dies in between has done nothing, and whoever looks at the same time finds it gone; 2. items are decided in
 * the order in which they are given.
 */
import type { WaitingItem } from '../queue/waiting-item.js';
import { NO_POOL } from '../queue/waiting-item.js';
import type { Asking } from './asking.js';
import type { LaneParts } from './lane-parts.js';
import type { BatchRunner } from './batch-runner.js';
import type { Views } from './shared-reads.js';
import type { AskedItem, ItemResult } from './waiting-desk.js';

const MAX_TRIES = 12;

/** See above. */
export class QueueLooks {
  readonly #parts: LaneParts;
  readonly #asking: Asking;
  readonly #runner: BatchRunner;

  constructor(parts: LaneParts, asking: Asking, runner: BatchRunner) {
    this.#parts = parts;
    this.#asking = asking;
    this.#runner = runner;
  }

  /**
   * Looks at items of one queue; one result for each. Throws what the database throws: of what it was sent it may have
   * done everything or nothing.
   */
  async look(tenantId: string, items: readonly WaitingItem[]): Promise<readonly ItemResult[]> {
    const asked = items.map((item): AskedItem => ({ item, answers: new Map(), spentUs: 0 }));
    const reach = new Set(items.flatMap(poolsOf));
    const results = new Map<string, ItemResult>();
    let open: readonly AskedItem[] = asked;
    for (let tries = 0; tries < MAX_TRIES && open.length > 0; tries += 1) {
      const found = await this.#run(tenantId, open, reach);
      for (const { item } of open) results.set(item.decisionId, found.get(item.decisionId) ?? GONE);
      open = open.filter(({ item }) => results.get(item.decisionId)?.kind === 'again');
    }
    return items.map(({ decisionId }) => results.get(decisionId) ?? GONE);
  }

  /** One transaction; names the pools that it lacked. */
  async #run(
    tenantId: string,
    waiting: readonly AskedItem[],
    reach: Set<string>,
  ): Promise<ReadonlyMap<string, ItemResult>> {
    const { views: all } = this.#parts;
    const byRules = waiting.some(({ item }) => item.ask.poolId === undefined);
    const rules = byRules ? await all.rules(tenantId) : [];
    const views = await all.pools(tenantId, reach);
    await this.#askApps(tenantId, waiting, views);
    const { stale, waiting: found } = await this.#runner.run({ tenantId, calls: [], views, rules, waiting });
    if (stale.length > 0) return new Map(waiting.map(({ item }) => [item.decisionId, NOT_YET]));
    for (const result of found.values()) {
      if (result.kind === 'again') for (const poolId of result.missing) reach.add(poolId);
    }
    return found;
  }

  async #askApps(tenantId: string, waiting: readonly AskedItem[], views: Views): Promise<void> {
    const due = waiting.filter(({ item, answers }) =>
      this.#asking.isDue({ ask: item.ask, answers }, views, views.keys()),
    );
    await Promise.all(
      due.map(async (asked) => {
        const { item, answers, spentUs } = asked;
        const call = { tenantId, ask: item.ask, decisionId: item.decisionId, answers, spentUs };
        await this.#asking.fill(call, views);
        asked.spentUs = call.spentUs;
      }),
    );
  }
}

const GONE: ItemResult = { kind: 'gone' };
const NOT_YET: ItemResult = { kind: 'again', missing: [] };

function poolsOf({ poolId, reach, ask }: WaitingItem): readonly string[] {
  return [...reach, ...(poolId === NO_POOL ? [] : [poolId]), ...(ask.poolId === undefined ? [] : [ask.poolId])];
}
