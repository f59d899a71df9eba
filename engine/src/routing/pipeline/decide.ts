/**
 * Validate → Enrich → Filter → Select → Assign. A pure function: what it needs is given, what it comes to is returned,
 * and the same input always comes to the same decision.
 */
import { msOf, type Fallback } from '../../pools/index.js';
import { matchRules, type RuleMatch } from '../rules/rule.js';
import { claimantsIn } from './claimants.js';
import type { Decision, DecisionInput, Fell, Hop, PoolSnapshot } from './decision.js';
import { fallbackFor } from './fallback.js';
import { nextOpenAt } from './hours.js';
import { runHop, type HopResult } from './hop.js';
import { queueBar, queueingIn } from './queueing.js';
import { OUTCOMES, REASONS, type Outcome, type QueueBar, type Reason } from './outcomes.js';
import { ruleScope } from './scope.js';
import type { PoolView } from './view.js';

const NOT_ASKED: RuleMatch = { rule: undefined, trace: [] };

/** What a decision ends with. */
interface Ending {
  readonly outcome: Outcome;
  readonly reason?: Reason | undefined;
  readonly poolId?: string | undefined;
  readonly result?: HopResult | undefined;
  readonly retryAtUs?: number | undefined;
  readonly claimQueueId?: string | undefined;
  readonly claimants?: Decision['claimants'];
  readonly waitsUntilUs?: number | undefined;
}

function ended(input: DecisionInput, rules: RuleMatch, hops: readonly Hop[], ending: Ending): Decision {
  return {
    input,
    outcome: ending.outcome,
    outcomeClass: OUTCOMES[ending.outcome],
    reason: ending.reason,
    rules,
    hops,
    slate: ending.result?.slate ?? [],
    poolId: ending.poolId,
    changes: ending.result?.changes ?? [],
    retryAtUs: ending.retryAtUs,
    claimQueueId: ending.claimQueueId,
    claimants: ending.claimants ?? [],
    waitsUntilUs: ending.waitsUntilUs,
  };
}

/** A decision in progress: the pools it has been through. */
class Walk {
  readonly hops: Hop[] = [];
  readonly #visited = new Set<string>();

  constructor(
    readonly input: DecisionInput,
    readonly rules: RuleMatch,
    readonly scope: Readonly<Record<string, unknown>>,
  ) {}

  /** Goes through pools until one decides or no fallback leads further. */
  run(firstPoolId: string): Decision {
    let poolId = firstPoolId;
    let maxDepth = Number.POSITIVE_INFINITY;
    for (;;) {
      if (this.#visited.has(poolId)) return this.#stop('routing_cycle', poolId);
      if (this.hops.length >= maxDepth) return this.#stop('max_depth_exceeded', poolId);
      const snapshot = this.#pool(poolId);
      if (snapshot === undefined) return this.#stop('pool_not_found', poolId);
      maxDepth = Math.min(maxDepth, snapshot.view.settings.maxDepth);
      this.#visited.add(poolId);
      const result = runHop(this.input, snapshot, this.scope, this.hops.length, this.input.recipientId);
      this.hops.push(result.hop);
      const { reason } = result.hop;
      if (reason === undefined) return this.#decided(snapshot.view, result);
      const next = this.#fallBack(snapshot.view, reason, result);
      if (typeof next !== 'string') return next;
      poolId = next;
    }
  }

  /** A pool as the work sees it: for a selecting workflow a choice is final at once, and one refusal ends it. */
  #pool(poolId: string): PoolSnapshot | undefined {
    const snapshot = this.input.pools.get(poolId);
    const { holds } = this.input;
    if (snapshot === undefined) return undefined;
    const { view } = snapshot;
    if (holds === undefined) {
      // Of a slate one recipient did not take it: one is looked for.
      const isNext = this.hops.length === 0 && (this.input.offers ?? 0) > 0;
      return isNext ? { ...snapshot, view: { ...view, settings: { ...view.settings, slateSize: 1 } } } : snapshot;
    }
    const slateSize = holds.slateSize ?? view.settings.slateSize;
    const settings = { ...view.settings, slateSize, maxAttempts: 1, requiresAcceptance: false };
    return { ...snapshot, view: { ...view, settings } };
  }

  #end(ending: Ending): Decision {
    return ended(this.input, this.rules, this.hops, ending);
  }

  #stop(reason: Reason, poolId: string): Decision {
    return this.#end({ outcome: REASONS[reason], reason, poolId });
  }

  #decided({ id, settings }: PoolView, result: HopResult): Decision {
    if (result.claimants !== undefined) {
      const { claimQueueId } = settings;
      const { claimants } = result;
      return this.#end({ outcome: 'queued_for_claim', poolId: id, result, claimQueueId, claimants });
    }
    return this.#end({ outcome: settings.requiresAcceptance ? 'offered' : 'assigned', poolId: id, result });
  }

  /** Notes on the last hop what its fallback did. */
  #note(fell: Fell): void {
    const last = this.hops.pop();
    if (last !== undefined) this.hops.push({ ...last, fell });
  }

  /** The next pool, or how it ends here. */
  #fallBack(view: PoolView, reason: Reason, result: HopResult): string | Decision {
    const plain: Ending = { outcome: REASONS[reason], reason, poolId: view.id, retryAtUs: result.retryAtUs };
    const { fallback, barred, waitsUntilUs } = this.#fallbackIn(view, reason, result.hop.snapshot);
    if (fallback === undefined || fallback.kind === 'none') {
      return this.#end(barred === undefined ? plain : { ...plain, outcome: REASONS[barred], reason: barred });
    }
    const { nowUs } = this.input;
    const { settings } = view;
    const fell: Fell = barred === undefined ? { kind: fallback.kind } : { kind: fallback.kind, barred };
    this.#note(fell);
    switch (fallback.kind) {
      case 'queue':
        return this.#end({ ...plain, outcome: 'queued', waitsUntilUs });
      case 'retry':
        return this.#end({ ...plain, outcome: 'deferred', retryAtUs: nowUs + msOf(fallback.delay ?? '30s') * 1000 });
      case 'next_open':
        return this.#end({ ...plain, outcome: 'deferred', retryAtUs: nextOpenAt(view.hours, nowUs) });
      case 'dead_letter':
        return this.#end({ ...plain, outcome: 'dead_lettered' });
      case 'claim':
        return this.#toQueue(fallback.target ?? settings.claimQueueId ?? '', result, plain);
      case 'default_recipient':
        return this.#toRecipient(view, fallback.target ?? settings.fallbackRecipientId ?? '', plain);
      case 'overflow':
      case 'catchall': {
        const own = fallback.kind === 'overflow' ? settings.overflowPoolId : settings.catchallPoolId;
        const nextPoolId = fallback.target ?? own ?? '';
        this.#note({ ...fell, nextPoolId });
        return nextPoolId;
      }
    }
  }

  /** The fallback that answers; where that is the queue and the work may not wait there, the next one. */
  #fallbackIn(
    view: PoolView,
    reason: Reason,
    snapshot: PoolSnapshot,
  ): { readonly fallback: Fallback | undefined; readonly barred?: QueueBar; readonly waitsUntilUs?: number } {
    const tried = this.input.tried ?? 0;
    const fallback = fallbackFor(view, reason, tried);
    if (fallback?.kind !== 'queue') return { fallback };
    const queueing = queueingIn(this.input, snapshot, fallback);
    const barred = queueBar(this.input, queueing);
    if (barred === undefined) return { fallback, waitsUntilUs: queueing.untilUs };
    return { fallback: fallbackFor(view, reason, tried, true), barred };
  }

  /** Puts the work in a claim queue, unless it has expired there before, or there is nobody who could claim it. */
  #toQueue(claimQueueId: string, { hop }: HopResult, plain: Ending): Decision {
    const claimants = claimantsIn(hop.filtered);
    const isOver = this.input.expiredIn?.includes(claimQueueId) === true || claimants.length === 0;
    return this.#end(isOver ? plain : { ...plain, outcome: 'queued_for_claim', claimQueueId, claimants });
  }

  /** Tries the one recipient that a pool falls back to; it is filtered and admitted as any other. */
  #toRecipient(view: PoolView, recipientId: string, plain: Ending): Decision {
    const snapshot = this.#pool(view.id);
    if (snapshot === undefined) return this.#end(plain);
    const result = runHop(this.input, snapshot, this.scope, this.hops.length, recipientId, true);
    this.hops.push(result.hop);
    return result.hop.reason === undefined ? this.#decided(view, result) : this.#end(plain);
  }
}

/** Validate, as far as it needs no pool: undefined when there is nothing against the work. */
function refused(input: DecisionInput): Reason | undefined {
  if (input.duplicateOf !== undefined) return 'duplicate_routable';
  const { expiresUs } = input.routable;
  return expiresUs !== undefined && expiresUs <= input.nowUs ? 'routable_expired' : undefined;
}

/** What a rule holds waits in the queue of the pool that the rule names, or of none, until rules say something else. */
function held(input: DecisionInput, match: RuleMatch): Decision {
  const poolId = match.rule?.fields.pool_id;
  const snapshot = poolId === undefined ? undefined : input.pools.get(poolId);
  const queueing = queueingIn(input, snapshot);
  const barred = queueBar(input, queueing);
  const fell: Fell | undefined = barred === undefined ? { kind: 'queue' } : undefined;
  const looked = { filtered: undefined, attempts: [], direct: undefined, fell };
  const hops: readonly Hop[] = snapshot === undefined ? [] : [{ ...looked, snapshot, reason: 'held_by_rule' }];
  if (barred !== undefined) return ended(input, match, hops, { outcome: REASONS[barred], reason: barred, poolId });
  const { untilUs: waitsUntilUs } = queueing;
  return ended(input, match, hops, { outcome: 'queued', reason: 'held_by_rule', poolId, waitsUntilUs });
}

/** Decides. */
export function decide(input: DecisionInput): Decision {
  const early = refused(input);
  if (early !== undefined) return ended(input, NOT_ASKED, [], { outcome: REASONS[early], reason: early });
  const scope = ruleScope(input.routable, input.nowUs);
  if (input.poolId !== undefined) return new Walk(input, NOT_ASKED, scope).run(input.poolId);
  const match = matchRules(input.rules, scope, input.nowUs);
  const { rule } = match;
  if (rule?.fields.action === 'hold') return held(input, match);
  const reason = rule === undefined ? 'no_matching_rule' : ACTION_REASONS[rule.fields.action];
  if (reason !== undefined) return ended(input, match, [], { outcome: REASONS[reason], reason });
  return new Walk(input, match, scope).run(rule?.fields.pool_id ?? '');
}

const ACTION_REASONS = { route: undefined, drop: 'dropped_by_rule' } as const;
