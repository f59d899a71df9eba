/** `ductor route …`. */
import type { Command } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { pageOptions } from '../list-page.js';
import { several, signedNumber } from '../options.js';
import { previewRoute, sendRoute, type SendOptions, type WorkOptions } from './decide.js';
import { explainDecision, listDecisions, replayDecision, type DecisionsOptions } from './read.js';

const MAX_PRIORITY = 1_000_000;

function workOptions(command: Command): Command {
  return command
    .option('--pool <pool>', 'begin with it, by name or id (default: the rules say which)')
    .option('--type <type>', 'what kind of work it is')
    .option('--attributes <json>', 'what rules and scores read, as JSON, @FILE, or - for standard input')
    .option('--priority <number>', 'higher is more urgent (default: 0)', signedNumber(-MAX_PRIORITY, MAX_PRIORITY))
    .option('--channel <channel>', 'says how many units it takes')
    .option('--skill <skill>', 'that a recipient needs; may be repeated', several)
    .option('--recipient <id>', 'this one and no other')
    .option('--exclude <id>', 'not this one; may be repeated', several)
    .option('--file <file>', 'JSON with the fields of the contract, - for standard input; other options win over it');
}

function decidingCommands(group: Command, context: CliContext): void {
  const preview = clientCommand(group, {
    usage: 'preview [work]',
    summary: 'draw what would be decided now; nothing is written',
    examples: [
      [`ductor route preview lead-1 --pool billing --attributes '{"amount": 62000}'`, 'who would get it, and why'],
    ],
  });
  workOptions(preview).action((id: string | undefined, options: WorkOptions) => previewRoute(context, id, options));
  const send = clientCommand(group, {
    usage: 'send [work]',
    summary: 'decide and assign; ends with 1 when nobody gets it',
    examples: [
      ['ductor route send lead-1 --type lead --skill billing --key lead-1', 'the rules say to which pool'],
      ['ductor route send --file request.json --json', 'the same as POST /api/routing/route'],
    ],
  }).option('--key <key>', 'idempotency key: the same key is decided once');
  workOptions(send).action((id: string | undefined, options: SendOptions) => sendRoute(context, id, options));
}

function readingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'explain <decision>',
    summary: 'draw a decision as a funnel: candidates, whom which verdict took out, the ranking, the winner',
    examples: [['ductor route explain DECISION_ID', 'why this one?']],
  }).action((id: string, options: ClientOptions) => explainDecision(context, id, options));
  const decisions = clientCommand(group, {
    usage: 'decisions',
    summary: 'list decisions, latest first',
    examples: [['ductor route decisions --pool billing --outcome no_eligible_recipient', 'what found nobody']],
  })
    .option('--pool <pool>', 'only of this pool, by name or id')
    .option('--outcome <outcome>', 'only these: docs/routing.md lists them')
    .option('--routable <id>', 'only about this work');
  pageOptions(decisions).action((options: DecisionsOptions) => listDecisions(context, options));
  clientCommand(group, {
    usage: 'replay <decision>',
    summary: 'make a decision again from its record; ends with 1 unless it comes to the same bytes',
    examples: [['ductor route replay DECISION_ID', 'nothing is written']],
  }).action((id: string, options: ClientOptions) => replayDecision(context, id, options));
}

/** Adds the commands. */
export function routeCommands(root: Command, context: CliContext): void {
  const group = root.command('route').description('find the recipient of a unit of work: docs/routing.md');
  decidingCommands(group, context);
  readingCommands(group, context);
}
