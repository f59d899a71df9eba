/** `ductor workflow …`. */
import type { Command } from 'commander';
import { clientCommand, type CliContext } from '../context.js';
import { wholeNumber } from '../options.js';
import { type ListOptions, listWorkflows } from './list.js';
import { publishWorkflow, type PublishOptions } from './publish.js';
import { showWorkflow, type ShowOptions } from './show.js';

const MAX_VERSION = 2 ** 32 - 1;

/** Adds the commands. */
export function workflowCommands(root: Command, context: CliContext): void {
  const group = root.command('workflow').description('publish, list, show and compare workflows');
  clientCommand(group, {
    usage: 'publish <file>',
    summary: 'make the definition in a JSON file (- for standard input) a version; known content changes nothing',
    examples: [
      ['ductor workflow publish hello.json', 'creates or updates the workflow that the file names, and publishes it'],
      ['ductor workflow publish --check hello.json', 'says everything that is wrong, and stores nothing'],
    ],
  })
    .option('--check', 'say what is wrong, store nothing')
    .action((file: string, options: PublishOptions) => publishWorkflow(context, file, options));
  clientCommand(group, {
    usage: 'list',
    summary: 'list workflows by name',
    examples: [['ductor workflow list --json', 'the same as GET /api/workflows']],
  })
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, 200), 50)
    .action((options: ListOptions) => listWorkflows(context, options));
  clientCommand(group, {
    usage: 'show <workflow>',
    summary: 'draw the current version of a workflow, or another one',
    examples: [
      ['ductor workflow show hello', 'the current version'],
      ['ductor workflow show hello --version 1', 'an earlier one'],
      ['ductor workflow show hello --draft', 'what the next publish makes a version'],
    ],
  })
    .option('--version <number>', 'this version', wholeNumber(1, MAX_VERSION))
    .option('--draft', 'the draft')
    .action((slug: string, options: ShowOptions) => showWorkflow(context, slug, options));
}
