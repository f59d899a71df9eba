/** `ductor claim …` and `ductor claim-queue …`. */
import type { Command } from 'commander';
import { ClaimState } from '../../gen/ductor/v1/claim.js';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { enumOption } from '../enum-option.js';
import { pageOptions, type PageOptions } from '../list-page.js';
import { actOnItem, listItems, type ItemAct, type ItemActOptions, type ListItemsOptions } from './items.js';
import { createQueue, getQueue, listQueues, type CreateQueueOptions } from './queues.js';

/** What each does, what an example of it says, and whether it takes a reason. */
const ACTS: readonly (readonly [ItemAct, string, string, boolean])[] = [
  ['take', 'claim an item for a recipient', 'under its limit and its budget as they are now', false],
  ['release', 'give an item back that a recipient has claimed', 'others may claim it', true],
  ['complete', 'say that the work is done: its units are free again', 'again changes nothing', false],
  ['decline', 'turn an item down for a recipient', 'it is not offered to that one any more', true],
];

function queueCommands(root: Command, context: CliContext): void {
  const group = root.command('claim-queue').description('where work waits to be claimed: docs/claims.md');
  clientCommand(group, {
    usage: 'create <name>',
    summary: 'make a queue',
    examples: [['ductor claim-queue create west-pond', 'pools name it in config.claim_queue_id']],
  })
    .option('--description <text>', 'what it is for')
    .action((name: string, options: CreateQueueOptions) => createQueue(context, name, options));
  const list = clientCommand(group, {
    usage: 'list',
    summary: 'list queues, by name',
    examples: [['ductor claim-queue list', 'all of the tenant']],
  });
  pageOptions(list).action((options: PageOptions) => listQueues(context, options));
  clientCommand(group, {
    usage: 'get <queue>',
    summary: 'print a queue',
    examples: [['ductor claim-queue get west-pond --json', 'the same as GET /api/claim-queues/{queue_id}']],
  }).action((queue: string, options: ClientOptions) => getQueue(context, queue, options));
}

/** Adds the commands. */
export function claimCommands(root: Command, context: CliContext): void {
  queueCommands(root, context);
  const group = root.command('claim').description('work that recipients take by themselves: docs/claims.md');
  const list = clientCommand(group, {
    usage: 'list <queue>',
    summary: 'list items of a queue, the longest waiting first',
    examples: [['ductor claim list west-pond --recipient RECIPIENT_ID', 'what that one may claim']],
  })
    .option('--recipient <id>', 'only what is offered to this recipient, or claimed by it')
    .addOption(enumOption('--state <state>', 'only these (default: open)', { ...ClaimState }, 'CLAIM_STATE_'));
  pageOptions(list).action((queue: string, options: ListItemsOptions) => listItems(context, queue, options));
  for (const [act, summary, meaning, hasReason] of ACTS) {
    const examples = [[`ductor claim ${act} ITEM_ID --recipient RECIPIENT_ID`, meaning]] as const;
    const command = clientCommand(group, { usage: `${act} <item>`, summary, examples });
    command.requiredOption('--recipient <id>', 'who does it');
    if (hasReason) command.option('--reason <text>', 'why, for the audit trail');
    command.action((item: string, options: ItemActOptions) => actOnItem(context, act, item, options));
  }
}
