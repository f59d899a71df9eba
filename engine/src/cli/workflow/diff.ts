/** `ductor workflow diff`: what changes from one version to another, or to the draft. */
import { InvalidArgumentError } from 'commander';
import {
  ChangeKind,
  type DefinitionChange,
  type DiffWorkflowResponse,
  WorkflowDiff,
} from '../../gen/ductor/v1/workflow.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { type Paint, painter, type Tone } from '../output/paint.js';
import { cut, oneLine } from '../output/safe-text.js';
import { given } from './find-definition.js';

const VALUE_CHARS = 200;
const SIGNS: ReadonlyMap<ChangeKind, readonly [string, Tone]> = new Map([
  [ChangeKind.CHANGE_KIND_ADDED, ['+', 'good']],
  [ChangeKind.CHANGE_KIND_REMOVED, ['-', 'bad']],
  [ChangeKind.CHANGE_KIND_CHANGED, ['~', 'warning']],
]);

/** A version as an argument: a number, or the word that stands for 0. */
export function versionOr(word: string): (text: string) => number {
  return (text) => {
    if (text === word) return 0;
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new InvalidArgumentError(`${JSON.stringify(text)} is neither a version nor "${word}".`);
  };
}

function valueText(value: unknown): string {
  return value === undefined ? '' : cut(oneLine(JSON.stringify(value)), VALUE_CHARS);
}

/** A change of a definition on a line. */
export function changeLine({ kind, path, before, after }: DefinitionChange, paint: Paint): string {
  const [sign, tone] = SIGNS.get(kind) ?? (['?', 'plain'] as const);
  const values = [valueText(before), valueText(after)].filter((text) => text !== '').join(' -> ');
  return `${paint(tone, `${sign} ${oneLine(path)}`)}  ${values}\n`;
}

/** Runs the command. */
export function diffWorkflow(
  context: CliContext,
  slug: string,
  versions: { readonly from: number; readonly to: number },
  options: ClientOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const request = { workflowId: slug, fromVersion: versions.from, toVersion: versions.to };
    const { data } = await engine.ask<DiffWorkflowResponse>((...rest) =>
      engine.workflows.diffWorkflow(request, ...rest),
    );
    const { fromVersion, toVersion, changes } = given(data);
    if (options.json === true) {
      terminal.out(`${await messageToJson('WorkflowDiff', WorkflowDiff, given(data))}\n`);
      return;
    }
    const from = fromVersion === 0 ? 'nothing' : `version ${fromVersion}`;
    const to = toVersion === 0 ? 'the draft' : `version ${toVersion}`;
    const paint = painter(terminal);
    terminal.out(changes.length === 0 ? `${from} and ${to} mean the same\n` : `from ${from} to ${to}:\n`);
    for (const change of changes) terminal.out(changeLine(change, paint));
  });
}
