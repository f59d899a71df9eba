import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { Rule } from '../rule.js';
import { RULE_COLUMNS, RULE_ORDER, toRule, type RuleRow } from './rule-row.js';

const FIND_TEXT = `select ${RULE_COLUMNS} from ductor.rule r where r.tenant_id = $1::uuid and r.rule_id = $2::uuid`;
const FIND = prepared('routing_find_rule', FIND_TEXT);
const LOCK = prepared('routing_lock_rule', `${FIND_TEXT} for update of r`);
const LIST = prepared(
  'routing_list_rules',
  `select ${RULE_COLUMNS} from ductor.rule r
    where r.tenant_id = $1::uuid
      and ($2::integer is null or (r.priority, r.name collate "C") > ($2::integer, $3::text collate "C"))
    order by ${RULE_ORDER} limit $4`,
);
const LOCK_ALL = prepared(
  'routing_lock_rules',
  `select ${RULE_COLUMNS} from ductor.rule r where r.tenant_id = $1::uuid order by r.rule_id for update of r`,
);
const LOCK_VERSIONS = prepared(
  'routing_lock_rule_versions',
  `select r.rule_id as id, r.record_version as version from ductor.rule r
    where r.tenant_id = $1::uuid and r.rule_id = any($2::uuid[]) order by r.rule_id for update of r`,
);
const ALL = prepared(
  'routing_all_rules',
  `select ${RULE_COLUMNS} from ductor.rule r where r.tenant_id = $1::uuid order by ${RULE_ORDER}`,
);

/** Where a list of rules goes on. */
export interface RulePlace {
  readonly priority: number;
  readonly name: string;
}

/** One rule; undefined when there is none. */
export async function findRule(db: Queryable, tenantId: string, ruleId: string): Promise<Rule | undefined> {
  const { rows } = await db.query<RuleRow>(FIND, [tenantId, ruleId]);
  return rows[0] && toRule(rows[0]);
}

/** One rule, locked until the transaction ends; undefined when there is none. */
export async function lockRule(tx: Queryable, tenantId: string, ruleId: string): Promise<Rule | undefined> {
  const { rows } = await tx.query<RuleRow>(LOCK, [tenantId, ruleId]);
  return rows[0] && toRule(rows[0]);
}

/** Rules of a tenant after a place (null: from the first), in the order in which they are asked. */
export async function listRules(
  db: Queryable,
  tenantId: string,
  { after, limit }: { readonly after: RulePlace | null; readonly limit: number },
): Promise<readonly Rule[]> {
  const { rows } = await db.query<RuleRow>(LIST, [tenantId, after?.priority ?? null, after?.name ?? null, limit]);
  return rows.map(toRule);
}

/** All rules of a tenant, locked until the transaction ends, by id. */
export async function lockRules(tx: Queryable, tenantId: string): Promise<readonly Rule[]> {
  const { rows } = await tx.query<RuleRow>(LOCK_ALL, [tenantId]);
  return rows.map(toRule);
}

/** All rules of a tenant, in the order in which they are asked. */
export async function allRules(db: Queryable, tenantId: string): Promise<readonly Rule[]> {
  const { rows } = await db.query<RuleRow>(ALL, [tenantId]);
  return rows.map(toRule);
}

interface VersionRow extends Row {
  readonly id: string;
  readonly version: number;
}

/** Locks rules until the transaction ends, in the order of their ids; versions by id, of those that there are. */
export async function lockRuleVersions(
  tx: Queryable,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await tx.query<VersionRow>(LOCK_VERSIONS, [tenantId, uuidArray(ids)]);
  return new Map(rows.map(({ id, version }) => [id, version]));
}
