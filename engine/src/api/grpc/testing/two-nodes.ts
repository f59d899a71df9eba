/** Two nodes of one database that do not hear of each other, and one tenant that calls them over REST. */
import { afterAll, beforeAll } from 'vitest';
import type { Database } from '../../../store/index.js';
import { bearer, httpCall } from '../../testing/http-call.js';
import { startTestNode, type TestNode } from './test-node.js';

/** What a call answers. */
export type Data = Record<string, unknown> & { readonly id: string };

/** Calls a node, by default the first. Throws what the answer says is wrong. */
export type Rest = (method: string, path: string, body?: object, node?: number) => Promise<Data>;

/**
 * The nodes of a test file: begun before its tests, stopped after them.
 *
 * @param tenant name of the tenant
 */
export function twoNodes(database: { readonly db: Database }, tenant: string): Rest {
  let nodes: readonly TestNode[] = [];
  let apiKey = '';
  beforeAll(async () => {
    const first = await startTestNode(database.db);
    nodes = [first, await startTestNode(database.db)];
    ({ apiKey } = await first.tenant(tenant));
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  });
  return async (method, path, body, node = 0) => {
    const { json } = await httpCall(nodes[node]?.address ?? '', {
      ...{ method, path, headers: { ...bearer(apiKey), 'content-type': 'application/json' } },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { data, error } = json as { data?: Data; error?: object };
    if (data === undefined) throw new RangeError(JSON.stringify(error));
    return data;
  };
}
