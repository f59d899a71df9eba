/**
 * Budgets being spent by a batch of calls: what recipients and teams have used and have open, as it has become so far.
 * Pure.
 *
 * Invariants: 1. a claim counts for one holder, the team that its recipient is in when it claims, where the budget is
 * the team's, else the recipient; 2. what is given back counts for the holder that it was counted for; 3. who has to
 * rest is the recipient, whosever the budget is.
 */
import { claimerKey, cooled, NO_USAGE, refund, spend, teamKey } from '../../claims/index.js';
import type { Claimer, ClaimItem, Spending, TeamClaimer, Usage } from '../../claims/index.js';
import { localTime } from '../../pools/index.js';

/** What was read under the locks, by claimerKey and teamKey. */
export interface BudgetWorld {
  readonly nowUs: number;
  readonly usage: ReadonlyMap<string, Usage>;
  /** Claims that have not ended. */
  readonly open: ReadonlyMap<string, number>;
}

type Used<Holder> = Holder & { readonly usage: Usage };

/** See above. */
export class Budgets {
  readonly #nowUs: number;
  readonly #usage: Map<string, Usage>;
  readonly #open: Map<string, number>;
  readonly #claimers = new Map<string, Claimer>();
  readonly #teams = new Map<string, TeamClaimer>();

  constructor({ nowUs, usage, open }: BudgetWorld) {
    this.#nowUs = nowUs;
    this.#usage = new Map(usage);
    this.#open = new Map(open);
  }

  /** What recipients have used, where it has changed. */
  get used(): readonly Used<Claimer>[] {
    return [...this.#claimers].map(([key, claimer]) => ({ ...claimer, usage: this.#usageOf(key) }));
  }

  /** What teams have used, where it has changed. */
  get usedByTeams(): readonly Used<TeamClaimer>[] {
    return [...this.#teams].map(([key, team]) => ({ ...team, usage: this.#usageOf(key) }));
  }

  /** Spends a claim; what is not granted changes nothing. `claimedFor` is null where the recipient's own one counts. */
  spend({ queueId, terms: { budget } }: ClaimItem, recipientId: string, claimedFor: string | null): Spending {
    const key = claimerKey(queueId, recipientId);
    const holder = claimedFor === null ? key : teamKey(queueId, claimedFor);
    const [own, before] = [this.#usageOf(key), this.#usageOf(holder)];
    const usage = { ...before, coolingUntilUs: own.coolingUntilUs };
    const spending = spend(budget, usage, this.#nowUs, this.#open.get(holder) ?? 0, localTime);
    if (spending.kind !== 'granted') return spending;
    if (claimedFor === null) this.#setOwn(queueId, recipientId, spending.usage);
    else {
      this.#setTeam(queueId, claimedFor, { ...spending.usage, coolingUntilUs: 0 });
      this.#setOwn(queueId, recipientId, cooled(own, spending.usage.coolingUntilUs));
    }
    this.#count(queueId, recipientId, claimedFor, 1);
    return spending;
  }

  /** A claim has ended. */
  ended({ queueId, claimedBy, claimedFor }: ClaimItem): void {
    this.#count(queueId, claimedBy ?? '', claimedFor, -1);
  }

  /** What a release does to budgets. */
  giveBack({ terms, claimedUs, queueId, claimedBy, claimedFor }: ClaimItem): void {
    const recipientId = claimedBy ?? '';
    const holder = claimedFor === null ? claimerKey(queueId, recipientId) : teamKey(queueId, claimedFor);
    const usage = this.#usageOf(holder);
    const refunded = refund(terms.budget, usage, claimedUs ?? this.#nowUs, this.#nowUs, localTime);
    if (claimedFor !== null) this.#setTeam(queueId, claimedFor, refunded);
    else this.#setOwn(queueId, recipientId, refunded);
    const restsUs = terms.cooldownAfterReleaseUs;
    if (restsUs === 0) return;
    this.#setOwn(queueId, recipientId, cooled(this.#usageOf(claimerKey(queueId, recipientId)), this.#nowUs + restsUs));
  }

  #usageOf(key: string): Usage {
    return this.#usage.get(key) ?? NO_USAGE;
  }

  #count(queueId: string, recipientId: string, team: string | null, by: 1 | -1): void {
    for (const key of [claimerKey(queueId, recipientId), ...(team === null ? [] : [teamKey(queueId, team)])]) {
      this.#open.set(key, Math.max(0, (this.#open.get(key) ?? 0) + by));
    }
  }

  #setOwn(queueId: string, recipientId: string, usage: Usage): void {
    const key = claimerKey(queueId, recipientId);
    if (this.#usageOf(key) === usage) return;
    this.#usage.set(key, usage);
    this.#claimers.set(key, { queueId, recipientId });
  }

  #setTeam(queueId: string, team: string, usage: Usage): void {
    const key = teamKey(queueId, team);
    if (this.#usageOf(key) === usage) return;
    this.#usage.set(key, usage);
    this.#teams.set(key, { queueId, team });
  }
}
