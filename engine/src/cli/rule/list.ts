/** Rules as the terminal shows them: `ductor rule list`. */
import { type GetRuleResponse, ListRulesResponse, Rule } from '../../gen/ductor/v1/rule.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import { type Cell, table } from '../output/table.js';
import { given } from '../workflow/find-definition.js';
import { findRuleId } from './find.js';

/** Columns of rules. */
export const RULE_HEADER: readonly string[] = ['PRIORITY', 'RULE', 'DOES', 'VERSION', 'ID', 'WHEN'];

/** A rule by these columns. */
export function ruleRow({
  priority,
  name,
  enabled,
  action,
  poolId,
  stop,
  recordVersion,
  id,
  expr,
}: Rule): readonly Cell[] {
  const target = poolId === undefined || poolId === '' ? '' : ` to ${poolId}`;
  const does = enabled ? `${action}${target}${stop ? '' : ', then go on'}` : 'nothing: it is off';
  return [String(priority), name, enabled ? does : { text: does, tone: 'quiet' }, String(recordVersion), id, expr];
}

/** Prints one rule. */
export async function printRule({ terminal }: CliContext, rule: Rule, { json }: ClientOptions): Promise<void> {
  if (json === true) terminal.out(`${await messageToJson('Rule', Rule, rule)}\n`);
  else terminal.out(table(terminal, RULE_HEADER, [ruleRow(rule)]));
}

/** `ductor rule get`. */
export function getRule(context: CliContext, rule: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const ruleId = await findRuleId(engine, rule);
    const { data } = await engine.ask<GetRuleResponse>((...rest) => engine.rules.getRule({ ruleId }, ...rest));
    await printRule(context, given(data), options);
  });
}

/** Runs the command. */
export function listRules(context: CliContext, options: PageOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { pagination: wantedPage(options) };
    const page = await engine.ask<ListRulesResponse>((...rest) => engine.rules.listRules(request, ...rest));
    const look = {
      ...{ name: 'ListRulesResponse', encoder: ListRulesResponse, none: 'There is no rule.' },
      ...{ header: RULE_HEADER, row: ruleRow },
    };
    await printPage(context, options, look, page);
  });
}
