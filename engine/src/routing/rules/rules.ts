/**
 * The rules of tenants.
 *
 * Invariants:
 * 1. What was changed stands in the audit trail when, and only when, it was: both are one transaction.
 * 2. record_version counts each change, under a lock of the row; a guard compares under the same lock.
 * 3. A rule that is written names a pool that there is; deleting the pool later leaves the rule, which then finds none.
 */
import type { CelCompiler } from '../../expressions/index.js';
import { DuctorError } from '../../kernel/index.js';
import { checkVersion, keepPools, unlessTaken, type Caller } from '../../pools/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import { deedOf, insertAudit } from '../../tenancy/index.js';
import { ruleCheck, type Rule, type RuleFields } from './rule.js';
import { allRules, findRule, listRules, lockRule, lockRules, type RulePlace } from './sql/read-rules.js';
import { countRules, deleteRules, insertRule, setPriorities, updateRule } from './sql/write-rules.js';

/** Most rules of a tenant: a decision without a pool asks them one by one. */
export const MAX_RULES = 1000;
/** Distance of priorities after a reorder: so many rules fit between two without another one. */
const PRIORITY_STEP = 10;

/** The rules. Ids of other tenants answer not_found, as those of no rule do. */
export interface Rules {
  /** Throws invalid_argument, not_found (its pool), rule_exists, limit_exceeded. */
  create(caller: Caller, input: unknown): Promise<Rule>;
  /** Throws not_found. */
  get(tenantId: string, ruleId: string): Promise<Rule>;
  /** In the order in which they are asked. */
  list(tenantId: string, query: { readonly after: RulePlace | null; readonly limit: number }): Promise<readonly Rule[]>;
  /**
   * Changes what the patch names (RFC 7396). Throws what create throws, not_found, version_conflict.
   *
   * @param expectedVersion record_version that the caller read; 0: whatever it is
   */
  update(caller: Caller, ruleId: string, patch: unknown, expectedVersion: number): Promise<Rule>;
  /** Returns what it was. Throws not_found, version_conflict. */
  remove(caller: Caller, ruleId: string, expectedVersion: number): Promise<Rule>;
  /** Puts all rules in this order; returns them. Throws invalid_argument unless each rule is named exactly once. */
  reorder(caller: Caller, ruleIds: readonly string[]): Promise<readonly Rule[]>;
}

/** What it needs. */
export interface RulesOptions {
  readonly db: TenantAccess;
  readonly cel: CelCompiler;
  readonly newId: () => string;
  /** Told after rules of a tenant changed. */
  readonly onChange: (tenantId: string) => void;
}

function unknown(ruleId: string): DuctorError {
  return new DuctorError('not_found', `there is no rule ${ruleId}`);
}

function taken(fields: RuleFields): string {
  return `there is a rule named ${JSON.stringify(fields.name)} already`;
}

async function audit(tx: Queryable, { by, method }: Caller, ruleIds: readonly string[]): Promise<void> {
  const deed = { ...deedOf(by, method), tenantId: by.tenantId, objectKind: 'rule', outcome: 'ok' } as const;
  await insertAudit(
    tx,
    ruleIds.map((objectId) => ({ ...deed, objectId })),
  );
}

/** Throws not_found unless the pool that the rule routes to is there. */
async function checkPool(tx: Queryable, tenantId: string, { pool_id: poolId }: RuleFields): Promise<void> {
  if (poolId === undefined) return;
  const [missing] = await keepPools(tx, tenantId, [poolId]);
  if (missing !== undefined) throw new DuctorError('not_found', `there is no pool ${missing}`);
}

async function locked(tx: Queryable, tenantId: string, ruleId: string, expected: number): Promise<Rule> {
  const rule = await lockRule(tx, tenantId, ruleId);
  if (rule === undefined) throw unknown(ruleId);
  checkVersion(`rule ${rule.fields.name}`, rule.version, expected);
  return rule;
}

async function add(tx: Queryable, caller: Caller, ruleId: string, fields: RuleFields): Promise<Rule> {
  const { tenantId } = caller.by;
  await checkPool(tx, tenantId, fields);
  if ((await countRules(tx, tenantId)) >= MAX_RULES) {
    throw new DuctorError('limit_exceeded', `the tenant has ${MAX_RULES} rules, which is the most it may have`);
  }
  const rule = await insertRule(tx, tenantId, ruleId, fields);
  if (rule === undefined) throw new DuctorError('rule_exists', taken(fields));
  await audit(tx, caller, [ruleId]);
  return rule;
}

/** Throws invalid_argument unless the ids are those of all rules, each once. */
function checkOrder(rules: readonly Rule[], ruleIds: readonly string[]): void {
  const named = new Set(ruleIds);
  const missing = rules.find(({ id }) => !named.has(id));
  const known = new Set(rules.map(({ id }) => id));
  const place = ruleIds.findIndex((id, index) => !known.has(id) || ruleIds.indexOf(id) !== index);
  if (missing === undefined && place === -1) return;
  const details =
    place === -1
      ? { path: 'rule_ids', value: '', problem: `lacks rule ${missing?.fields.name} (${missing?.id})` }
      : { path: `rule_ids[${place}]`, value: ruleIds[place] ?? '', problem: 'is no rule, or stands there twice' };
  const remedy = 'Name every rule of ListRules exactly once.';
  throw new DuctorError('invalid_argument', `${details.path} ${details.problem}`, {
    details: [{ ...details, remedy }],
    remedy,
  });
}

async function reorder(tx: Queryable, caller: Caller, ruleIds: readonly string[]): Promise<readonly Rule[]> {
  const { tenantId } = caller.by;
  const rules = await lockRules(tx, tenantId);
  checkOrder(rules, ruleIds);
  const priorityOf = new Map(ruleIds.map((id, index) => [id, (index + 1) * PRIORITY_STEP]));
  const moved = rules.filter(({ id, fields }) => priorityOf.get(id) !== fields.priority).map(({ id }) => id);
  await setPriorities(tx, tenantId, ruleIds, [...priorityOf.values()]);
  await audit(tx, caller, moved);
  return allRules(tx, tenantId);
}

/** The rules in this database. */
export function createRules({ db, cel, newId, onChange }: RulesOptions): Rules {
  const checks = ruleCheck(cel);
  const change = async <T>({ by }: Caller, work: (tx: Queryable, tenantId: string) => Promise<T>): Promise<T> => {
    const done = await db.asTenant(by.tenantId).transaction((tx) => work(tx, by.tenantId));
    onChange(by.tenantId);
    return done;
  };
  return {
    create(caller, input) {
      const fields = checks.create(input);
      return change(caller, (tx) => add(tx, caller, newId(), fields));
    },
    async get(tenantId, ruleId) {
      const found = await findRule(db.asTenant(tenantId), tenantId, ruleId);
      if (found === undefined) throw unknown(ruleId);
      return found;
    },
    list: (tenantId, query) => listRules(db.asTenant(tenantId), tenantId, query),
    update: (caller, ruleId, patch, expected) =>
      change(caller, async (tx, tenantId) => {
        const was = await locked(tx, tenantId, ruleId, expected);
        const fields = checks.update(was.fields, patch);
        await checkPool(tx, tenantId, fields);
        const rule = await unlessTaken(updateRule(tx, tenantId, ruleId, fields), 'rule_exists', taken(fields));
        await audit(tx, caller, [ruleId]);
        return rule;
      }),
    remove: (caller, ruleId, expected) =>
      change(caller, async (tx, tenantId) => {
        const was = await locked(tx, tenantId, ruleId, expected);
        await deleteRules(tx, tenantId, [ruleId]);
        await audit(tx, caller, [ruleId]);
        return was;
      }),
    reorder: (caller, ruleIds) => change(caller, (tx) => reorder(tx, caller, ruleIds)),
  };
}
