/** What a bundle changes, as people read it. */
import type { BundleChange, BundlePlan } from '../../gen/ductor/v1/bundle.js';
import { painter, type Tone } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import type { Terminal } from '../output/terminal.js';

const SIGNS: Readonly<Record<string, readonly [string, Tone]>> = {
  create: ['+', 'good'],
  update: ['~', 'warning'],
  delete: ['-', 'bad'],
};

function valueText(value: unknown): string {
  return value === undefined ? '(none)' : oneLine(JSON.stringify(value) ?? '');
}

function changeLines({ kind, action, name, externalId, fields }: BundleChange, terminal: Terminal): string {
  const [sign, tone] = SIGNS[action] ?? ['?', 'plain'];
  const called = externalId === '' ? oneLine(name) : `${oneLine(name)} (${oneLine(externalId)})`;
  const arrow = terminal.isUnicode ? '→' : '->';
  const lines = fields.map(({ path, before, after }) => {
    const was = action === 'create' ? '' : `${valueText(before)} ${arrow} `;
    return `    ${oneLine(path)}: ${was}${valueText(after)}\n`;
  });
  return `${painter(terminal)(tone, `${sign} ${kind} ${called}`)}\n${lines.join('')}`;
}

/**
 * The lines.
 *
 * @param isDone whether it was applied
 */
export function planText(plan: BundlePlan, terminal: Terminal, isDone: boolean): string {
  const { changes, unchanged, warnings, planDigest } = plan;
  const count = (action: string): number => changes.filter((each) => each.action === action).length;
  const doing = isDone ? ['created', 'changed', 'deleted'] : ['to create', 'to change', 'to delete'];
  const counts = ['create', 'update', 'delete'].map((action, index) => `${count(action)} ${doing[index] ?? ''}`);
  const warned = warnings.map((each) => `${painter(terminal)('warning', `! ${oneLine(each)}`)}\n`);
  const summary =
    changes.length === 0
      ? `nothing ${isDone ? 'changed' : 'to change'}, ${unchanged} as they should be\n`
      : `${counts.join(', ')}, ${unchanged} as they should be\n`;
  const digest = isDone || changes.length === 0 ? '' : `plan ${planDigest}\n`;
  return [...changes.map((each) => changeLines(each, terminal)), ...warned, summary, digest].join('');
}
