/** Pools as the terminal shows them: `ductor pool get` and `ductor pool stats`. */
import { type GetPoolStatsResponse, Pool, PoolStats } from '../../gen/ductor/v1/pool.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { enumWord } from '../enum-option.js';
import { messageToJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { momentText, usOf } from '../output/times.js';
import { loadBar, loadText, loadTone } from '../view/load.js';
import { given } from '../workflow/find-definition.js';
import { findPool } from './find.js';

const BAR_CHARS = 24;

/** Whether a pool routes, in a word. */
export function poolState({ status, config }: Pool): {
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'warning';
} {
  if (config?.killSwitch === true) return { text: 'KILL SWITCH', tone: 'bad' };
  return {
    text: enumWord({ ...Status }, 'STATUS_', status),
    tone: status === Status.STATUS_ACTIVE ? 'good' : 'warning',
  };
}

/** The name that stands in a field of a free object, or nothing. */
function nameIn(value: Readonly<Record<string, unknown>> | undefined, field: string): string {
  const name = value?.[field];
  return typeof name === 'string' ? name : '';
}

/** What a pool chooses by: its strategy, its recipe, or the root of its tree. */
export function chooserText({ strategy, config }: Pool): string {
  const recipe = nameIn(config?.recipe, 'name');
  const tree = nameIn(config?.strategyTree, 'strategy');
  if (recipe !== '') return oneLine(`recipe ${recipe}`);
  if (tree !== '') return oneLine(`tree of ${tree}`);
  return oneLine(strategy === '' ? 'round_robin' : strategy);
}

function killText({ config }: Pool): string {
  if (config?.killSwitch !== true) return '';
  const { killSwitchReason: reason = '', killSwitchBy: by = '', killSwitchAt: at } = config;
  return `since ${momentText(usOf(at))}, by ${by}${reason === '' ? '' : `: ${reason}`}`;
}

/** Prints a pool. */
export async function printPool({ terminal }: CliContext, pool: Pool, { json }: ClientOptions): Promise<void> {
  if (json === true) {
    terminal.out(`${await messageToJson('Pool', Pool, pool)}\n`);
    return;
  }
  const paint = painter(terminal);
  const { text, tone } = poolState(pool);
  const facts: readonly (readonly [string, string])[] = [
    ['for', pool.description],
    ['stopped', killText(pool)],
    ['chooses by', chooserText(pool)],
    ['who may', pool.config?.eligibilityRule ?? ''],
    ['recipients', String(pool.recipientIds.length)],
    ['version', String(pool.recordVersion)],
  ];
  const lines = facts
    .filter(([, fact]) => fact !== '')
    .map(([name, fact]) => `  ${name.padEnd(10)}  ${oneLine(fact)}\n`);
  terminal.out(`${oneLine(pool.name)}  ${paint(tone, text)}  ${pool.id}\n${lines.join('')}`);
}

/** `ductor pool get`. */
export function getPool(context: CliContext, pool: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => printPool(context, await findPool(engine, pool), options));
}

/** The figures of a pool in one line, with a bar. */
export function statsLine(stats: PoolStats, terminal: CliContext['terminal']): string {
  const { usedCapacity: used, totalCapacity: total, activeRecipients: active, totalRecipients: all } = stats;
  const bar = painter(terminal)(loadTone(used, total), loadBar(used, total, BAR_CHARS, terminal.isUnicode));
  const share = stats.utilization === undefined ? '' : ` (${Math.round(stats.utilization * 100)} %)`;
  const units = total === 0 ? 'no limits' : `${bar}  ${loadText(used, total)} units in use${share}`;
  return `${units}, ${active} of ${all} recipients take work`;
}

/** `ductor pool stats`. */
export function showPoolStats(context: CliContext, name: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const pool = await findPool(engine, name);
    const request = { poolId: pool.id };
    const { data } = await engine.ask<GetPoolStatsResponse>((...rest) => engine.pools.getPoolStats(request, ...rest));
    const stats = given(data);
    if (options.json === true) {
      terminal.out(`${await messageToJson('PoolStats', PoolStats, stats)}\n`);
      return;
    }
    const facts = [
      `  unlimited   ${stats.unlimitedRecipients} recipients without a limit`,
      `  reserved    ${stats.held} units, by workflows`,
      `  waiting     ${stats.queueDepth} in the queue`,
    ];
    terminal.out(`${oneLine(pool.name)}  ${statsLine(stats, terminal)}\n${facts.join('\n')}\n`);
  });
}
