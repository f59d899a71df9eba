import { impossible } from '../../../kernel/index.js';
import { uuidArray, type Queryable } from '../../../store/index.js';
import type { Rule, RuleFields } from '../rule.js';
import { RULE_COLUMNS, toRule, type RuleRow } from './rule-row.js';

/** Stores a new rule; undefined: its name is taken. */
export async function insertRule(
  tx: Queryable,
  tenantId: string,
  ruleId: string,
  fields: RuleFields,
): Promise<Rule | undefined> {
  const { rows } = await tx.query<RuleRow>(
    `insert into ductor.rule as r (tenant_id, rule_id, fields) values ($1::uuid, $2::uuid, $3::jsonb)
      on conflict (tenant_id, name) do nothing returning ${RULE_COLUMNS}`,
    [tenantId, ruleId, JSON.stringify(fields)],
  );
  return rows[0] && toRule(rows[0]);
}

/** Stores what a locked rule is now. Throws what the database throws when another one has the name. */
export async function updateRule(tx: Queryable, tenantId: string, ruleId: string, fields: RuleFields): Promise<Rule> {
  const { rows } = await tx.query<RuleRow>(
    `update ductor.rule r set fields = $3::jsonb, record_version = r.record_version + 1, updated_at = ductor.now_us()
      where r.tenant_id = $1::uuid and r.rule_id = $2::uuid returning ${RULE_COLUMNS}`,
    [tenantId, ruleId, JSON.stringify(fields)],
  );
  return toRule(rows[0] ?? impossible('rule-gone', 'a rule was gone while its row was locked'));
}

/** Gives locked rules new priorities; those that have theirs already stay as they are, version and all. */
export async function setPriorities(
  tx: Queryable,
  tenantId: string,
  ruleIds: readonly string[],
  priorities: readonly number[],
): Promise<void> {
  await tx.query(
    `update ductor.rule r set fields = r.fields || jsonb_build_object('priority', n.priority),
        record_version = r.record_version + 1, updated_at = ductor.now_us()
      from unnest($2::uuid[], $3::integer[]) as n (rule_id, priority)
      where r.tenant_id = $1::uuid and r.rule_id = n.rule_id and r.priority <> n.priority`,
    [tenantId, ruleIds, priorities],
  );
}

/** Removes locked rules. */
export async function deleteRules(tx: Queryable, tenantId: string, ruleIds: readonly string[]): Promise<void> {
  if (ruleIds.length === 0) return;
  await tx.query('delete from ductor.rule where tenant_id = $1::uuid and rule_id = any($2::uuid[])', [
    tenantId,
    uuidArray(ruleIds),
  ]);
}

/** A rule as it is to be. */
interface WrittenRule {
  readonly id: string;
  readonly fields: RuleFields;
}

const valuesOf = (tenantId: string, rules: readonly WrittenRule[]): unknown[] => [
  tenantId,
  uuidArray(rules.map(({ id }) => id)),
  rules.map(({ fields }) => JSON.stringify(fields)),
];

/** Stores new rules. Throws what the database throws when a name is taken. */
export async function insertRules(tx: Queryable, tenantId: string, rules: readonly WrittenRule[]): Promise<void> {
  if (rules.length === 0) return;
  await tx.query(
    `insert into ductor.rule (tenant_id, rule_id, fields)
      select $1::uuid, n.rule_id, n.fields from unnest($2::uuid[], $3::jsonb[]) as n (rule_id, fields)`,
    valuesOf(tenantId, rules),
  );
}

/** Stores what locked rules are now. */
export async function updateRules(tx: Queryable, tenantId: string, rules: readonly WrittenRule[]): Promise<void> {
  if (rules.length === 0) return;
  await tx.query(
    `update ductor.rule r set fields = n.fields, record_version = r.record_version + 1, updated_at = ductor.now_us()
      from unnest($2::uuid[], $3::jsonb[]) as n (rule_id, fields)
      where r.tenant_id = $1::uuid and r.rule_id = n.rule_id`,
    valuesOf(tenantId, rules),
  );
}

/** How many rules the tenant has. */
export async function countRules(tx: Queryable, tenantId: string): Promise<number> {
  const { rows } = await tx.query<{ rules: number }>(
    'select count(*)::integer as rules from ductor.rule where tenant_id = $1::uuid',
    [tenantId],
  );
  return rows[0]?.rules ?? 0;
}
