/**
 * What a bundle changes: pure, the same for a diff and for what is then applied.
 *
 * An object is what the bundle says of it; what it does not say has its default. The live state of a recipient (state,
 * its reason and its end) stays as it is unless the bundle names a state; the kill switch of a pool is none of its
 * fields. Recipients that stay while their pool is deleted lose their membership in it.
 */
import { canonicalDigest, DuctorError, isUuid, type Problem } from '../../kernel/index.js';
import {
  recipientCheck,
  withPrimary,
  withoutPool,
  type ObjectChanges,
  type ObjectCheck,
  type PoolFields,
  type RecipientFields,
  type StoredObject,
} from '../../pools/index.js';
import type { ClaimQueueFields } from '../../claims/index.js';
import { queueCheck } from '../claiming/claim-queues.js';
import type { RuleFields } from '../rules/rule.js';
import type { Bundle, BundleChange, BundleKind, FieldsOf, JsonObject, PrunedKind, Whole } from './bundle.js';
import { spillCircles } from './circles.js';
import { fieldChanges } from './field-changes.js';
import { identify, textOf, type Identified, type Identities } from './identify.js';
import { namedAlone, namedRecipient, namesOf, toNames, type AllNames, type Named } from './names.js';
import { mapReferences, referred } from './references.js';

/** What is asked. */
export interface BundleAsk {
  readonly bundle: Bundle;
  readonly prune: ReadonlySet<PrunedKind>;
}

/** What planning needs. */
export interface PlanParts {
  readonly pools: ObjectCheck<PoolFields>;
  readonly rules: ObjectCheck<RuleFields>;
  readonly newId: () => string;
}

/** What a bundle changes. */
export interface BundlePlan {
  readonly pools: ObjectChanges<PoolFields>;
  readonly recipients: ObjectChanges<RecipientFields>;
  readonly rules: ObjectChanges<RuleFields>;
  readonly claim_queues: ObjectChanges<ClaimQueueFields>;
  readonly changes: readonly BundleChange[];
  readonly unchanged: number;
  /** Names exactly these changes from exactly these versions, in hexadecimal. */
  readonly digest: string;
  readonly warnings: readonly string[];
}

/** An object as it is to be. */
interface Target<Fields> extends Identified<Fields> {
  readonly fields: Fields;
}

/** Most problems that one answer lists. */
const MAX_PROBLEMS = 50;

/** Gathers what is wrong with all objects, to say it at once. */
class Planning {
  readonly #problems: Problem[] = [];
  #isConflict = false;

  note(problem: Problem): void {
    this.#problems.push(problem);
  }

  /** The fields of an object; undefined, and its problems noted, when the check refuses them. */
  check<Fields>(checks: ObjectCheck<Fields>, at: string, input: JsonObject): Fields | undefined {
    try {
      return checks.create(input);
    } catch (caught) {
      const { code, details } = DuctorError.from(caught);
      if (code !== 'invalid_argument' && code !== 'strategy_conflict') throw caught;
      if (code === 'strategy_conflict') this.#isConflict = true;
      for (const detail of details) this.note({ ...detail, path: `${at}.${detail.path}` });
      return undefined;
    }
  }

  done(): void {
    const [first] = this.#problems;
    if (first === undefined) return;
    throw new DuctorError(
      this.#isConflict ? 'strategy_conflict' : 'invalid_argument',
      `${first.path} ${first.problem}`,
      { details: this.#problems.slice(0, MAX_PROBLEMS), remedy: first.remedy },
    );
  }
}

/** Stored objects that are deleted: those of the pruned kind that the bundle does not name. */
function prunedOf<Fields>(
  isPruned: boolean,
  stored: readonly StoredObject<Fields>[],
  named: readonly Identified<Fields>[],
): readonly StoredObject<Fields>[] {
  const kept = new Set(named.map(({ id }) => id));
  return isPruned ? stored.filter(({ id }) => !kept.has(id)) : [];
}

/** Everything by its names: as it is, and on top of it as the bundle says; without what is deleted. */
function namesAfter(stored: Whole, found: Identities, gone: ReadonlySet<string>): AllNames {
  const pools = new Map<string, Named>();
  const recipients = new Map<string, Named>();
  const queues = new Map<string, Named>();
  for (const { id, fields } of stored.pools) if (!gone.has(id)) pools.set(id, namedAlone(id, fields));
  for (const { id, fields } of stored.claim_queues) if (!gone.has(id)) queues.set(id, namedAlone(id, fields));
  for (const { id, fields } of stored.recipients) if (!gone.has(id)) recipients.set(id, namedRecipient(id, fields));
  for (const { id, sent } of found.pools) pools.set(id, namedAlone(id, { name: textOf(sent, 'name') }));
  for (const { id, sent } of found.claim_queues) queues.set(id, namedAlone(id, { name: textOf(sent, 'name') }));
  for (const { id, sent } of found.recipients) {
    recipients.set(id, namedRecipient(id, { name: textOf(sent, 'name'), external_id: textOf(sent, 'external_id') }));
  }
  return namesOf(pools.values(), recipients.values(), queues.values());
}

/** References of a stored object that lead nowhere: they may stay, since other calls let them stay. */
function dangling(kind: BundleKind, fields: object | undefined, known: ReadonlySet<string>): ReadonlySet<string> {
  const ids = new Set<string>();
  const look = (id: string): string => {
    if (!known.has(id)) ids.add(id);
    return id;
  };
  if (fields !== undefined) mapReferences(kind, { ...fields }, { pool: look, recipient: look, claim_queue: look });
  return ids;
}

/** Puts ids in the place of names. Notes those that name nothing. */
function resolved<Kind extends BundleKind>(
  planning: Planning,
  kind: Kind,
  object: Identified<FieldsOf[Kind]>,
  names: AllNames,
  known: ReadonlySet<string>,
): JsonObject {
  const loose = dangling(kind, object.was?.fields, known);
  const find = (what: 'pool' | 'recipient' | 'claim_queue') => (text: string, path: string) => {
    const id = names[`${what}s`].idOf(text) ?? (isUuid(text) && loose.has(text) ? text : undefined);
    if (id !== undefined) return id;
    const noun = what.replace('_', ' ');
    const remedy = `Add it to the bundle, or name a ${noun} that there is and that stays, and that is the only one.`;
    planning.note({ path: `${object.at}.${path}`, value: text, problem: `names no ${noun}`, remedy });
    return '00000000-0000-0000-0000-000000000000';
  };
  const refer = { pool: find('pool'), recipient: find('recipient'), claim_queue: find('claim_queue') };
  return mapReferences(kind, object.sent, refer);
}

/** The live state stays as it is unless the bundle names one. */
function withState(fields: RecipientFields, was: RecipientFields | undefined, sent: JsonObject): RecipientFields {
  if (was === undefined || Object.hasOwn(sent, 'state')) return fields;
  const { state_until: _until, ...rest } = fields;
  const until = was.state_until === undefined ? {} : { state_until: was.state_until };
  return { ...rest, state: was.state, state_reason: was.state_reason, ...until };
}

type Targets<Kind extends BundleKind> = readonly Target<FieldsOf[Kind]>[];

/** Recipients that the bundle does not name, and that lose a pool. */
function orphans(
  stored: readonly StoredObject<RecipientFields>[],
  taken: ReadonlySet<string>,
  gone: ReadonlySet<string>,
): Targets<'recipient'> {
  return stored.flatMap((was) => {
    const { id, fields } = was;
    const lost = fields.memberships.filter(({ pool_id }) => gone.has(pool_id));
    if (lost.length === 0 || taken.has(id)) return [];
    const memberships = lost.reduce((left, { pool_id }) => withoutPool(left, pool_id), fields.memberships);
    const { pool_id: primary, ...rest } = fields;
    const kept = primary === undefined || gone.has(primary) ? {} : { pool_id: primary };
    return [{ at: '', sent: {}, id, was, fields: { ...rest, ...kept, memberships } }];
  });
}

interface Listed<Fields> {
  readonly objects: ObjectChanges<Fields>;
  readonly changes: readonly BundleChange[];
  readonly unchanged: number;
}

/** What becomes of the objects of one kind. */
class Listing<Kind extends BundleKind> {
  readonly #created: { readonly id: string; readonly fields: FieldsOf[Kind] }[] = [];
  readonly #updated: StoredObject<FieldsOf[Kind]>[] = [];
  readonly #changes: BundleChange[] = [];
  #unchanged = 0;

  constructor(
    readonly kind: Kind,
    readonly names: AllNames,
  ) {}

  /** An object as people read it. */
  #shown(fields: object): JsonObject {
    return mapReferences(this.kind, JSON.parse(JSON.stringify(fields)), toNames(this.names));
  }

  #change(action: BundleChange['action'], id: string, version: number, fields: FieldsOf[Kind]): BundleChange {
    const externalId = 'external_id' in fields ? fields.external_id : '';
    return { kind: this.kind, action, name: fields.name, externalId, id, version, fields: [] };
  }

  put({ id, was, sent, fields }: Target<FieldsOf[Kind]>): void {
    if (was === undefined) {
      const said = Object.entries(this.#shown(fields)).filter(([key]) => key !== 'name' && Object.hasOwn(sent, key));
      this.#created.push({ id, fields });
      const shown = fieldChanges({}, Object.fromEntries(said));
      this.#changes.push({ ...this.#change('create', '', 0, fields), fields: shown });
      return;
    }
    const shown = fieldChanges(this.#shown(was.fields), this.#shown(fields));
    if (shown.length === 0) {
      this.#unchanged += 1;
      return;
    }
    this.#updated.push({ id, version: was.version, fields });
    this.#changes.push({ ...this.#change('update', id, was.version, fields), fields: shown });
  }

  done(deleted: readonly StoredObject<FieldsOf[Kind]>[]): Listed<FieldsOf[Kind]> {
    const gone = deleted.map(({ id, version, fields }) => this.#change('delete', id, version, fields));
    return {
      objects: { created: this.#created, updated: this.#updated, deleted },
      changes: [...this.#changes, ...gone],
      unchanged: this.#unchanged,
    };
  }
}

function listed<Kind extends BundleKind>(
  kind: Kind,
  names: AllNames,
  targets: Targets<Kind>,
  deleted: readonly StoredObject<FieldsOf[Kind]>[],
): Listed<FieldsOf[Kind]> {
  const listing = new Listing(kind, names);
  for (const target of targets) listing.put(target);
  return listing.done(deleted);
}

/** The objects of the bundle as they are to be. Throws what is wrong with any of them. */
function targetsOf(
  parts: PlanParts,
  stored: Whole,
  found: Identities,
  names: AllNames,
): { readonly [Kind in BundleKind as `${Kind}s`]: Targets<Kind> } {
  const planning = new Planning();
  for (const problem of found.problems) planning.note(problem);
  const known = new Set([...stored.pools, ...stored.recipients, ...stored.claim_queues].map(({ id }) => id));
  const checked = <Kind extends BundleKind>(
    kind: Kind,
    objects: readonly Identified<FieldsOf[Kind]>[],
    checks: ObjectCheck<FieldsOf[Kind]>,
  ): Target<FieldsOf[Kind]>[] =>
    objects.flatMap((object) => {
      const fields = planning.check(checks, object.at, resolved(planning, kind, object, names, known));
      return fields === undefined ? [] : [{ ...object, fields }];
    });
  const pools = checked('pool', found.pools, parts.pools);
  const recipients = checked('recipient', found.recipients, recipientCheck).map((target) => {
    const fields = withPrimary(withState(target.fields, target.was?.fields, target.sent), undefined);
    return { ...target, fields };
  });
  const rules = checked('rule', found.rules, parts.rules);
  const queues = checked('claim_queue', found.claim_queues, queueCheck);
  planning.done();
  return { pools, recipients, rules, claim_queues: queues };
}

/** Pools that do not change any more. */
function checkArchived(targets: Targets<'pool'>, updated: readonly StoredObject<PoolFields>[]): void {
  const ids = new Set(updated.map(({ id }) => id));
  const archived = targets.find(({ id, was }) => ids.has(id) && was?.fields.status === 'STATUS_ARCHIVED');
  if (archived === undefined) return;
  throw new DuctorError('object_archived', `${archived.at}: pool ${archived.fields.name} is archived`);
}

function poolsAfter(stored: Whole, targets: Targets<'pool'>, gone: ReadonlySet<string>): Map<string, PoolFields> {
  const left = stored.pools.filter(({ id }) => !gone.has(id));
  return new Map([...left, ...targets].map(({ id, fields }) => [id, fields]));
}

/** Ids of pools and claim queues that changed objects refer to, and that there are. */
export function referredBy(
  { pools, recipients, rules }: BundlePlan,
  stored: Whole,
): { readonly pools: readonly string[]; readonly queues: readonly string[] } {
  const all = [
    ...[...pools.created, ...pools.updated].map(({ fields }) => referred('pool', fields)),
    ...[...recipients.created, ...recipients.updated].map(({ fields }) => referred('recipient', fields)),
    ...[...rules.created, ...rules.updated].map(({ fields }) => referred('rule', fields)),
  ];
  const there = new Set([...stored.pools, ...stored.claim_queues].map(({ id }) => id));
  const known = (ids: readonly string[]): readonly string[] => [...new Set(ids)].filter((id) => there.has(id));
  return { pools: known(all.flatMap((each) => each.pools)), queues: known(all.flatMap((each) => each.queues)) };
}

/**
 * What the bundle changes.
 *
 * @throws invalid_argument, strategy_conflict with everything that is wrong with the bundle; object_archived
 */
export function planBundle(parts: PlanParts, { bundle, prune }: BundleAsk, stored: Whole): BundlePlan {
  const found = identify(bundle, stored, parts.newId);
  const gonePools = prunedOf(prune.has('pools'), stored.pools, found.pools);
  const goneRecipients = prunedOf(prune.has('recipients'), stored.recipients, found.recipients);
  const goneRules = prunedOf(prune.has('rules'), stored.rules, found.rules);
  const goneQueues = prunedOf(prune.has('claim_queues'), stored.claim_queues, found.claim_queues);
  const gone = new Set([...gonePools, ...goneRecipients, ...goneQueues].map(({ id }) => id));
  const names = namesAfter(stored, found, gone);
  const targets = targetsOf(parts, stored, found, names);
  const taken = new Set([...targets.recipients, ...goneRecipients].map(({ id }) => id));
  const shown = namesAfter(stored, found, new Set());
  const pools = listed('pool', shown, targets.pools, gonePools);
  const left = orphans(stored.recipients, taken, gone);
  const recipients = listed('recipient', shown, [...targets.recipients, ...left], goneRecipients);
  const rules = listed('rule', shown, targets.rules, goneRules);
  const queues = listed('claim_queue', shown, targets.claim_queues, goneQueues);
  checkArchived(targets.pools, pools.objects.updated);
  const changes = [...pools.changes, ...recipients.changes, ...rules.changes, ...queues.changes];
  return {
    ...{ pools: pools.objects, recipients: recipients.objects, rules: rules.objects, claim_queues: queues.objects },
    changes,
    unchanged: pools.unchanged + recipients.unchanged + rules.unchanged + queues.unchanged,
    digest: Buffer.from(canonicalDigest(changes)).toString('hex'),
    warnings: spillCircles(poolsAfter(stored, targets.pools, gone)),
  };
}
