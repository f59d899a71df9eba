/**
 * Seats and tiers in memory, and what was learned of recipients: reports and families that have ended do to them what
 * they do in the database.
 */
import type { BindingEntry, PoolView, WorldChanges, WorldParts } from '../../routing/index.js';
import { poolKeyText } from '../../routing/index.js';
import { afterReport, type Report } from '../../routing/outcomes/after-report.js';
import { isCounted, policyOf } from '../../routing/outcomes/outcomes.js';
import { NOTHING_LEARNED, type LearnedRow } from '../../routing/outcomes/sql/recipient-facts.js';
import { learnedFrom } from '../../routing/standing/sql/learned-columns.js';
import type { MemberStanding } from '../../routing/standing/standing.js';
import { afterCount } from '../../routing/strategies/outcome-counts.js';
import { NEVER_US } from '../../routing/strategies/seat-key.js';

type States = Map<string, ReturnType<WorldParts['states']['get']>>;

/** A report about a member of a pool, with the moment at which its work began. */
export interface MemoryReport extends Report {
  readonly view: PoolView;
  readonly startedUs: number;
}

/** What a report came to. */
export interface MemoryReported {
  readonly before: LearnedRow;
  readonly after: LearnedRow;
  /** Whether it has a rate limit by this. */
  readonly isLimited: boolean;
  /** Who was bound to the seat and is no more. */
  readonly evicted: readonly BindingEntry[];
}

/** The tables. */
export class MemorySeats {
  /** By poolKeyText. */
  readonly bindings = new Map<string, BindingEntry>();
  readonly #learned = new Map<string, LearnedRow>();

  /** What is stored of a recipient. */
  rowOf(recipientId: string): LearnedRow {
    return this.#learned.get(recipientId) ?? NOTHING_LEARNED;
  }

  /** The same as decisions read it. */
  learnedOf(recipientId: string, nowUs: number): MemberStanding['learned'] {
    return learnedFrom(this.rowOf(recipientId), nowUs);
  }

  /** What decisions have bound, and which seats are tried. */
  keep({ bindings, probes }: Pick<WorldChanges, 'bindings' | 'probes'>): void {
    for (const entry of bindings) this.bindings.set(poolKeyText(entry), entry);
    for (const { recipientId, untilUs } of probes) {
      this.#learned.set(recipientId, { ...this.rowOf(recipientId), probe_until: untilUs });
    }
  }

  /** Ends what these own. */
  release(owners: ReadonlySet<string>): void {
    for (const [key, { owner }] of this.bindings) if (owners.has(owner ?? '')) this.bindings.delete(key);
  }

  /** Owners of what nothing ends but the end of their family, with the pool that gave it. */
  get lasting(): readonly { readonly owner: string; readonly poolId: string }[] {
    return [...this.bindings.values()].flatMap(({ owner, poolId, expiresUs }) => {
      return owner === undefined || expiresUs !== NEVER_US ? [] : [{ owner, poolId }];
    });
  }

  /** One report: a transaction. By `early`, where that is not what is stored when it happens. */
  report(states: States, report: MemoryReport, nowUs: number, early?: LearnedRow): MemoryReported {
    const { view, recipientId, startedUs } = report;
    if (isCounted(view, report)) {
      const members = new Set(view.members.map(({ id }) => id));
      states.set(view.id, afterCount(states.get(view.id) ?? {}, report, members));
    }
    const before = this.rowOf(recipientId);
    const settings = view.document.fields.config.health ?? {};
    const ejected = view.members.filter(({ id }) => (this.rowOf(id).ejected_until ?? 0) > nowUs).length;
    const moment = { nowUs, startedUs, ejected, total: view.members.length };
    const { row, isLimited } = afterReport(early ?? before, report, moment, settings, policyOf(view));
    this.#learned.set(recipientId, row);
    const evicted = isLimited ? [...this.bindings].filter(([, each]) => isSeatOf(each, recipientId)) : [];
    for (const [key] of evicted) this.bindings.delete(key);
    return { before, after: row, isLimited, evicted: evicted.map(([, entry]) => entry) };
  }
}

function isSeatOf({ owner, tier, recipientId }: BindingEntry, seatId: string): boolean {
  return recipientId === seatId && owner !== undefined && tier === undefined;
}
