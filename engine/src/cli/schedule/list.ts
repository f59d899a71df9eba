/** `ductor schedule list`. */
import { ListSchedulesResponse, type Schedule } from '../../gen/ductor/v1/schedule.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { messageToJson } from '../output/message-json.js';
import { type Cell, table } from '../output/table.js';
import { distanceText, usOf } from '../output/times.js';
import { timesText } from './show.js';

/** Options of the command. */
export interface ListOptions extends ClientOptions {
  readonly limit: number;
  /** next_cursor of an earlier page. */
  readonly cursor?: string;
}

function nextCell({ paused, nextSlots }: Schedule, nowUs: number): Cell {
  if (paused) return { text: 'paused', tone: 'warning' };
  const us = usOf(nextSlots[0]);
  return us === null ? { text: 'none any more', tone: 'quiet' } : distanceText(us, nowUs);
}

/** Runs the command. */
export function listSchedules(context: CliContext, options: ListOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { terminal, clock } = context;
    const pagination = { pageSize: options.limit, cursor: options.cursor ?? '', nextCursor: '' };
    const page = await engine.ask<ListSchedulesResponse>((...rest) =>
      engine.schedules.listSchedules({ pagination }, ...rest),
    );
    if (options.json === true) {
      terminal.out(`${await messageToJson('ListSchedulesResponse', ListSchedulesResponse, page)}\n`);
      return;
    }
    if (page.data.length === 0) {
      terminal.out('There is no schedule.\n');
      return;
    }
    const nowUs = clock.nowUs();
    const rows = page.data.map((each) => [each.slug, each.familySlug, nextCell(each, nowUs), timesText(each)]);
    terminal.out(table(terminal, ['SCHEDULE', 'WORKFLOW', 'NEXT', 'WHEN'], rows));
    const next = page.pagination?.nextCursor ?? '';
    if (next !== '') terminal.err(`(more: add --cursor ${next})\n`);
  });
}
