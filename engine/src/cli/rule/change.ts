/** `ductor rule create`, `update`, `delete` and `reorder`. */
import {
  CreateRuleRequest,
  ReorderRulesResponse,
  RuleInput,
  type CreateRuleResponse,
  type DeleteRuleResponse,
  type UpdateRuleResponse,
} from '../../gen/ductor/v1/rule.js';
import { bodyOf, changedBody, type Fields } from '../body.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { changeFromJson, messageFromJson, messageToJson } from '../output/message-json.js';
import { oneLine } from '../output/safe-text.js';
import { table } from '../output/table.js';
import { findPoolId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';
import { findRuleId, findRuleIds } from './find.js';
import { printRule, RULE_HEADER, ruleRow } from './list.js';

/** Options by which a rule is made and changed. */
export interface RuleContentOptions extends ClientOptions {
  readonly file?: string;
  readonly name?: string;
  /** CEL. */
  readonly when?: string;
  readonly pool?: string;
  readonly action?: string;
  readonly priority?: number;
  readonly stop?: boolean;
  readonly enabled?: boolean;
  readonly from?: string;
  readonly to?: string;
}

async function fieldsOf(engine: EngineClient, options: RuleContentOptions): Promise<Fields> {
  const { name, when, pool, action, priority, stop, enabled, from, to } = options;
  const poolId = pool === undefined ? undefined : await findPoolId(engine, pool);
  return {
    ...{ name, expr: when, pool_id: poolId, action, priority, stop, enabled },
    ...{ effective_from: from, effective_to: to },
  };
}

/** Runs `ductor rule create`. */
export function createRule(context: CliContext, name: string | undefined, options: RuleContentOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = bodyOf(options.file, { ...(await fieldsOf(engine, options)), name });
    const request = await messageFromJson('CreateRuleRequest', CreateRuleRequest, JSON.stringify(fields), where);
    const { data } = await engine.ask<CreateRuleResponse>((...rest) => engine.rules.createRule(request, ...rest));
    await printRule(context, given(data), options);
  });
}

/** Options of `ductor rule update` and `delete`. */
export interface UpdateRuleOptions extends RuleContentOptions {
  readonly expect?: number;
}

/** Runs `ductor rule update`. */
export function updateRule(context: CliContext, name: string, options: UpdateRuleOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { fields, where } = changedBody(options.file, await fieldsOf(engine, options), '--priority 5');
    const { message: rule, updateMask } = await changeFromJson('RuleInput', RuleInput, JSON.stringify(fields), where);
    const ruleId = await findRuleId(engine, name);
    const request = { ruleId, rule, updateMask, expectedVersion: options.expect ?? 0 };
    const { data } = await engine.ask<UpdateRuleResponse>((...rest) => engine.rules.updateRule(request, ...rest));
    await printRule(context, given(data), options);
  });
}

/** Runs `ductor rule delete`. */
export function deleteRule(context: CliContext, name: string, options: UpdateRuleOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { ruleId: await findRuleId(engine, name), expectedVersion: options.expect ?? 0 };
    const { data } = await engine.ask<DeleteRuleResponse>((...rest) => engine.rules.deleteRule(request, ...rest));
    const rule = given(data);
    if (options.json === true) await printRule(context, rule, options);
    else context.terminal.out(`deleted ${oneLine(rule.name)} (${rule.id})\n`);
  });
}

/** Runs `ductor rule reorder`. */
export function reorderRules(context: CliContext, names: readonly string[], options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const ruleIds = await findRuleIds(engine, names);
    const answer = await engine.ask<ReorderRulesResponse>((...rest) => engine.rules.reorderRules({ ruleIds }, ...rest));
    if (options.json === true) {
      terminal.out(`${await messageToJson('ReorderRulesResponse', ReorderRulesResponse, answer)}\n`);
    } else terminal.out(table(terminal, RULE_HEADER, answer.data.map(ruleRow)));
  });
}
