/** `ductor capacity …`. */
import type { Command } from 'commander';
import { clientCommand, type CliContext } from '../context.js';
import { pageOptions } from '../list-page.js';
import { wholeNumber } from '../options.js';
import { showBoard, type BoardOptions } from './board.js';

/** Adds the commands. */
export function capacityCommands(root: Command, context: CliContext): void {
  const group = root.command('capacity').description('who has which capacity: docs/pools.md, "The capacity board"');
  const board = clientCommand(group, {
    usage: 'board',
    summary: 'show for each recipient of each pool what it can take, what is in use, who has it and why',
    examples: [
      ['ductor capacity board --pool billing', 'the recipients of one pool, by its name or its id'],
      ['ductor capacity board --watch', 'all pools, redrawn in place once a second; Ctrl-C ends it'],
      ['ductor capacity board --json', 'the same as GET /api/capacity'],
    ],
  })
    .option('--pool <pool>', 'only this one, by name or id')
    .option('--watch', 'show it again once a second')
    .option('--count <pictures>', 'watch, and end after so many', wholeNumber(1, 1_000_000));
  pageOptions(board).action((options: BoardOptions) => showBoard(context, options));
}
