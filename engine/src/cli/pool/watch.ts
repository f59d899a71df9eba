/** `ductor pool watch`: the load of each recipient, once a second, until it is interrupted. */
import { type GetPoolStatsResponse, type Pool, PoolStats } from '../../gen/ductor/v1/pool.js';
import { type ListRecipientsResponse, type Recipient, RecipientState } from '../../gen/ductor/v1/recipient.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { Frame } from '../output/frame.js';
import { messageToJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import { momentText } from '../output/times.js';
import { recipientState, unitsOf } from '../recipient/show.js';
import { loadBar, loadText, loadTone } from '../view/load.js';
import { untilInterrupt, watchRepeatedly } from '../watching.js';
import { given } from '../workflow/find-definition.js';
import { findPool } from './find.js';
import { poolState, statsLine } from './show.js';

/** Options of the command. */
export interface WatchPoolOptions extends ClientOptions {
  /** Pictures after which it ends; undefined: none. */
  readonly count?: number;
}

const PAGE = 200;
const BAR_CHARS = 24;
const HEADER = ['RECIPIENT', 'STATE', 'AT ONCE', '', 'TODAY', ''];

/** What is seen at one moment. */
interface Look {
  readonly pool: Pool;
  readonly stats: PoolStats;
  readonly recipients: readonly Recipient[];
}

async function recipientsOf(engine: EngineClient, poolId: string): Promise<readonly Recipient[]> {
  const found: Recipient[] = [];
  const any = { state: RecipientState.RECIPIENT_STATE_UNSPECIFIED, status: Status.STATUS_UNSPECIFIED };
  for (let cursor = ''; ;) {
    const request = { poolId, ...any, pagination: { pageSize: PAGE, cursor, nextCursor: '' } };
    const page = await engine.ask<ListRecipientsResponse>((...rest) =>
      engine.recipients.listRecipients(request, ...rest),
    );
    found.push(...page.data);
    cursor = page.pagination?.nextCursor ?? '';
    if (cursor === '') return found;
  }
}

async function look(engine: EngineClient, poolId: string): Promise<Look> {
  const [pool, { data }, recipients] = await Promise.all([
    findPool(engine, poolId),
    engine.ask<GetPoolStatsResponse>((...rest) => engine.pools.getPoolStats({ poolId }, ...rest)),
    recipientsOf(engine, poolId),
  ]);
  return { pool, stats: given(data), recipients };
}

function rowOf(recipient: Recipient, isUnicode: boolean): readonly Cell[] {
  const { used, limit, today, daily } = unitsOf(recipient);
  return [
    ...[recipient.name, recipientState(recipient)],
    { text: loadBar(used, limit, BAR_CHARS, isUnicode), tone: loadTone(used, limit) },
    loadText(used, limit),
    { text: loadBar(today, daily, BAR_CHARS / 2, isUnicode), tone: loadTone(today, daily) },
    loadText(today, daily),
  ];
}

/** The most loaded first: they are what one looks for. Those without a limit come last, by what they have. */
function byLoad(a: Recipient, b: Recipient): number {
  const [first, second] = [unitsOf(a), unitsOf(b)];
  const share = ({ used, limit }: typeof first): number => (limit === 0 ? -1 : used / limit);
  return share(second) - share(first) || second.used - first.used || (a.name < b.name ? -1 : 1);
}

function pictureOf({ pool, stats, recipients }: Look, { terminal, clock }: CliContext): string {
  const paint = painter(terminal);
  const { text, tone } = poolState(pool);
  const at = paint('quiet', momentText(clock.nowUs()));
  // One picture is one screen: the head must not be what is cut off.
  const rows = terminal.rows();
  const room = terminal.isLive && rows > 0 ? Math.max(1, rows - 5) : recipients.length;
  const shown = recipients.toSorted(byLoad).slice(0, room);
  const more = recipients.length - shown.length;
  return [
    `${oneLine(pool.name)}  ${paint(tone, text)}  ${at}\n`,
    `${statsLine(stats, terminal)}${stats.queueDepth === 0 ? '' : `, ${stats.queueDepth} waiting`}\n`,
    shown.length === 0
      ? 'It has no recipients.\n'
      : table(
          terminal,
          HEADER,
          shown.map((recipient) => rowOf(recipient, terminal.isUnicode)),
        ),
    more === 0 ? '' : `(and ${more} more with less load)\n`,
  ].join('');
}

/** How one look is shown. */
function shower(context: CliContext, options: WatchPoolOptions): (seen: Look) => Promise<void> {
  const { terminal } = context;
  if (options.json === true) {
    return async ({ stats }) => terminal.out(`${await messageToJson('PoolStats', PoolStats, stats)}\n`);
  }
  const frame = terminal.isLive ? new Frame(terminal) : undefined;
  return async (seen) => {
    const picture = pictureOf(seen, context);
    if (frame === undefined) terminal.out(`${picture}\n`);
    else frame.show(picture);
  };
}

/**
 * Watches a pool until it is told to stop. An engine that does not answer for a while is waited for, once it has.
 *
 * @param stopped ends the watching
 */
export function watchPool(
  context: CliContext,
  name: string,
  options: WatchPoolOptions,
  stopped: Promise<void>,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { id } = await findPool(engine, name);
    const show = shower(context, options);
    await watchRepeatedly(context, { count: options.count, stopped }, () => look(engine, id), show);
  });
}

/** Runs the command: until Ctrl-C, which ends it well. */
export function watchPoolUntilInterrupt(context: CliContext, name: string, options: WatchPoolOptions): Promise<void> {
  return untilInterrupt((stopped) => watchPool(context, name, options, stopped));
}
