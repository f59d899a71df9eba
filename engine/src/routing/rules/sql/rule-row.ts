import type { Row } from '../../../store/index.js';
import type { Rule, RuleFields } from '../rule.js';

/** Columns of a rule `r`. */
export const RULE_COLUMNS = 'r.tenant_id, r.rule_id, r.fields, r.record_version, r.created_at, r.updated_at';

/** The order in which rules are asked. */
export const RULE_ORDER = 'r.priority, r.name collate "C"';

/** A row of them. */
export interface RuleRow extends Row {
  readonly tenant_id: string;
  readonly rule_id: string;
  readonly fields: RuleFields;
  readonly record_version: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The rule that a row holds. */
export function toRule(row: RuleRow): Rule {
  return {
    ...{ tenantId: row.tenant_id, id: row.rule_id, version: row.record_version, fields: row.fields },
    ...{ createdAtUs: row.created_at, updatedAtUs: row.updated_at },
  };
}
