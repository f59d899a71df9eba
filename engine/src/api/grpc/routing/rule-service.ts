/** RuleService: which pool work goes to that names none. */
import {
  CreateRuleRequest,
  RuleInput,
  RuleServiceService,
  type CreateRuleResponse,
  type DeleteRuleRequest,
  type DeleteRuleResponse,
  type GetRuleRequest,
  type GetRuleResponse,
  type ListRulesRequest,
  type ListRulesResponse,
  type ReorderRulesRequest,
  type ReorderRulesResponse,
  type UpdateRuleRequest,
  type UpdateRuleResponse,
} from '../../../gen/ductor/v1/rule.js';
import { MAX_RULES, type Rules } from '../../../routing/index.js';
import { contractJson } from '../../json/contract-json.js';
import type { Unary } from '../call.js';
import { badCursor, decodeCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { patchOf } from '../pools/patch.js';
import { pageOf } from '../wire/page.js';
import { ruleMessage } from '../wire/rule.js';

/** What the handlers need. */
export interface RuleServiceParts {
  readonly rules: Rules;
}

const { createRule: CREATE, updateRule: UPDATE, deleteRule: DELETE, reorderRules: REORDER } = RuleServiceService;

/** CreateRule. */
export function createRule({ rules }: RuleServiceParts): Unary<CreateRuleRequest, CreateRuleResponse> {
  return async (request, by) => {
    const sent = contractJson().sent('CreateRuleRequest', CreateRuleRequest.encode(request).finish());
    return { data: ruleMessage(await rules.create({ by, method: CREATE.path }, sent)) };
  };
}

/** GetRule. */
export function getRule({ rules }: RuleServiceParts): Unary<GetRuleRequest, GetRuleResponse> {
  return async ({ ruleId }, { tenantId }) => {
    checkId('rule_id', ruleId);
    return { data: ruleMessage(await rules.get(tenantId, ruleId)) };
  };
}

/** Where a list goes on. A cursor names priority and name of the last rule of its page. */
function placeOf(cursor: string): { readonly priority: number; readonly name: string } | null {
  if (cursor === '') return null;
  const [priority = '', name = ''] = decodeCursor(cursor, 2);
  if (!/^-?\d{1,7}$/.test(priority)) throw badCursor(cursor);
  return { priority: Number(priority), name };
}

/** ListRules. */
export function listRules({ rules }: RuleServiceParts): Unary<ListRulesRequest, ListRulesResponse> {
  return async ({ pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    checks.done();
    const found = await rules.list(tenantId, { after: placeOf(cursor), limit: limit + 1 });
    const { page, end } = pageOf(found, limit, ({ fields }) => [fields.priority, fields.name]);
    return { data: page.map(ruleMessage), pagination: end };
  };
}

/** UpdateRule. */
export function updateRule({ rules }: RuleServiceParts): Unary<UpdateRuleRequest, UpdateRuleResponse> {
  return async ({ ruleId, rule, updateMask, expectedVersion }, by) => {
    checkId('rule_id', ruleId);
    const sent = contractJson().sent('RuleInput', RuleInput.encode(rule ?? RuleInput.create()).finish());
    const patch = patchOf(sent, updateMask);
    return { data: ruleMessage(await rules.update({ by, method: UPDATE.path }, ruleId, patch, expectedVersion)) };
  };
}

/** DeleteRule. */
export function deleteRule({ rules }: RuleServiceParts): Unary<DeleteRuleRequest, DeleteRuleResponse> {
  return async ({ ruleId, expectedVersion }, by) => {
    checkId('rule_id', ruleId);
    return { data: ruleMessage(await rules.remove({ by, method: DELETE.path }, ruleId, expectedVersion)) };
  };
}

/** ReorderRules. */
export function reorderRules({ rules }: RuleServiceParts): Unary<ReorderRulesRequest, ReorderRulesResponse> {
  return async ({ ruleIds }, by) => {
    const checks = new FieldChecks();
    checks.count('rule_ids', ruleIds.length, 0, MAX_RULES);
    checks.done();
    for (const [index, id] of ruleIds.entries()) checks.uuid(`rule_ids[${index}]`, id);
    checks.done();
    return { data: (await rules.reorder({ by, method: REORDER.path }, ruleIds)).map(ruleMessage) };
  };
}
