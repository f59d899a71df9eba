/** `ductor bundle …`. */
import { type Command, Option } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { applyBundle, diffBundle, exportBundle, type ApplyOptions, type DiffOptions } from './run-bundle.js';

function pruneOption(command: Command): Command {
  return command.addOption(
    new Option('--prune <kinds...>', 'delete what the bundle does not name of these kinds (default: of none)').choices([
      'pools',
      'recipients',
      'rules',
      'claim_queues',
    ]),
  );
}

/** Adds the commands. */
export function bundleCommands(root: Command, context: CliContext): void {
  const group = root
    .command('bundle')
    .description('pools, recipients, rules and claim queues as one file: docs/bundles.md');
  const diff = clientCommand(group, {
    usage: 'diff <file>',
    summary: 'what applying the file would change; - is standard input',
    examples: [
      ['ductor bundle diff routing.yaml', 'with the plan that apply can be held to'],
      ['ductor bundle diff routing.yaml --prune rules --exit-code', 'ends with 1 when something would change'],
    ],
  }).option('--exit-code', 'end with 1 when something would change');
  pruneOption(diff).action((file: string, options: DiffOptions) => diffBundle(context, file, options));
  const apply = clientCommand(group, {
    usage: 'apply <file>',
    summary: 'make everything what the file says, or nothing; - is standard input',
    examples: [
      ['ductor bundle apply routing.yaml --reason "TICKET-12"', 'once more changes nothing'],
      ['ductor bundle apply routing.yaml --prune pools recipients rules', 'and delete whatever is not in it'],
    ],
  })
    .option('--plan <digest>', 'only if that is still what it does: the plan that diff printed')
    .option('--reason <text>', 'for the audit trail');
  pruneOption(apply).action((file: string, options: ApplyOptions) => applyBundle(context, file, options));
  clientCommand(group, {
    usage: 'export',
    summary: 'print everything there is as YAML, or as JSON',
    examples: [['ductor bundle export > routing.yaml', 'applied as it is, it changes nothing']],
  }).action((options: ClientOptions) => exportBundle(context, options));
}
