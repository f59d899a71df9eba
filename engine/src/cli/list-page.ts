/** Commands that print one page of a list. */
import type { Command } from 'commander';
import type { Pagination } from '../gen/ductor/v1/common.js';
import type { CliContext, ClientOptions } from './context.js';
import { wholeNumber } from './options.js';
import { messageToJson } from './output/message-json.js';
import { type Cell, table } from './output/table.js';

/** Options of such a command. */
export interface PageOptions extends ClientOptions {
  readonly limit: number;
  /** next_cursor of an earlier page. */
  readonly cursor?: string;
}

/** Adds the options. */
export function pageOptions(command: Command): Command {
  return command
    .option('--limit <count>', 'at most so many (1 to 200)', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on after an earlier page');
}

/** What the list is asked for. */
export function wantedPage({ limit, cursor = '' }: PageOptions): Pagination {
  return { pageSize: limit, cursor, nextCursor: '' };
}

/** The answer of a list. */
interface Page<T> {
  readonly data: readonly T[];
  readonly pagination: Pagination | undefined;
}

/** How a page is shown. */
export interface PageLook<P extends Page<T>, T> {
  /** Name of the answer in package ductor.v1. */
  readonly name: string;
  readonly encoder: { encode(message: P): { finish(): Uint8Array } };
  /** What is said when there is nothing. */
  readonly none: string;
  readonly header: readonly string[];
  row(item: T): readonly Cell[];
}

/** Prints a page: a table, or JSON; where more follows, how to see it. */
export async function printPage<P extends Page<T>, T>(
  { terminal }: CliContext,
  { json }: ClientOptions,
  look: PageLook<P, T>,
  page: P,
): Promise<void> {
  if (json === true) {
    terminal.out(`${await messageToJson(look.name, look.encoder, page)}\n`);
    return;
  }
  if (page.data.length === 0) terminal.out(`${look.none}\n`);
  else
    terminal.out(
      table(
        terminal,
        look.header,
        page.data.map((item) => look.row(item)),
      ),
    );
  const next = page.pagination?.nextCursor ?? '';
  if (next !== '') terminal.err(`(more: add --cursor ${next})\n`);
}
