/** `ductor rule …`. */
import { type Command, Option } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { pageOptions, type PageOptions } from '../list-page.js';
import { expectOption, signedNumber } from '../options.js';
import {
  createRule,
  deleteRule,
  reorderRules,
  updateRule,
  type RuleContentOptions,
  type UpdateRuleOptions,
} from './change.js';
import { getRule, listRules } from './list.js';

const MAX_PRIORITY = 1_000_000;

function contentOptions(command: Command): Command {
  return command
    .option('--when <expression>', 'CEL over routable and now: whether the rule matches')
    .option('--pool <pool>', 'where work goes that matches, by name or id')
    .addOption(
      new Option('--action <action>', 'with work that matches (default: route)').choices(['route', 'drop', 'hold']),
    )
    .option('--priority <number>', 'lower is asked first (default: 0)', signedNumber(-MAX_PRIORITY, MAX_PRIORITY))
    .addOption(new Option('--stop', 'ask no further rules once it matches (default)').default(undefined))
    .addOption(new Option('--no-stop', 'ask further rules although it matches').default(undefined))
    .addOption(new Option('--enabled', 'ask it (default)').default(undefined))
    .addOption(new Option('--no-enabled', 'do not ask it').default(undefined))
    .option('--from <instant>', 'not asked before, for example 2026-03-01T00:00:00Z')
    .option('--to <instant>', 'not asked from then on')
    .option('--file <file>', 'JSON with the fields of the contract, - for standard input; other options win over it');
}

function writingCommands(group: Command, context: CliContext): void {
  const create = clientCommand(group, {
    usage: 'create [name]',
    summary: 'make a rule: which pool work goes to that names none',
    examples: [
      [`ductor rule create vip --when 'routable.attributes.amount > 50000.0' --pool vip --priority 10`, 'big leads'],
      [`ductor rule create spam --when 'routable.type == "spam"' --action drop`, 'nobody gets it'],
    ],
  });
  contentOptions(create).action((name: string | undefined, options: RuleContentOptions) =>
    createRule(context, name, options),
  );
  const update = clientCommand(group, {
    usage: 'update <rule>',
    summary: 'change what is given, and leave the rest as it is',
    examples: [['ductor rule update vip --no-enabled', 'off, by its name or its id']],
  }).option('--name <name>', 'call it so from now on');
  expectOption(contentOptions(update)).action((rule: string, options: UpdateRuleOptions) =>
    updateRule(context, rule, options),
  );
  const remove = clientCommand(group, {
    usage: 'delete <rule>',
    summary: 'delete a rule',
    examples: [['ductor rule delete vip', 'by its name or its id']],
  });
  expectOption(remove).action((rule: string, options: UpdateRuleOptions) => deleteRule(context, rule, options));
  clientCommand(group, {
    usage: 'reorder <rules...>',
    summary: 'ask rules in this order; every rule is named once',
    examples: [['ductor rule reorder spam vip rest', 'priorities 10, 20, 30']],
  }).action((rules: readonly string[], options: ClientOptions) => reorderRules(context, rules, options));
}

/** Adds the commands. */
export function ruleCommands(root: Command, context: CliContext): void {
  const group = root.command('rule').description('which pool work goes to that names none: docs/routing.md, "Rules"');
  const list = clientCommand(group, {
    usage: 'list',
    summary: 'list rules in the order in which they are asked',
    examples: [['ductor rule list', 'the first that matches decides']],
  });
  pageOptions(list).action((options: PageOptions) => listRules(context, options));
  clientCommand(group, {
    usage: 'get <rule>',
    summary: 'print a rule',
    examples: [['ductor rule get vip --json', 'by its name or its id; the same as GET /api/rules/{rule_id}']],
  }).action((rule: string, options: ClientOptions) => getRule(context, rule, options));
  writingCommands(group, context);
}
