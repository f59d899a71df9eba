/** Two nodes with claim pools, spoken to over REST. */
import { afterAll, beforeAll } from 'vitest';
import { sleep, systemClock } from '../../../kernel/index.js';
import { testDatabase } from '../../../store/testing/index.js';
import { bearer, httpCall } from '../../testing/http-call.js';
import { startTestNode, type TestNode } from './test-node.js';

/** What an answer holds. */
export type Data = Record<string, unknown> & { readonly id: string };

/** Why there is none. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retry_after: string;
}

/** One of both is empty. */
export interface Answer {
  readonly data: Data;
  readonly error: Failure;
}

let names = 0;

/** A name that nothing has yet. */
export const freshName = (): string => `made-${(names += 1)}`;

/** The nodes of the tests of a file. Its functions need no `this`. */
export class ClaimKit {
  #nodes: readonly TestNode[] = [];
  #apiKey = '';

  constructor() {
    const database = testDatabase();
    beforeAll(async () => {
      this.#nodes = [await startTestNode(database.db), await startTestNode(database.db)];
      this.#apiKey = (await this.#nodes[0]?.tenant('claims'))?.apiKey ?? '';
    });
    afterAll(async () => {
      await Promise.all(this.#nodes.map((node) => node.stop()));
    });
  }

  /** A call at one of the nodes. */
  readonly rest = async (method: string, path: string, body?: object, node = 0): Promise<Answer> => {
    const { json } = await httpCall(this.#nodes[node % 2]?.address ?? '', {
      ...{ method, path, headers: { ...bearer(this.#apiKey), 'content-type': 'application/json' } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data = { id: '' }, error = { code: '', message: '', retry_after: '' } } = json as Partial<Answer>;
    return { data, error };
  };

  /** A queue; its id. */
  readonly queue = async (): Promise<string> =>
    (await this.rest('POST', '/api/claim-queues', { name: freshName() })).data.id;

  /** A pool whose work is claimed, its recipients, its queue. */
  readonly pondOf = async (
    count: number,
    claim: object = {},
    fields: object = {},
    config: object = {},
  ): Promise<{ readonly poolId: string; readonly ids: readonly string[]; readonly queueId: string }> => {
    const queueId = await this.queue();
    const all = { routing_mode: 'claim', claim_queue_id: queueId, claim, ...config };
    const { data, error } = await this.rest('POST', '/api/pools', { name: freshName(), config: all });
    if (data.id === '') throw new RangeError(JSON.stringify(error));
    const ids: string[] = [];
    for (let number = 0; number < count; number += 1) {
      const recipient = { name: `r${number}`, state: 'RECIPIENT_STATE_AVAILABLE', ...fields };
      ids.push((await this.rest('POST', `/api/pools/${data.id}/recipients`, recipient)).data.id);
    }
    return { poolId: data.id, ids, queueId };
  };

  /** The decision about new work of a pool. */
  readonly routed = async (poolId: string, work: object = {}): Promise<Data> => {
    const body = { pool_id: poolId, routable: { id: freshName(), type: 'lead', ...work } };
    return (await this.rest('POST', '/api/routing/route', body, names)).data;
  };

  /** The item of new work. */
  readonly queued = async (poolId: string, work: object = {}): Promise<string> =>
    String((await this.routed(poolId, work))['claim_item_id']);

  /** Does something to an item for a recipient. */
  readonly act = (verb: string, itemId: string, recipientId = '', node = 0): Promise<Answer> =>
    this.rest('POST', `/api/claims/${itemId}:${verb}`, { recipient_id: recipientId }, node);

  /** An item as it is. */
  readonly item = async (itemId: string): Promise<Data> => (await this.rest('GET', `/api/claims/${itemId}`)).data;

  /** Open items that are offered to a recipient. */
  readonly itemsFor = async (queueId: string, recipientId: string): Promise<readonly string[]> => {
    const path = `/api/claim-queues/${queueId}/items?state=CLAIM_STATE_OPEN&recipient_id=${recipientId}`;
    const { data } = await this.rest('GET', path);
    return (data as unknown as readonly Data[]).map(({ id }) => id);
  };

  /** The item once it is as wanted; nodes look each second. */
  readonly once = async (itemId: string, isWanted: (found: Data) => boolean): Promise<Data> => {
    for (let tries = 0; ; tries += 1) {
      const found = await this.item(itemId);
      if (isWanted(found) || tries === 300) return found;
      await sleep(systemClock(), 100);
    }
  };

  /** Units of a recipient that are committed. */
  readonly committed = async (recipientId: string): Promise<number> => {
    const { data } = await this.rest('GET', `/api/recipients/${recipientId}`);
    return Number((data['capacity'] as Record<string, unknown>)['current']);
  };
}
