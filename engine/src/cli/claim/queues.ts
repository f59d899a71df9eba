/** `ductor claim-queue create`, `list` and `get`, and queues by what people call them. */
import {
  ClaimQueue,
  CreateClaimQueueRequest,
  type CreateClaimQueueResponse,
  type GetClaimQueueResponse,
  ListClaimQueuesResponse,
} from '../../gen/ductor/v1/claim.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import { oneLine } from '../output/safe-text.js';
import { type Cell, table } from '../output/table.js';
import { isId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';

const HEADER = ['QUEUE', 'NAME', 'DESCRIPTION'];
const PAGE = 200;

function rowOf({ id, name, description }: ClaimQueue): readonly Cell[] {
  return [id, oneLine(name), oneLine(description)];
}

async function print({ terminal }: CliContext, queue: ClaimQueue, { json }: ClientOptions): Promise<void> {
  if (json === true) terminal.out(`${await messageToJson('ClaimQueue', ClaimQueue, queue)}\n`);
  else terminal.out(table(terminal, HEADER, [rowOf(queue)]));
}

/** The id of a queue by its id or name. Throws not_found. */
export async function findQueueId(engine: EngineClient, queue: string): Promise<string> {
  if (isId(queue)) return queue;
  for (let cursor = ''; ;) {
    const pagination = { pageSize: PAGE, cursor, nextCursor: '' };
    const page = await engine.ask<ListClaimQueuesResponse>((...rest) =>
      engine.claims.listClaimQueues({ pagination }, ...rest),
    );
    const found = page.data.find(({ name }) => name === queue);
    if (found !== undefined) return found.id;
    cursor = page.pagination?.nextCursor ?? '';
    if (cursor !== '') continue;
    throw new DuctorError('not_found', `there is no claim queue ${JSON.stringify(queue)}`, {
      remedy: 'ductor claim-queue list shows all; a queue is named by its name or its id.',
    });
  }
}

/** Options of `ductor claim-queue create`. */
export interface CreateQueueOptions extends ClientOptions {
  readonly description?: string;
}

/** Runs `ductor claim-queue create`. */
export function createQueue(context: CliContext, name: string, options: CreateQueueOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = CreateClaimQueueRequest.fromPartial({ name, description: options.description ?? '' });
    const { data } = await engine.ask<CreateClaimQueueResponse>((...rest) =>
      engine.claims.createClaimQueue(request, ...rest),
    );
    await print(context, given(data), options);
  });
}

/** Runs `ductor claim-queue list`. */
export function listQueues(context: CliContext, options: PageOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const page = await engine.ask<ListClaimQueuesResponse>((...rest) =>
      engine.claims.listClaimQueues({ pagination: wantedPage(options) }, ...rest),
    );
    const look = {
      ...{ name: 'ListClaimQueuesResponse', encoder: ListClaimQueuesResponse, none: 'There is no claim queue yet.' },
      ...{ header: HEADER, row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}

/** Runs `ductor claim-queue get`. */
export function getQueue(context: CliContext, queue: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const queueId = await findQueueId(engine, queue);
    const { data } = await engine.ask<GetClaimQueueResponse>((...rest) =>
      engine.claims.getClaimQueue({ queueId }, ...rest),
    );
    await print(context, given(data), options);
  });
}
