/** `ductor capacity board`: who has which capacity, and why. */
import { ListCapacityResponse, type CapacityHolder, type CapacityLine } from '../../gen/ductor/v1/pool.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, withEngine } from '../context.js';
import { type PageOptions, wantedPage } from '../list-page.js';
import { Frame } from '../output/frame.js';
import { messageToJson } from '../output/message-json.js';
import { painter } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import { momentText, spanText, usOf } from '../output/times.js';
import { findPoolId } from '../pool/find.js';
import { recipientState } from '../recipient/show.js';
import { loadText, loadTone } from '../view/load.js';
import { untilInterrupt, watchRepeatedly } from '../watching.js';

/** Options of the command. */
export interface BoardOptions extends PageOptions {
  /** Name or id; undefined: all. */
  readonly pool?: string;
  readonly watch?: boolean;
  /** Pictures after which watching ends; undefined: none. */
  readonly count?: number;
}

const HEADER = ['POOL', 'RECIPIENT', 'STATE', 'LIMIT', 'HELD', 'COMMITTED', 'FREE', 'TODAY', 'HELD BY'];
const NONE = 'No pool has a recipient.';

/** What a holder has, since when, why, and the command that shows more. */
function holderText(holder: CapacityHolder, nowUs: number): string {
  const { runId, step, rootRunId, assignmentId, routableId, units, since } = holder;
  const sinceUs = usOf(since);
  const span = sinceUs === null ? '' : ` for ${spanText(nowUs - sinceUs)}`;
  const having = `${units} ${units === 1 ? 'unit' : 'units'}${span}`;
  if (runId === '') return oneLine(`${having} by ${routableId}: ductor assignment get ${assignmentId}`);
  const family = rootRunId === runId ? '' : `, in the family of ${rootRunId}`;
  return oneLine(`${having} by step ${step}${family}: ductor run show ${runId}`);
}

/** A row for the recipient, with who has it longest, and one for each other holder. */
function rowsOf(line: CapacityLine, nowUs: number): readonly (readonly Cell[])[] {
  const { limit, held, committed, free, usedToday, dailyLimit, holders, holderCount } = line;
  const [first = '', ...others] = holders.map((holder) => holderText(holder, nowUs));
  const more = holderCount - holders.length;
  const below = [...others, ...(more > 0 ? [`and ${more} more`] : [])];
  const tone = loadTone(held + committed, limit);
  return [
    [
      ...[line.poolName, line.recipientName, recipientState(line), limit === 0 ? 'none' : String(limit)],
      ...[String(held), String(committed), { text: free === undefined ? 'no limit' : String(free), tone }],
      ...[{ text: loadText(usedToday, dailyLimit), tone: loadTone(usedToday, dailyLimit) }, first],
    ],
    ...below.map((text) => [...HEADER.slice(1).map(() => ''), text]),
  ];
}

async function read(engine: EngineClient, poolId: string, options: PageOptions): Promise<ListCapacityResponse> {
  const request = { poolId, pagination: wantedPage(options) };
  return engine.ask<ListCapacityResponse>((...rest) => engine.pools.listCapacity(request, ...rest));
}

/** The page as a table of at most so many lines below its header. */
function pictureOf({ data }: ListCapacityResponse, { terminal, clock }: CliContext, room = Infinity): string {
  const nowUs = clock.nowUs();
  const rows = data.flatMap((line) => rowsOf(line, nowUs));
  if (rows.length === 0) return `${NONE}\n`;
  const left = rows.length - room;
  return table(terminal, HEADER, rows.slice(0, room)) + (left > 0 ? `(and ${left} more lines)\n` : '');
}

/** How one look is shown. */
function shower(context: CliContext, options: BoardOptions): (page: ListCapacityResponse) => Promise<void> {
  const { terminal, clock } = context;
  if (options.json === true) {
    return async (page) => terminal.out(`${await messageToJson('ListCapacityResponse', ListCapacityResponse, page)}\n`);
  }
  const frame = terminal.isLive ? new Frame(terminal) : undefined;
  return async (page) => {
    // One picture is one screen: the head must not be what is cut off.
    const room = frame !== undefined && terminal.rows() > 0 ? Math.max(1, terminal.rows() - 4) : Infinity;
    const picture = `${painter(terminal)('quiet', momentText(clock.nowUs()))}\n${pictureOf(page, context, room)}`;
    if (frame === undefined) terminal.out(`${picture}\n`);
    else frame.show(picture);
  };
}

/** Shows the board once a second until it is told to stop. */
export function watchBoard(context: CliContext, options: BoardOptions, stopped: Promise<void>): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const poolId = options.pool === undefined ? '' : await findPoolId(engine, options.pool);
    const show = shower(context, options);
    await watchRepeatedly(context, { count: options.count, stopped }, () => read(engine, poolId, options), show);
  });
}

/** Runs the command. */
export function showBoard(context: CliContext, options: BoardOptions): Promise<void> {
  if (options.watch === true || options.count !== undefined)
    return untilInterrupt((stopped) => watchBoard(context, options, stopped));
  return withEngine(context, options, async (engine) => {
    const { terminal } = context;
    const poolId = options.pool === undefined ? '' : await findPoolId(engine, options.pool);
    const page = await read(engine, poolId, options);
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListCapacityResponse', ListCapacityResponse, page)}\n`);
      return;
    }
    terminal.out(pictureOf(page, context));
    const next = page.pagination?.nextCursor ?? '';
    if (next !== '') terminal.err(`(more: add --cursor ${next})\n`);
  });
}
