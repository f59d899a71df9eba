/**
 * A decision as a funnel: each line is what was left of a pool's recipients, and at its sides whom the next verdict
 * took out; under it the ranking, and the winner.
 */
import type {
  DecisionExplanation,
  DroppedRecipients,
  ExplainedHop,
  RankedRecipient,
  RoutingDecision,
  SelectionAttempt,
} from '../../gen/ductor/v1/routing.js';
import { type Paint, painter } from '../output/paint.js';
import { characters, cut, oneLine } from '../output/safe-text.js';
import type { Terminal } from '../output/terminal.js';
import { momentText, usOf } from '../output/times.js';
import { loadBar, loadText, loadTone } from '../view/load.js';
import { outcomeTone } from './outcome.js';

/** Where the picture is drawn. */
type Canvas = Pick<Terminal, 'columns' | 'hasColour' | 'isLive' | 'isUnicode'>;

interface Pens {
  readonly paint: Paint;
  readonly isUnicode: boolean;
  /** Cuts a line's last part, where a person looks on, so that it stays one line. */
  fit(text: string, usedChars: number): string;
}

const BAR_CHARS = 40;
const LOAD_CHARS = 10;

function pensFor(canvas: Canvas): Pens {
  const { isUnicode, isLive } = canvas;
  const ellipsis = isUnicode ? '…' : '...';
  return {
    ...{ paint: painter(canvas), isUnicode },
    fit: (text, used) => (isLive ? cut(text, Math.max(20, canvas.columns() - used), ellipsis) : text),
  };
}

/** How many columns stand for so many recipients; one who is left is always seen. */
function charsFor(count: number, all: number): number {
  return count === 0 || all === 0 ? 0 : Math.max(1, Math.round((count / all) * BAR_CHARS));
}

/** A bar in the middle of its place: what stays, and at both sides what goes. */
function layer(before: number, after: number, all: number, { paint, isUnicode }: Pens): string {
  const [wide, narrow] = [charsFor(before, all), charsFor(after, all)];
  const [full, gone] = isUnicode ? ['█', '░'] : ['#', '-'];
  const left = Math.floor((wide - narrow) / 2);
  const margin = Math.floor((BAR_CHARS - wide) / 2);
  const right = wide - narrow - left;
  const bar = `${paint('quiet', gone.repeat(left))}${full.repeat(narrow)}${paint('quiet', gone.repeat(right))}`;
  return `${' '.repeat(margin)}${bar}${' '.repeat(BAR_CHARS - margin - wide)}`;
}

function droppedNames({ count, recipients }: DroppedRecipients): string {
  const shown = recipients.map(({ id, name, detail }) => `${name || id}${detail === '' ? '' : ` (${detail})`}`);
  const more = count - recipients.length;
  return oneLine([...shown, ...(more > 0 ? [`${more} more`] : [])].join(', '));
}

/** What was worked out of the work before anybody was looked at. */
function enrichedLines({ enrichments }: ExplainedHop, pens: Pens): readonly string[] {
  return enrichments.map(({ name, value, problem }) => {
    const head = `  ${oneLine(name)}: `;
    const failed = `none, ${oneLine(problem).replaceAll('_', ' ')}`;
    const text = problem === '' ? oneLine(JSON.stringify(value)) : failed;
    return pens.paint(problem === '' ? 'quiet' : 'warning', `${head}${pens.fit(text, head.length)}`);
  });
}

/** All recipients of a pool, and a line for each verdict that took some out. */
function funnelLines(hop: ExplainedHop, pens: Pens): readonly string[] {
  const all = hop.considered;
  const digits = String(all).length;
  const verdictChars = Math.max(0, ...hop.dropped.map(({ verdict }) => verdict.length));
  let left = all;
  const first = `  ${layer(all, all, all, pens)}  ${all} in the pool`;
  const lines = hop.dropped.map((dropped) => {
    const before = left;
    left -= dropped.count;
    const said = `${dropped.verdict.replaceAll('_', ' ').padEnd(verdictChars)}  ${droppedNames(dropped)}`.trimEnd();
    const head = `${String(left).padStart(digits)}  -${dropped.count} `;
    return `  ${layer(before, left, all, pens)}  ${head}${pens.fit(said, BAR_CHARS + 4 + head.length)}`;
  });
  return [first, ...lines];
}

function rankingLines({ ranking }: ExplainedHop, { paint, isUnicode }: Pens): readonly string[] {
  const names = ranking.map(({ name, id }) => oneLine(name || id));
  const scores = ranking.map(({ score }) => (score === undefined ? '' : `score ${Number(score.toFixed(6))}`));
  const loads = ranking.map(({ load, limit }) => `load ${loadText(load, limit)}`);
  const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => characters(text).length));
  const [nameChars, scoreChars, loadChars] = [widest(names), widest(scores), widest(loads)];
  const padded = (text: string, chars: number): string => text + ' '.repeat(chars - characters(text).length);
  const line = ({ isChosen, load, limit }: RankedRecipient, index: number): string => {
    const place = `${isChosen ? (isUnicode ? '▶' : '>') : ' '} ${String(index + 1).padStart(2)}  `;
    const parts = [padded(names[index] ?? '', nameChars), padded(scores[index] ?? '', scoreChars)];
    const head = paint(isChosen ? 'good' : 'plain', place + parts.filter((part) => part !== '').join('  '));
    const bar = paint(loadTone(load, limit), loadBar(load, limit, LOAD_CHARS, isUnicode));
    return `  ${head}  ${padded(loads[index] ?? '', loadChars)}  ${bar}`.trimEnd();
  };
  return ranking.map(line);
}

/** The attempts of a pool, unless the only one went well. */
function attemptLines(attempts: readonly SelectionAttempt[], names: ReadonlyMap<string, string>): readonly string[] {
  if (attempts.every(({ admission }) => admission === 'granted' || admission === 'not asked')) return [];
  return attempts.map(({ recipientIds, admission }, index) => {
    const chosen = recipientIds.map((id) => oneLine(names.get(id) ?? id)).join(', ');
    return `  attempt ${index + 1}: ${chosen}: room ${admission}`;
  });
}

function chanceText({ propensityNumerator: part, propensityDenominator: all }: ExplainedHop): string {
  return all === 0 || part === all ? '' : `, chosen with a chance of ${part} in ${all}`;
}

function hopLines(hop: ExplainedHop, names: ReadonlyMap<string, string>, pens: Pens): readonly string[] {
  const { paint } = pens;
  const ranked = rankingLines(hop, pens);
  const end = [
    ...(hop.reason === '' ? [] : [`  ${paint('warning', oneLine(hop.reason).replaceAll('_', ' '))}`]),
    ...hop.notes.map((note) => `  note: ${oneLine(note)}`),
    ...(hop.fallback === '' ? [] : [`  fallback: ${oneLine(hop.fallback)}`]),
  ];
  return [
    `${paint('strong', oneLine(hop.poolName || hop.poolId))}, by ${oneLine(hop.strategy)}`,
    ...enrichedLines(hop, pens),
    ...funnelLines(hop, pens),
    ...(ranked.length === 0 ? [] : [`  ${paint('quiet', `ranking${chanceText(hop)}`)}`, ...ranked]),
    ...attemptLines(hop.attempts, names),
    ...end,
  ];
}

function ruleLines({ rules }: DecisionExplanation, { paint, isUnicode }: Pens): readonly string[] {
  const [yes, no, failed] = isUnicode ? ['✓', '·', '✗'] : ['+', '.', 'x'];
  return rules.map(({ name, ruleId, result }) => {
    if (result === 'true') return paint('good', `${yes} rule ${oneLine(name || ruleId)}`);
    if (result === 'false') return paint('quiet', `${no} rule ${oneLine(name || ruleId)}`);
    return paint('bad', `${failed} rule ${oneLine(name || ruleId)}: ${oneLine(result)}`);
  });
}

function namesIn({ hops }: DecisionExplanation): ReadonlyMap<string, string> {
  const known = hops.flatMap(({ ranking, dropped }) => [
    ...ranking,
    ...dropped.flatMap(({ recipients }) => recipients),
  ]);
  return new Map(known.filter(({ name }) => name !== '').map(({ id, name }) => [id, name]));
}

/** The last line: what became of the work, and who has it. */
function endLine(
  { outcome, outcomeClass, reason, slate }: RoutingDecision,
  names: ReadonlyMap<string, string>,
): string {
  const winners = slate.map(({ recipientId, units }) => {
    return `${oneLine(names.get(recipientId) ?? recipientId)}${units === 1 ? '' : ` (${units} units)`}`;
  });
  if (winners.length > 0) return `${outcome}: ${winners.join(', ')}`;
  const why = outcomeClass === 'success' || reason === '' || reason === outcome ? '' : `: ${oneLine(reason)}`;
  return `${outcome}${why}`;
}

/** The picture of a decision, for a terminal; every line with its line break. */
export function funnelText(decision: RoutingDecision, canvas: Canvas): string {
  const pens = pensFor(canvas);
  const { paint, isUnicode } = pens;
  const told: DecisionExplanation = decision.explanation ?? { rules: [], hops: [], winners: [] };
  const names = namesIn(told);
  const at = momentText(usOf(decision.decidedAt));
  const head = `${oneLine(decision.routableId) || 'work'}  ${paint('quiet', `${at}  ${decision.id}`)}`;
  const down = `        ${isUnicode ? '▼' : 'v'}`;
  const hops = told.hops.map((hop) => hopLines(hop, names, pens));
  const end = paint(outcomeTone(decision), `${isUnicode ? '→' : '->'} ${endLine(decision, names)}`);
  const lines = [head, ...ruleLines(told, pens), ...hops.flatMap((lines) => [down, ...lines]), down, end];
  return `${lines.join('\n')}\n`;
}
