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
import { RECIPIENT_STATES } from '../../pools/index.js';
import type { RecipientFacts } from '../core/candidate.js';
import type { Routable } from '../core/routable.js';
import { seedText } from '../core/stream.js';
import { digestText } from '../pipeline/digest-text.js';
import type { Attempt, Decision, Hop } from '../pipeline/decision.js';
import { NO_FACTS, type Looked } from '../pipeline/filter.js';
import { VERDICT_CODES } from '../pipeline/verdicts.js';
import type { Member, PoolReads } from '../pipeline/view.js';
import type { CompiledRule } from '../rules/rule.js';
import { STRATEGY_IMPLEMENTATION } from '../strategies/compile-strategy.js';
import { column, packIds } from './columns.js';
import { projectionOf, valueAt } from './paths.js';
import { attributePaths, recipientPaths } from './reads.js';
import { writeState } from './written-state.js';

/** Name of the form of records. */
export const RECORD_SCHEMA = 'routing.decision/v1';

/** Moments are written as the time before the decision, which is shorter. */
const MOMENTS: ReadonlySet<keyof RecipientFacts> = new Set([
  'lastAssignedUs',
  'lastReleasedUs',
  'lastInboundUs',
  'inRotationSinceUs',
  'cooldownUntilUs',
  'probeUntilUs',
  'latencyAtUs',
  'ratedAtUs',
]);

/** Short names of facts, in the order in which they are written. */
export const FACT_NAMES = {
  held: 'h',
  committed: 'k',
  admittedToday: 'a',
  committedToday: 'b',
  lastAssignedUs: 'la',
  lastReleasedUs: 'lr',
  lastInboundUs: 'li',
  inRotationSinceUs: 'rs',
  cooldownUntilUs: 'cu',
  isEjected: 'ej',
  limitEpisode: 'lp',
  probeUntilUs: 'pu',
  latencyUs: 'ly',
  latencyAtUs: 'lt',
  successMilli: 'sm',
  failureMilli: 'fm',
  ratedAtUs: 'rt',
  responses: 'rp',
} as const satisfies Record<keyof RecipientFacts, string>;

/** Whether a fact is a moment. */
export function isMoment(name: keyof RecipientFacts): boolean {
  return MOMENTS.has(name);
}

/** Names of facts as keys. */
export function factKeys(): readonly (keyof RecipientFacts)[] {
  const keys: (keyof RecipientFacts)[] = [];
  for (const key of Object.keys(FACT_NAMES)) if (isFactKey(key)) keys.push(key);
  return keys;
}

function isFactKey(key: string): key is keyof RecipientFacts {
  return Object.hasOwn(FACT_NAMES, key);
}

function writeFact(
  facts: RecipientFacts,
  name: keyof RecipientFacts,
  nowUs: number,
): number | string | boolean | undefined {
  const value = facts[name];
  if (typeof value === 'number' && isMoment(name)) return nowUs - value;
  return typeof value === 'object' ? value.join(',') : value;
}

/** Facts of all, column by column; those that nothing depends on are left out. */
function writeFacts(looked: readonly RecipientFacts[], reads: PoolReads, nowUs: number): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const name of factKeys()) {
    if (!reads.facts.has(name)) continue;
    const value = NO_FACTS[name];
    const byDefault = typeof value === 'number' ? value : undefined;
    written[FACT_NAMES[name]] = column(
      looked.map((facts) => writeFact(facts, name, nowUs)),
      byDefault,
    );
  }
  return written;
}

/** A value of an attribute; whole numbers of CEL are told from doubles. */
function writeValue(value: unknown): unknown {
  if (typeof value === 'bigint') return { '#': String(value) };
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return value ?? null;
  return { '{': Object.entries(value).map(([key, inner]) => [key, writeValue(inner)]) };
}

function writeAttributes(members: readonly Member[], reads: PoolReads): unknown {
  const paths = recipientPaths(reads);
  if (paths.length === 0) return undefined;
  return paths.map((path) => [path, members.map(({ scope }) => writeValue(valueAt(scope, path)))]);
}

/** Skills that were asked for, by the work or by a strategy. */
function writeSkills(members: readonly Member[], reads: PoolReads, required: readonly string[]): unknown {
  const names = [...new Set([...required, ...reads.skills])].sort((a, b) => (a < b ? -1 : 1));
  if (names.length === 0) return undefined;
  return names.map((name) => [
    name,
    column(
      members.map(({ skills }) => skills.get(name) ?? 0),
      0,
    ) ?? 0,
  ]);
}

function writeMembers(members: readonly Member[], nowUs: number): Record<string, unknown> {
  const states: readonly string[] = RECIPIENT_STATES;
  return {
    i: packIds(members.map(({ id }) => id)),
    r: column(
      members.map(({ version }) => version),
      1,
    ),
    w: column(
      members.map(({ weightMilli }) => weightMilli),
      1000,
    ),
    t: column(
      members.map(({ tier }) => tier),
      0,
    ),
    o: column(
      members.map(({ order }) => order),
      0,
    ),
    c: column(members.map(({ costMicros }) => (costMicros === undefined ? undefined : String(costMicros)))),
    m: column(
      members.map(({ maxConcurrent }) => maxConcurrent),
      0,
    ),
    l: column(
      members.map(({ dailyLimit }) => dailyLimit),
      0,
    ),
    s: column(
      members.map(({ state }) => states.indexOf(state)),
      0,
    ),
    su: column(members.map(({ stateUntilUs }) => (stateUntilUs === undefined ? undefined : nowUs - stateUntilUs))),
    ia: column(
      members.map(({ isActive }) => isActive),
      true,
    ),
  };
}

/** What was looked at in a pool. */
function writeLooked(looked: readonly Looked[], hop: Hop, { input }: Decision): Record<string, unknown> {
  const { view } = hop.snapshot;
  const members = looked.map(({ member }) => member);
  const isClosed = looked.map(({ verdicts }) => verdicts.some(({ code }) => code === 'outside_schedule'));
  const failed = looked.flatMap(({ verdicts }, index) =>
    verdicts.length === 0 ? [] : [[index, ...verdicts.map(({ code }) => VERDICT_CODES.indexOf(code))]],
  );
  return {
    ...writeMembers(members, input.nowUs),
    u: column(
      looked.map(({ units }) => units),
      1,
    ),
    cl: column(isClosed, false),
    f: writeFacts(
      looked.map(({ facts }) => facts),
      view.reads,
      input.nowUs,
    ),
    k: writeSkills(members, view.reads, input.routable.requiredSkills),
    q: writeAttributes(members, view.reads),
    g: {
      p: column(members.map(({ id }) => input.pinned?.get(id))),
      x: column(
        members.map(({ id }) => input.excluded?.has(id) ?? false),
        false,
      ),
      c: column(
        members.map(({ id }) => input.conflicting?.has(id) ?? false),
        false,
      ),
    },
    y: failed.length === 0 ? undefined : failed,
    py: hop.filtered?.isPanic === true ? true : undefined,
  };
}

function writeAdmission({ admission }: Attempt, placeOf: (id: string) => number | string): unknown {
  if (admission === undefined) return undefined;
  if (admission.kind === 'unavailable') return ['u'];
  const usage = admission.usage.map(({ id, units, used, limit, usedToday, dailyLimit }) => {
    return [placeOf(id), units, used, limit, usedToday, dailyLimit];
  });
  return [admission.kind === 'granted' ? 'g' : 'r', usage];
}

function writeAttempt(attempt: Attempt, placeOf: (id: string) => number | string): Record<string, unknown> {
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
function standbyPlace({ snapshot, filtered }: Hop): number | undefined {
  const standbys = new Set(snapshot.view.standbys.map(({ id }) => id));
  const place = filtered?.looked.findIndex(({ member }) => standbys.has(member.id)) ?? -1;
  return place === -1 ? undefined : place;
}

/** The deadline where it depends on opening hours, which a record does not have; null: there was none. */
function dueOf({ snapshot, attempts, dueUs }: Hop): number | null | undefined {
  if (snapshot.view.settings.sla?.isBusiness !== true) return undefined;
  return dueUs ?? (attempts.length > 0 ? null : undefined);
}

function writeHop(hop: Hop, decision: Decision): Record<string, unknown> {
  const { view, state, bindings, answers } = hop.snapshot;
  const looked = hop.filtered?.looked ?? [];
  const brought = hop.enriched?.brought ?? [];
  const ids = looked.map(({ member }) => member.id);
  const places = new Map(ids.map((id, index) => [id, index]));
  const placeOf = (id: string): number | string => places.get(id) ?? id;
  const changes = hop.attempts.at(-1)?.selection.changes ?? [];
  return {
    p: view.id,
    v: view.version,
    d: view.digest,
    cl: hop.reason === 'pool_closed' ? true : undefined,
    en: brought.length === 0 ? undefined : brought,
    ...(looked.length === 0 ? {} : writeLooked(looked, hop, decision)),
    z: looked.length === 0 ? undefined : writeState(state, ids),
    b:
      bindings.size === 0
        ? undefined
        : [...bindings].map(([key, { recipientId, expiresUs, tier }]) => {
            return [key, placeOf(recipientId), expiresUs, ...(tier === undefined ? [] : [tier])];
          }),
    j:
      answers === undefined || answers.size === 0
        ? undefined
        : [...answers].map(([key, { ids: named, note }]) => [key, named?.map(placeOf) ?? null, note]),
    n: hop.attempts.length === 0 ? undefined : hop.attempts.map((attempt) => writeAttempt(attempt, placeOf)),
    e: changes.length === 0 ? undefined : digestText(canonicalJson(changes)),
    why: hop.reason,
    to: hop.direct,
    sb: standbyPlace(hop),
    due: dueOf(hop),
    fell: hop.fell,
  };
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

/** Documents that a decision's record names, by digest: kept once for all decisions that name them. */
export function documentsOf(decision: Decision): ReadonlyMap<string, unknown> {
  const rules = decision.rules.trace.map(([rule]): [string, unknown] => [ruleDigest(rule), ruleDocument(rule)]);
  const pools = decision.hops.map(({ snapshot }): [string, unknown] => [snapshot.view.digest, snapshot.view.document]);
  return new Map([...rules, ...pools]);
}
