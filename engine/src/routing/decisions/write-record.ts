/**
 * The record of a decision: JSON in one order of keys with everything the decision was made from and everything it came
 * to. What is the same for many decisions (pools' configurations, rules) is named by its digest; what an expression
 * does not read is left out. Short names keep a record of 12 candidates below 2.5 KB:
 *
 * hop: p pool, v version, d digest, i ids, r versions, w weights (milli), t tiers, o order, c costs, m limits, l daily
 * limits, u units, s states, su until, ia active, cl closed, f facts, k skills, q attributes, b bindings, z state, g
 * given (pinned, excluded, conflicting), j answers of strategies in code, y verdicts, n attempts (s seed, d draws, o
 * order, c scores, x exclusions, p propensity, h notes, a admission), e digest of the state left behind.
 */
import { canonicalJson } from '../../kernel/index.js';
import type { Routable } from '../core/routable.js';
import { seedText } from '../core/stream.js';
import { digestText } from '../pipeline/digest-text.js';
import type { Attempt, Decision, Hop, PoolSnapshot } from '../pipeline/decision.js';
import type { CompiledRule } from '../rules/rule.js';
import { STRATEGY_IMPLEMENTATION } from '../strategies/compile-strategy.js';
import { projectionOf } from './paths.js';
import { attributePaths } from './reads.js';
import { writeLooked } from './write-looked.js';
import { writeState } from './written-state.js';

/** Name of the form of records. */
export const RECORD_SCHEMA = 'routing.decision/v1';

/** Place among those looked at; the id itself of somebody who was not. */
type PlaceOf = (id: string) => number | string;

function writeAdmission({ admission }: Attempt, placeOf: PlaceOf): unknown {
  if (admission === undefined) return undefined;
  if (admission.kind === 'unavailable') return ['u'];
  const usage = admission.usage.map(({ id, units, used, limit, usedToday, dailyLimit }) => {
    return [placeOf(id), units, used, limit, usedToday, dailyLimit];
  });
  return [admission.kind === 'granted' ? 'g' : 'r', usage];
}

function writeAttempt(attempt: Attempt, placeOf: PlaceOf): Record<string, unknown> {
  const { order, ranking } = attempt.selection;
  const { scores, excluded = [], notes = [] } = ranking;
  return {
    s: seedText(attempt.moment.seed),
    d: attempt.draws === 0 ? undefined : attempt.draws,
    o: order.map(({ id }) => placeOf(id)),
    c: scores === undefined ? undefined : order.map((each) => scores.get(each) ?? null),
    x: excluded.length === 0 ? undefined : excluded.map(([{ id }, why]) => [placeOf(id), why]),
    p: ranking.propensity,
    h: notes.length === 0 ? undefined : notes,
    a: writeAdmission(attempt, placeOf),
  };
}

/** Place of the recipient among those looked at that does not belong to the pool; undefined: all of them do. */
function standbyPlace({ snapshot: { view }, filtered }: Hop): number | undefined {
  if (view.standbys.length === 0) return undefined;
  const standbys = new Set(view.standbys.map(({ id }) => id));
  const place = filtered?.looked.findIndex(({ member }) => standbys.has(member.id)) ?? -1;
  return place === -1 ? undefined : place;
}

/** The deadline where it depends on opening hours, which a record does not have; null: there was none. */
function dueOf({ snapshot, attempts, dueUs }: Hop): number | null | undefined {
  if (snapshot.view.settings.sla?.isBusiness !== true) return undefined;
  return dueUs ?? (attempts.length > 0 ? null : undefined);
}

function writeBindings({ bindings }: PoolSnapshot, placeOf: PlaceOf): unknown {
  if (bindings.size === 0) return undefined;
  return [...bindings].map(([key, { recipientId, expiresUs, tier }]) => {
    return [key, placeOf(recipientId), expiresUs, ...(tier === undefined ? [] : [tier])];
  });
}

function writeAnswers({ answers }: PoolSnapshot, placeOf: PlaceOf): unknown {
  if (answers === undefined || answers.size === 0) return undefined;
  return [...answers].map(([key, { ids: named, note }]) => [key, named?.map(placeOf) ?? null, note]);
}

function writeHop(hop: Hop, { input }: Decision): Record<string, unknown> {
  const { snapshot, attempts } = hop;
  const { view, state } = snapshot;
  const looked = hop.filtered?.looked ?? [];
  const written = looked.length === 0 ? undefined : writeLooked(looked, hop, input);
  const brought = hop.enriched?.brought ?? [];
  const placeOf: PlaceOf = (id) => written?.members.places.get(id) ?? id;
  const changes = attempts.at(-1)?.selection.changes ?? [];
  const head = {
    p: view.id,
    v: view.version,
    d: view.digest,
    cl: hop.reason === 'pool_closed' ? true : undefined,
    en: brought.length === 0 ? undefined : brought,
  };
  return Object.assign(head, written?.fields, {
    z: written === undefined ? undefined : writeState(state, written.members),
    b: writeBindings(snapshot, placeOf),
    j: writeAnswers(snapshot, placeOf),
    n: attempts.length === 0 ? undefined : attempts.map((attempt) => writeAttempt(attempt, placeOf)),
    e: changes.length === 0 ? undefined : digestText(canonicalJson(changes)),
    why: hop.reason,
    to: hop.direct,
    sb: standbyPlace(hop),
    due: dueOf(hop),
    fell: hop.fell,
    wq: hop.snapshot.queued === 0 ? undefined : hop.snapshot.queued,
  });
}

/** As much of the routable as decided. */
function writeRoutable(routable: Routable, decision: Decision): Record<string, unknown> {
  const readers = [
    ...decision.rules.trace.map(([rule]) => rule),
    ...decision.hops.map(({ snapshot }) => snapshot.view.reads),
  ];
  const paths = readers.flatMap(attributePaths);
  const attributes = paths.length === 0 ? undefined : projectionOf(routable.attributes, paths);
  return {
    id: routable.id,
    type: routable.type === '' ? undefined : routable.type,
    at: attributes,
    pr: routable.priority === 0 ? undefined : routable.priority,
    ch: routable.channel === '' ? undefined : routable.channel,
    sk: routable.requiredSkills.length === 0 ? undefined : routable.requiredSkills,
    dk: routable.dedupeKey === '' ? undefined : routable.dedupeKey,
    ex: routable.expiresUs,
    rc: routable.receivedUs,
  };
}

/** The document of a rule: what its digest names. */
function ruleDocument({ id, version, fields }: CompiledRule): unknown {
  return { id, version, fields };
}

const ruleDigests = new WeakMap<CompiledRule, string>();

/** Digest of a rule's document; worked out once for each compiled rule. */
function ruleDigest(rule: CompiledRule): string {
  const known = ruleDigests.get(rule);
  if (known !== undefined) return known;
  const digest = digestText(canonicalJson(ruleDocument(rule)));
  ruleDigests.set(rule, digest);
  return digest;
}

/** What else the decision was given. */
function writeGiven({ input }: Decision): Record<string, unknown> {
  return {
    pool: input.poolId,
    family: input.family,
    recipient: input.recipientId,
    holds: input.holds === undefined ? undefined : [input.holds.slateSize ?? 0, input.holds.atLeast],
    preview: input.admit === undefined ? true : undefined,
    duplicate: input.duplicateOf,
    spent: input.spentUs === 0 ? undefined : input.spentUs,
    tried: (input.tried ?? 0) === 0 ? undefined : input.tried,
    offers: (input.offers ?? 0) === 0 ? undefined : input.offers,
    previous: (input.previous ?? []).length === 0 ? undefined : input.previous,
    expired: (input.expiredIn ?? []).length === 0 ? undefined : input.expiredIn,
    breached: input.isBreached === true ? true : undefined,
    waited: input.waited && [input.waited.firstId, input.waited.sinceUs, input.waited.queueOf ?? null],
  };
}

/** Digest of who was chosen, or of who may claim the work; undefined: nobody. */
function selectionDigest({ poolId: pool, slate, claimQueueId: queue, claimants }: Decision): string | undefined {
  if (claimants.length > 0) return digestText(JSON.stringify({ pool, queue, claimants }));
  return slate.length === 0 ? undefined : digestText(JSON.stringify({ pool, slate }));
}

/**
 * Writes the record of a decision.
 *
 * @param engine version of the engine and of its time zone data, kept for people
 */
export function writeRecord(decision: Decision, engine: { readonly version: string; readonly tzdb: string }): string {
  const { input, slate } = decision;
  return JSON.stringify({
    schema: RECORD_SCHEMA,
    id: input.decisionId,
    at: input.nowUs,
    engine: { ...engine, strategies: STRATEGY_IMPLEMENTATION },
    routable: writeRoutable(input.routable, decision),
    given: writeGiven(decision),
    rules:
      decision.rules.trace.length === 0
        ? undefined
        : decision.rules.trace.map(([rule, result]) => [ruleDigest(rule), result]),
    hops: decision.hops.map((hop) => writeHop(hop, decision)),
    outcome: decision.outcome,
    why: decision.reason,
    pool: decision.poolId,
    rule: decision.rules.rule?.id,
    slate: slate.length === 0 ? undefined : slate.map(({ id, units }) => [id, units]),
    retry: decision.retryAtUs,
    queue: decision.claimQueueId,
    selection: selectionDigest(decision),
  });
}

/** Digests of the documents that a decision's record names, each once. */
export function documentDigestsOf({ rules, hops }: Decision): readonly string[] {
  const digests = new Set<string>();
  for (const [rule] of rules.trace) digests.add(ruleDigest(rule));
  for (const { snapshot } of hops) digests.add(snapshot.view.digest);
  return [...digests];
}

/** Documents that a decision's record names, by digest: kept once for all decisions that name them. */
export function documentsOf(decision: Decision): ReadonlyMap<string, unknown> {
  const rules = decision.rules.trace.map(([rule]): [string, unknown] => [ruleDigest(rule), ruleDocument(rule)]);
  const pools = decision.hops.map(({ snapshot }): [string, unknown] => [snapshot.view.digest, snapshot.view.document]);
  return new Map([...rules, ...pools]);
}
