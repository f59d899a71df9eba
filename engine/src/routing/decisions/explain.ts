/** Why this one: a decision as a funnel, from all recipients of each pool to the one that was chosen. */
import type { PoolFields } from '../../pools/index.js';
import type { Decision, Fell, Hop } from '../pipeline/decision.js';
import type { Enriched } from '../pipeline/enrich.js';
import { exclusionsOf } from '../pipeline/hop.js';
import type { Outcome, OutcomeClass, Reason } from '../pipeline/outcomes.js';

/** Recipients that one verdict took out. */
export interface Dropped {
  readonly verdict: string;
  readonly count: number;
  /** The first of them, at most 20, with what it was decided by. */
  readonly recipients: readonly { readonly id: string; readonly name: string; readonly detail: string }[];
}

/** One place of a ranking. */
export interface Ranked {
  readonly id: string;
  readonly name: string;
  /** The strategy's score; undefined when it has none. */
  readonly score: number | undefined;
  readonly load: number;
  readonly limit: number | undefined;
  readonly isChosen: boolean;
}

/** What happened in one pool. */
export interface ExplainedHop {
  readonly poolId: string;
  readonly poolName: string;
  readonly strategy: string;
  /** What was worked out of the work before. */
  readonly enrichments: readonly Enriched[];
  readonly considered: number;
  readonly eligible: number;
  /** By the first verdict of each recipient, in the order in which they are asked. */
  readonly dropped: readonly Dropped[];
  /** At most 20 places of the last attempt. */
  readonly ranking: readonly Ranked[];
  readonly attempts: readonly {
    readonly slate: readonly string[];
    readonly admission: string;
    readonly draws: number;
  }[];
  /** Probability of the winner where it is known. */
  readonly propensity: readonly [number, number] | undefined;
  readonly notes: readonly string[];
  readonly reason: Reason | undefined;
  readonly fallback: string | undefined;
}

/** A decision explained. */
export interface Explanation {
  readonly decisionId: string;
  readonly outcome: Outcome;
  readonly outcomeClass: OutcomeClass;
  readonly reason: Reason | undefined;
  readonly rules: readonly { readonly id: string; readonly name: string; readonly result: string }[];
  readonly hops: readonly ExplainedHop[];
  readonly winners: readonly string[];
}

/** Names and places shown. */
const SHOWN = 20;

function droppedIn(hop: Hop): readonly Dropped[] {
  const exclusions = exclusionsOf(hop);
  const byVerdict = new Map<string, { count: number; recipients: { id: string; name: string; detail: string }[] }>();
  const passed = new Set(hop.filtered?.candidates.map(({ place }) => place));
  for (const [place, { member, verdicts }] of (hop.filtered?.looked ?? []).entries()) {
    const code = passed.has(place) ? exclusions.get(member.id) : verdicts[0]?.code;
    if (code === undefined) continue;
    const entry = byVerdict.get(code) ?? { count: 0, recipients: [] };
    entry.count += 1;
    if (entry.recipients.length < SHOWN) {
      entry.recipients.push({ id: member.id, name: nameOf(member.scope), detail: verdicts[0]?.detail ?? '' });
    }
    byVerdict.set(code, entry);
  }
  return [...byVerdict].map(([verdict, { count, recipients }]) => ({ verdict, count, recipients }));
}

function nameOf(scope: Readonly<Record<string, unknown>>): string {
  const { name } = scope;
  return typeof name === 'string' ? name : '';
}

function rankingOf(hop: Hop): readonly Ranked[] {
  const selection = hop.attempts.at(-1)?.selection;
  if (selection === undefined) return [];
  const chosen = new Set(selection.slate);
  return selection.order.slice(0, SHOWN).map((candidate) => {
    const micro = selection.ranking.scores?.get(candidate);
    return {
      id: candidate.id,
      name: nameOf(hop.filtered?.looked[candidate.place]?.member.scope ?? {}),
      score: micro === undefined ? undefined : micro / 1_000_000,
      load: candidate.load,
      limit: candidate.cap,
      isChosen: chosen.has(candidate) && hop.reason === undefined,
    };
  });
}

/** What a pool chooses by, in a word: its strategy, its recipe, or the root of its tree. */
function strategyName({ strategy, config }: PoolFields): string {
  const root: unknown = config.strategy_tree;
  const name: unknown = typeof root === 'object' && root !== null ? Reflect.get(root, 'strategy') : root;
  if (config.recipe !== undefined) return config.recipe.name;
  if (typeof name === 'string') return name;
  return strategy === '' ? 'round_robin' : strategy;
}

function fellText({ kind, nextPoolId = '', barred }: Fell): string {
  return [barred === undefined ? '' : `${barred},`, kind, nextPoolId].filter((word) => word !== '').join(' ');
}

function explainHop(hop: Hop): ExplainedHop {
  const { view } = hop.snapshot;
  const { fields } = view.document;
  const last = hop.attempts.at(-1)?.selection.ranking;
  const panic = hop.filtered?.isPanic === true ? ['panic: ejections are ignored'] : [];
  return {
    poolId: view.id,
    poolName: fields.name,
    strategy: strategyName(fields),
    enrichments: hop.enriched?.brought ?? [],
    considered: hop.filtered?.looked.length ?? 0,
    eligible: hop.filtered?.candidates.length ?? 0,
    dropped: droppedIn(hop),
    ranking: rankingOf(hop),
    attempts: hop.attempts.map(({ selection, admission, draws }) => ({
      slate: selection.slate.map(({ id }) => id),
      admission: admission?.kind ?? 'not asked',
      draws,
    })),
    propensity: last?.propensity,
    notes: [...panic, ...(last?.notes ?? [])],
    reason: hop.reason,
    fallback: hop.fell === undefined ? undefined : fellText(hop.fell),
  };
}

/** Explains a decision. */
export function explain(decision: Decision): Explanation {
  return {
    decisionId: decision.input.decisionId,
    outcome: decision.outcome,
    outcomeClass: decision.outcomeClass,
    reason: decision.reason,
    rules: decision.rules.trace.map(([{ id, fields }, result]) => ({ id, name: fields.name, result: String(result) })),
    hops: decision.hops.map(explainHop),
    winners: decision.slate.map(({ id }) => id),
  };
}
