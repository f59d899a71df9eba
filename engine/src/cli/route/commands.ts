/** `ductor route …`. */
import type { Command } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { pageOptions } from '../list-page.js';
import { several, signedNumber } from '../options.js';
import { previewRoute, sendRoute, type SendOptions, type WorkOptions } from './decide.js';
import { sendBatch } from './many.js';
import { explainDecision, exportDecisions, listDecisions, replayDecision, type DecisionsOptions } from './read.js';
import { replayFile } from './replay-file.js';
import { releaseSeats, reportOutcome, type OutcomeOptions } from './report.js';

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

function recordCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'export <decisions...>',
    summary: 'print decisions with all that they were made from: a file that replays without an engine',
    examples: [
      ['ductor route export DECISION_ID > decision.json', 'JSON: the record and the documents it names'],
      ['ductor route export ONE_ID OTHER_ID > decisions.jsonl', 'each on a line'],
    ],
  }).action((ids: readonly string[], options: ClientOptions) => exportDecisions(context, ids, options));
  group
    .command('replay-file <file>')
    .description('make exported decisions again, here and without an engine; ends with 1 unless all are the same')
    .addHelpText('after', '\nExamples:\n  ductor route replay-file decision.json\n')
    .action((file: string) => replayFile(context, file));
}

function manyCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'batch <file>',
    summary: 'decide up to 200 works at once, each by itself; ends with 1 unless somebody gets each',
    examples: [
      ['ductor route batch leads.json', '{"items": [...]}, as POST /api/routing/route:batch; - is standard input'],
    ],
  }).action((file: string, options: ClientOptions) => sendBatch(context, file, options));
}

function reportCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'outcome [assignment]',
    summary: 'say how work went; strategies that learn, and the ejection of recipients that fail, go by it',
    examples: [
      ['ductor route outcome ASSIGNMENT_ID --latency 350ms', 'it went well, and took so long'],
      ['ductor route outcome ASSIGNMENT_ID --failed --reset-at 2026-03-01T12:00:00Z', 'rate limited until then'],
      ['ductor route outcome --pool seats --recipient RECIPIENT_ID', 'of work that a workflow holds'],
    ],
  })
    .option('--failed', 'it did not go well')
    .option('--latency <duration>', 'how long it took: 350ms, 2s')
    .option('--reset-at <instant>', 'the recipient has a rate limit until then')
    .option('--pool <pool>', 'with --recipient, in the place of an assignment: by name or id')
    .option('--recipient <id>', 'whose work it was')
    .action((id: string | undefined, options: OutcomeOptions) => reportOutcome(context, id, options));
  clientCommand(group, {
    usage: 'release-seats <owner>',
    summary: 'end all seats and tiers of an owner, in every pool: its work is over',
    examples: [['ductor route release-seats crew-7', 'crew-7 is what the key of the pool came to']],
  }).action((owner: string, options: ClientOptions) => releaseSeats(context, owner, options));
}

/** Adds the commands. */
export function routeCommands(root: Command, context: CliContext): void {
  const group = root.command('route').description('find the recipient of a unit of work: docs/routing.md');
  decidingCommands(group, context);
  manyCommands(group, context);
  reportCommands(group, context);
  readingCommands(group, context);
  recordCommands(group, context);
}
