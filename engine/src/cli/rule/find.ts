/** Finds rules by what people call them. */
import type { ListRulesResponse, Rule } from '../../gen/ductor/v1/rule.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { isId } from '../pool/find.js';

const PAGE = 200;

/** All rules, in the order in which they are asked; a tenant has at most 1,000. */
async function allRules(engine: EngineClient): Promise<readonly Rule[]> {
  const rules: Rule[] = [];
  for (let cursor = ''; ;) {
    const pagination = { pageSize: PAGE, cursor, nextCursor: '' };
    const page = await engine.ask<ListRulesResponse>((...rest) => engine.rules.listRules({ pagination }, ...rest));
    rules.push(...page.data);
    cursor = page.pagination?.nextCursor ?? '';
    if (cursor === '') return rules;
  }
}

/** Ids of rules by their ids or names, in the same order; ids are taken as they are. Throws not_found. */
export async function findRuleIds(engine: EngineClient, rules: readonly string[]): Promise<string[]> {
  if (rules.every(isId)) return [...rules];
  const known = new Map((await allRules(engine)).map(({ name, id }) => [name, id]));
  return rules.map((rule) => {
    const found = isId(rule) ? rule : known.get(rule);
    if (found !== undefined) return found;
    throw new DuctorError('not_found', `there is no rule ${JSON.stringify(rule)}`, {
      remedy: 'ductor rule list shows all; a rule is named by its name or its id.',
    });
  });
}

/** The id of a rule by its id or name. Throws not_found. */
export async function findRuleId(engine: EngineClient, rule: string): Promise<string> {
  const [id = rule] = await findRuleIds(engine, [rule]);
  return id;
}
