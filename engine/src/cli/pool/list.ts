/** `ductor pool list`. */
import { ListPoolsResponse, type Pool } from '../../gen/ductor/v1/pool.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { type CliContext, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import type { Cell } from '../output/table.js';
import { chooserText, poolState } from './show.js';

/** Options of the command. */
export interface ListPoolsOptions extends PageOptions {
  readonly status?: keyof typeof Status;
}

function rowOf(pool: Pool): readonly Cell[] {
  return [pool.name, poolState(pool), String(pool.recipientIds.length), chooserText(pool), pool.id];
}

/** Runs the command. */
export function listPools(context: CliContext, options: ListPoolsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const status = Status[options.status ?? 'STATUS_UNSPECIFIED'];
    const request = { status, pagination: wantedPage(options) };
    const page = await engine.ask<ListPoolsResponse>((...rest) => engine.pools.listPools(request, ...rest));
    const look = {
      ...{ name: 'ListPoolsResponse', encoder: ListPoolsResponse, none: 'There is no such pool.' },
      ...{ header: ['POOL', 'STATE', 'RECIPIENTS', 'CHOOSES BY', 'ID'], row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}
