/** `ductor pool …`. */
import type { Command } from 'commander';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { enumOption } from '../enum-option.js';
import { type PageOptions, pageOptions } from '../list-page.js';
import { expectOption, pair, wholeNumber } from '../options.js';
import { createPool, updatePool, type PoolContentOptions, type UpdatePoolOptions } from './change.js';
import { deletePool, resetPoolCapacity, setPoolEnabled, type PoolControlOptions } from './control.js';
import { listPools, type ListPoolsOptions } from './list.js';
import { listQueue, removeFromQueue, type UnqueueOptions } from './queue.js';
import { listShadowDecisions, showShadows, type ShadowDecisionsOptions } from './shadow.js';
import { getPool, showPoolStats } from './show.js';
import { watchPoolUntilInterrupt, type WatchPoolOptions } from './watch.js';

const LEFT_STATUSES = ['inactive', 'archived'];

function contentOptions(command: Command): Command {
  return command
    .option('--file <file>', 'JSON with the fields of the contract, - for standard input; other options win over it')
    .option('--strategy <name>', 'how a recipient is chosen: docs/strategies.md (default: round_robin)')
    .option('--params <json>', 'parameters of the strategy as JSON, @FILE, or - for standard input')
    .option('--eligible <expression>', 'CEL over routable and recipient: who may get the work (default: everybody)')
    .option('--description <text>', 'for people')
    .addOption(enumOption('--status <status>', 'only active ones route', { ...Status }, 'STATUS_', LEFT_STATUSES))
    .option('--metadata <name=value>', 'label; may be repeated', pair);
}

function readingCommands(group: Command, context: CliContext): void {
  const list = clientCommand(group, {
    usage: 'list',
    summary: 'list pools by name',
    examples: [['ductor pool list --status active', 'those that route']],
  }).addOption(enumOption('--status <status>', 'only these', { ...Status }, 'STATUS_', ['inactive']));
  pageOptions(list).action((options: ListPoolsOptions) => listPools(context, options));
  clientCommand(group, {
    usage: 'get <pool>',
    summary: 'print a pool',
    examples: [['ductor pool get billing --json', 'by its name or its id; the same as GET /api/pools/{pool_id}']],
  }).action((pool: string, options: ClientOptions) => getPool(context, pool, options));
  clientCommand(group, {
    usage: 'stats <pool>',
    summary: 'add up what the recipients of a pool can take and have taken',
    examples: [['ductor pool stats billing', 'units in use, as a bar']],
  }).action((pool: string, options: ClientOptions) => showPoolStats(context, pool, options));
  clientCommand(group, {
    usage: 'watch <pool>',
    summary: 'show how loaded each recipient is, once a second, the fullest first',
    examples: [
      ['ductor pool watch billing', 'redrawn in place; Ctrl-C ends it'],
      ['ductor pool watch billing --json', 'the sums of GET /api/pools/{pool_id}/stats, a line a second'],
    ],
  })
    .option('--count <pictures>', 'end after so many', wholeNumber(1, 1_000_000))
    .action((pool: string, options: WatchPoolOptions) => watchPoolUntilInterrupt(context, pool, options));
}

function shadowCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'shadow <pool>',
    summary: 'compare what was decided in the last 24 hours with what the shadows of a pool would have chosen',
    examples: [['ductor pool shadow billing', 'agreement, fairness, cost and predicted breaches: live > shadow']],
  }).action((pool: string, options: ClientOptions) => showShadows(context, pool, options));
  const list = clientCommand(group, {
    usage: 'shadow-decisions <pool>',
    summary: 'list single comparisons with the shadows of a pool, latest first',
    examples: [['ductor pool shadow-decisions billing --disagreeing', 'where a shadow had another winner']],
  })
    .option('--shadow <id>', 'only with this one')
    .option('--disagreeing', 'only where the winners differ');
  pageOptions(list).action((pool: string, options: ShadowDecisionsOptions) =>
    listShadowDecisions(context, pool, options),
  );
}

function writingCommands(group: Command, context: CliContext): void {
  const create = clientCommand(group, {
    usage: 'create [name]',
    summary: 'make a pool: how work that enters it finds its recipient',
    examples: [
      ['ductor pool create billing --strategy least_loaded', 'the recipient with the lowest load gets the work'],
      ['ductor pool create --file pool.json', 'all that docs/pools.md has, in JSON'],
    ],
  });
  contentOptions(create).action((name: string | undefined, options: PoolContentOptions) =>
    createPool(context, name, options),
  );
  const update = clientCommand(group, {
    usage: 'update <pool>',
    summary: 'change what is given, and leave the rest as it is',
    examples: [
      ['ductor pool update billing --strategy weighted_random', 'from the next decision on'],
      [`echo '{"config": {"overflow_pool_id": null}}' | ductor pool update billing --file -`, 'null clears a field'],
    ],
  }).option('--name <name>', 'call it so from now on');
  expectOption(contentOptions(update)).action((pool: string, options: UpdatePoolOptions) =>
    updatePool(context, pool, options),
  );
  const remove = clientCommand(group, {
    usage: 'delete <pool>',
    summary: 'delete a pool; its recipients stay',
    examples: [['ductor pool delete billing --expect 4', 'unless somebody changed it']],
  });
  expectOption(remove).action((pool: string, options: PoolControlOptions) => deletePool(context, pool, options));
}

function switchingCommands(group: Command, context: CliContext): void {
  const disable = clientCommand(group, {
    usage: 'disable <pool>',
    summary: 'the kill switch: stop routing from a pool at once, and change nothing else',
    examples: [['ductor pool disable billing --reason "provider outage"', 'the reason stands in the audit trail']],
  }).option('--reason <text>', 'why');
  expectOption(disable).action((pool: string, options: PoolControlOptions) =>
    setPoolEnabled(context, pool, false, options),
  );
  const enable = clientCommand(group, {
    usage: 'enable <pool>',
    summary: 'let a pool route again after `disable`',
    examples: [['ductor pool enable billing', 'by its name or its id']],
  }).option('--reason <text>', 'why');
  expectOption(enable).action((pool: string, options: PoolControlOptions) =>
    setPoolEnabled(context, pool, true, options),
  );
}

function queueCommands(group: Command, context: CliContext): void {
  const list = clientCommand(group, {
    usage: 'queue <pool>',
    summary: 'list what waits in a pool until somebody can take it, in its order',
    examples: [['ductor pool queue billing', 'why each waits, and until when']],
  });
  pageOptions(list).action((pool: string, options: PageOptions) => listQueue(context, pool, options));
  clientCommand(group, {
    usage: 'unqueue <decision>',
    summary: 'take work out of the queue of its pool; nothing comes of it then',
    examples: [['ductor pool unqueue 0198c1d2-7f3a-7cc0-b1d4-5d1f0a3b9c10', 'the decision that queued it']],
  })
    .option('--reason <text>', 'why, for the audit trail')
    .action((decision: string, options: UnqueueOptions) => removeFromQueue(context, decision, options));
}

function resetCommand(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'reset-capacity <pool>',
    summary: 'set what the recipients of a pool have taken, and took today, back to zero',
    examples: [['ductor pool reset-capacity billing', 'what workflows hold, and held today, stays']],
  }).action((pool: string, options: ClientOptions) => resetPoolCapacity(context, pool, options));
}

/** Adds the commands. */
export function poolCommands(root: Command, context: CliContext): void {
  const group = root.command('pool').description('the markets that work enters: docs/pools.md');
  readingCommands(group, context);
  shadowCommands(group, context);
  writingCommands(group, context);
  switchingCommands(group, context);
  queueCommands(group, context);
  resetCommand(group, context);
}
