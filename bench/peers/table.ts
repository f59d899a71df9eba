/** The table of a run, as Markdown. Pure. */
import type { GoalOutcome } from './goals.js';
import type { PeerName } from './peer-names.js';
import { type Medians, type Results, mediansOf, rawOf } from './results.js';
import type { Row, Workload } from './workloads/workload.js';

/** A column. */
export interface Column {
  readonly name: PeerName;
  readonly title: string;
}

/** Marks figures of which a repetition was disturbed by other programs. */
const DISTURBED = '*';
const ABSENT = '-';

/** A number in three or four digits, thousands apart. */
export function figure(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return ABSENT;
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** A ratio: "12×", "0.41×". */
export function ratio(value: number | undefined, other: number | undefined): string {
  if (value === undefined || other === undefined || !(other > 0)) return ABSENT;
  const factor = value / other;
  return `${factor >= 10 ? factor.toFixed(0) : factor.toFixed(2)}×`;
}

/** The one table: a block of rows for each workload. */
export function table(results: Results, workloads: readonly Workload[], columns: readonly Column[]): string {
  const others = columns.filter(({ name }) => name !== 'ductor');
  const head = [
    '',
    ...columns.map(({ title }) => title),
    ...others.map(({ title }) => `Ductor / ${title}`),
    'Ductor / raw',
  ];
  const body = workloads.flatMap((workload) => blockOf(results, workload, columns));
  return render([head, ...body]);
}

function blockOf(results: Results, workload: Workload, columns: readonly Column[]): readonly (readonly string[])[] {
  const medians = new Map(columns.map(({ name }) => [name, mediansOf(results, workload.id, name)] as const));
  const raw = rawOf(results, workload.id);
  const title = raw === undefined ? workload.title : `${workload.title} (raw: ${figure(raw)} commits/s)`;
  const states = columns.map(({ name }) => stateOf(medians.get(name)));
  const blanks = columns.map(() => '');
  const rows = workload.rows
    .filter(({ key }) => [...medians.values()].some((each) => each.value(key) !== undefined))
    .map((row) => rowOf(row, medians, columns, raw));
  return [[`**${title}**`, ...states, ...blanks.slice(1), ''], ...rows];
}

/** "3 reps", with what went wrong. */
function stateOf(medians: Medians | undefined): string {
  if (medians === undefined) return '';
  const failed = medians.failures.length === 0 ? '' : `, ${medians.failures.length} failed`;
  const disturbed = medians.disturbed === 0 ? '' : `, ${medians.disturbed} disturbed${DISTURBED}`;
  return `${medians.count} rep${medians.count === 1 ? '' : 's'}${failed}${disturbed}`;
}

function rowOf(
  { key, label, better, perRaw }: Row,
  medians: ReadonlyMap<PeerName, Medians>,
  columns: readonly Column[],
  raw: number | undefined,
): readonly string[] {
  const value = (name: PeerName): number | undefined => medians.get(name)?.value(key);
  const own = value('ductor');
  const figures = columns.map(({ name }) => {
    const isMarked = (medians.get(name)?.disturbed ?? 0) > 0 && value(name) !== undefined;
    return `${figure(value(name))}${isMarked ? DISTURBED : ''}`;
  });
  const ratios = columns
    .filter(({ name }) => name !== 'ductor')
    .map(({ name }) => (better === 'none' ? '' : ratio(own, value(name))));
  return [`${label}${better === 'less' ? ' ↓' : ''}`, ...figures, ...ratios, perRaw === true ? ratio(own, raw) : ''];
}

/** The goals, a line each. */
export function goalLines(outcomes: readonly GoalOutcome[]): string {
  const line = ({ goal, ratio: value, isMet }: GoalOutcome): string => {
    const times = goal.against.length === 0 ? '' : '×';
    const bound = goal.atMost === undefined ? `≥ ${goal.atLeast ?? 0}` : `≤ ${goal.atMost}`;
    const wanted = [`${bound}${times}`, goal.against.join(' and ')].join(' ').trimEnd();
    const verdict = isMet === undefined ? 'not measured' : isMet ? 'met' : 'NOT MET';
    const found = value === undefined ? '' : ` (${times === '' ? figure(value) : value.toFixed(2)}${times})`;
    return `- ${goal.label} ${wanted}: ${verdict}${found}`;
  };
  return outcomes.map(line).join('\n');
}

/** Cells as a Markdown table whose columns are lined up; the second row is the rule. */
function render(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows;
  const widths = head.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, at) => pad(row[at] ?? '', width, at)).join(' | ')} |`;
  const dashes = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const rule = `| ${dashes.join(' | ')} |`;
  return [line(head), rule, ...rows.slice(1).map(line)].join('\n');
}

function pad(text: string, width: number, at: number): string {
  return at === 0 ? text.padEnd(width) : text.padStart(width);
}
