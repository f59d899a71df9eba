/** `ductor workflow …`. */
import type { Command } from 'commander';
import { clientCommand, type CliContext, type ClientOptions } from '../context.js';
import { wholeNumber } from '../options.js';
import { formatOption } from '../picture/format.js';
import { diffWorkflow, versionOr } from './diff.js';
import { type ListOptions, listWorkflows } from './list.js';
import { promoteWorkflow } from './promote.js';
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
      ['ductor workflow show hello --format svg > hello.svg', 'a picture for a document'],
    ],
  })
    .option('--version <number>', 'this version', wholeNumber(1, MAX_VERSION))
    .option('--draft', 'the draft')
    .option('--graph', 'print only the drawing')
    .addOption(formatOption())
    .action((slug: string, options: ShowOptions) => showWorkflow(context, slug, options));
  comparingCommands(group, context);
}

function comparingCommands(group: Command, context: CliContext): void {
  clientCommand(group, {
    usage: 'diff',
    summary: 'say what changes from one version to another, or to the draft',
    examples: [
      ['ductor workflow diff hello', 'from the current version to the draft'],
      ['ductor workflow diff hello 1 2', 'from one version to another'],
      ['ductor workflow diff hello current 1', 'what going back to version 1 would change'],
    ],
  })
    .argument('<workflow>')
    .argument('[from]', 'a version, or "current" (default)', versionOr('current'), 0)
    .argument('[to]', 'a version, or "draft" (default)', versionOr('draft'), 0)
    .action((slug: string, from: number, to: number, options: ClientOptions) =>
      diffWorkflow(context, slug, { from, to }, options),
    );
  clientCommand(group, {
    usage: 'promote',
    summary: 'make a published version the current one; runs go on with the version they were started with',
    examples: [['ductor workflow promote hello 1', 'later triggers run version 1 again']],
  })
    .argument('<workflow>')
    .argument('<version>', 'a published version', wholeNumber(1, MAX_VERSION))
    .action((slug: string, version: number, options: ClientOptions) =>
      promoteWorkflow(context, slug, version, options),
    );
}
