/** `ductor pool queue`: what waits in a pool. */
import {
  ListWaitingWorkResponse,
  type RemoveWaitingWorkResponse,
  WaitingState,
  WaitingWork,
} from '../../gen/ductor/v1/routing.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { enumWord } from '../enum-option.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import { oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import { momentText, usOf } from '../output/times.js';
import { given } from '../workflow/find-definition.js';
import { findPoolId } from './find.js';

const HEADER = ['DECISION', 'STATE', 'SINCE', 'UNTIL', 'PRIORITY', 'WHY', 'WORK'];

function rowOf(work: WaitingWork): readonly Cell[] {
  const { decisionId, state, queuedAt, expiresAt, endedAt, priority, reason, routableId } = work;
  const isWaiting = state === WaitingState.WAITING_STATE_WAITING;
  const text = enumWord({ ...WaitingState }, 'WAITING_STATE_', state);
  return [
    decisionId,
    { text, tone: isWaiting ? 'active' : 'quiet' },
    momentText(usOf(queuedAt)),
    momentText(usOf(isWaiting ? expiresAt : endedAt)),
    ...[String(priority), reason, oneLine(routableId)],
  ];
}

/** Runs `ductor pool queue`. */
export function listQueue(context: CliContext, pool: string, options: PageOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { poolId: await findPoolId(engine, pool), pagination: wantedPage(options) };
    const page = await engine.ask<ListWaitingWorkResponse>((...rest) =>
      engine.routing.listWaitingWork(request, ...rest),
    );
    const look = {
      ...{ name: 'ListWaitingWorkResponse', encoder: ListWaitingWorkResponse, none: 'Nothing waits in this pool.' },
      ...{ header: HEADER, row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}

/** Options of `ductor pool unqueue`. */
export interface UnqueueOptions extends ClientOptions {
  readonly reason?: string;
}

/** Runs `ductor pool unqueue`. */
export function removeFromQueue(context: CliContext, decisionId: string, options: UnqueueOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { decisionId, reason: options.reason ?? '' };
    const { data } = await engine.ask<RemoveWaitingWorkResponse>((...rest) =>
      engine.routing.removeWaitingWork(request, ...rest),
    );
    const { terminal } = context;
    if (options.json === true) terminal.out(`${await messageToJson('WaitingWork', WaitingWork, given(data))}\n`);
    else terminal.out(table(terminal, HEADER, [rowOf(given(data))]));
  });
}
