/** `ductor claim list`, `take`, `release`, `complete` and `decline`. */
import { ClaimItem, ClaimState, ListClaimItemsResponse } from '../../gen/ductor/v1/claim.js';
import type { CallRest, EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { enumWord } from '../enum-option.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import type { Tone } from '../output/paint.js';
import { oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import { momentText, usOf } from '../output/times.js';
import { given } from '../workflow/find-definition.js';
import { findQueueId } from './queues.js';

const HEADER = ['ITEM', 'STATE', 'SINCE', 'UNTIL', 'OFFERED', 'RECIPIENT', 'WORK'];
const TONES: Readonly<Partial<Record<ClaimState, Tone>>> = {
  [ClaimState.CLAIM_STATE_OPEN]: 'active',
  [ClaimState.CLAIM_STATE_CLAIMED]: 'good',
  [ClaimState.CLAIM_STATE_EXPIRED]: 'warning',
};

function rowOf(item: ClaimItem): readonly Cell[] {
  const { id, state, queuedAt, claimedAt, endedAt, expiresAt, offered, claimants, recipientId, routableId } = item;
  const text = enumWord({ ...ClaimState }, 'CLAIM_STATE_', state);
  const since = momentText(usOf(endedAt ?? claimedAt ?? queuedAt));
  const until = state === ClaimState.CLAIM_STATE_OPEN ? momentText(usOf(expiresAt)) : '';
  const cell = { text, tone: TONES[state] ?? 'quiet' };
  return [id, cell, since, until, `${offered} of ${claimants}`, recipientId, oneLine(routableId)];
}

/** Options of `ductor claim list`. */
export interface ListItemsOptions extends PageOptions {
  readonly recipient?: string;
  readonly state?: keyof typeof ClaimState;
}

/** Runs `ductor claim list`. */
export function listItems(context: CliContext, queue: string, options: ListItemsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { recipient: recipientId = '', state = 'CLAIM_STATE_OPEN' } = options;
    const queueId = await findQueueId(engine, queue);
    const request = { queueId, recipientId, state: ClaimState[state], pagination: wantedPage(options) };
    const page = await engine.ask<ListClaimItemsResponse>((...rest) => engine.claims.listClaimItems(request, ...rest));
    const look = {
      ...{ name: 'ListClaimItemsResponse', encoder: ListClaimItemsResponse, none: 'There is no such item.' },
      ...{ header: HEADER, row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}

/** Options of the commands that do something; only releasing and declining take a reason. */
export interface ItemActOptions extends ClientOptions {
  readonly recipient: string;
  readonly reason?: string;
}

interface ActRequest {
  readonly itemId: string;
  readonly recipientId: string;
  readonly reason: string;
}

type Ask = (engine: EngineClient, request: ActRequest, rest: CallRest<{ data: ClaimItem | undefined }>) => unknown;

/** How each is asked. */
const ASKS = {
  take: ({ claims }, { itemId, recipientId }, rest) => claims.claimItem({ itemId, recipientId }, ...rest),
  release: ({ claims }, request, rest) => claims.releaseClaim({ ...request }, ...rest),
  complete: ({ claims }, { itemId, recipientId }, rest) => claims.completeClaim({ itemId, recipientId }, ...rest),
  decline: ({ claims }, request, rest) => claims.declineClaim({ ...request }, ...rest),
} satisfies Readonly<Record<string, Ask>>;

/** What can be done to an item. */
export type ItemAct = keyof typeof ASKS;

/** Runs one of them. */
export function actOnItem(context: CliContext, act: ItemAct, itemId: string, options: ItemActOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { itemId, recipientId: options.recipient, reason: options.reason ?? '' };
    const { data } = await engine.ask<{ data: ClaimItem | undefined }>((...rest) => ASKS[act](engine, request, rest));
    const { terminal } = context;
    if (options.json === true) terminal.out(`${await messageToJson('ClaimItem', ClaimItem, given(data))}\n`);
    else terminal.out(table(terminal, HEADER, [rowOf(given(data))]));
  });
}
