/** `ductor recipient …`. */
import type { Command } from 'commander';
import { RecipientState } from '../../gen/ductor/v1/recipient.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { enumOption } from '../enum-option.js';
import { pageOptions } from '../list-page.js';
import { decimal, expectOption, pair, several, wholeNumber } from '../options.js';
import {
  createRecipient,
  updateRecipient,
  type RecipientContentOptions,
  type UpdateRecipientOptions,
} from './change.js';
import { controlRecipient, type RecipientControlOptions } from './control.js';
import { listRecipients, type ListRecipientsOptions } from './list.js';
import { getRecipient } from './show.js';

const MAX_WEIGHT = 1000;
const MAX_UNITS = 2 ** 32 - 1;
const LEFT_STATUSES = ['paused', 'disabled'];
const units = wholeNumber(0, MAX_UNITS);

function contentOptions(command: Command): Command {
  return command
    .option('--file <file>', 'JSON with the fields of the contract, - for standard input; other options win over it')
    .addOption(enumOption('--state <state>', 'only available ones get work', { ...RecipientState }, 'RECIPIENT_STATE_'))
    .addOption(enumOption('--status <status>', 'whether it is in use', { ...Status }, 'STATUS_', LEFT_STATUSES))
    .option('--max-concurrent <units>', 'units at a time, 0 for no limit', units)
    .option('--daily-limit <units>', 'units a UTC day, 0 for no limit', units)
    .option('--weight <number>', '0 to 1000; 0 gets nothing (default: 1)', decimal(0, MAX_WEIGHT))
    .option('--tier <number>', '0 comes first (default: 0)', units)
    .option('--tag <tag>', 'may be repeated; replaces all of them', several)
    .option('--attribute <name=value>', 'true, false, a number or a text; may be repeated', pair)
    .option('--type <type>', 'agent, team, queue, system, model, account_seat or buyer (default: agent)')
    .option('--external-id <id>', 'what it is called elsewhere')
    .option('--timezone <zone>', 'for example Europe/Berlin (default: UTC)');
}

function readingCommands(group: Command, context: CliContext): void {
  const list = clientCommand(group, {
    usage: 'list <pool>',
    summary: 'list the members of a pool, with their load',
    examples: [['ductor recipient list billing --state paused', 'those that somebody paused']],
  })
    .addOption(enumOption('--state <state>', 'only these', { ...RecipientState }, 'RECIPIENT_STATE_'))
    .addOption(enumOption('--status <status>', 'only these', { ...Status }, 'STATUS_', LEFT_STATUSES));
  pageOptions(list).action((pool: string, options: ListRecipientsOptions) => listRecipients(context, pool, options));
  clientCommand(group, {
    usage: 'get <recipient>',
    summary: 'print a recipient',
    examples: [['ductor recipient get RECIPIENT_ID --json', 'the same as GET /api/recipients/{recipient_id}']],
  }).action((id: string, options: ClientOptions) => getRecipient(context, id, options));
}

function writingCommands(group: Command, context: CliContext): void {
  const skills = '--tag billing --tag spanish --attribute seniority=3';
  const create = clientCommand(group, {
    usage: 'create <pool> [name]',
    summary: 'make a recipient in a pool: who gets its work',
    examples: [
      [`ductor recipient create billing Jordan --state available --max-concurrent 5 ${skills}`, 'at most five at once'],
      ['ductor recipient create billing --file jordan.json', 'all that docs/pools.md has, in JSON'],
    ],
  });
  contentOptions(create).action((pool: string, name: string | undefined, options: RecipientContentOptions) =>
    createRecipient(context, pool, name, options),
  );
  const update = clientCommand(group, {
    usage: 'update <recipient>',
    summary: 'change what is given, and leave the rest as it is',
    examples: [
      ['ductor recipient update RECIPIENT_ID --weight 2 --max-concurrent 8', 'twice the share, eight at once'],
      [`echo '{"attributes": {"vip": null}}' | ductor recipient update RECIPIENT_ID --file -`, 'null clears a field'],
    ],
  }).option('--name <name>', 'call it so from now on');
  expectOption(contentOptions(update)).action((id: string, options: UpdateRecipientOptions) =>
    updateRecipient(context, id, options),
  );
}

function controllingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'pause <recipient>',
    summary: 'give it no more work; it keeps what it has',
    examples: [['ductor recipient pause RECIPIENT_ID --reason lunch', 'the reason is shown with it']],
  })
    .option('--reason <text>', 'why')
    .action((id: string, options: RecipientControlOptions) => controlRecipient(context, 'pause', id, options));
  clientCommand(group, {
    usage: 'resume <recipient>',
    summary: 'give work again to one that is paused or draining',
    examples: [['ductor recipient resume RECIPIENT_ID', 'AVAILABLE again']],
  }).action((id: string, options: RecipientControlOptions) => controlRecipient(context, 'resume', id, options));
  const remove = clientCommand(group, {
    usage: 'delete <recipient>',
    summary: 'delete a recipient; refused while it has work',
    examples: [['ductor recipient delete RECIPIENT_ID', 'out of all its pools']],
  });
  expectOption(remove).action((id: string, options: RecipientControlOptions) =>
    controlRecipient(context, 'delete', id, options),
  );
}

/** Adds the commands. */
export function recipientCommands(root: Command, context: CliContext): void {
  const group = root.command('recipient').description('who gets the work of pools: docs/pools.md');
  readingCommands(group, context);
  writingCommands(group, context);
  controllingCommands(group, context);
}
