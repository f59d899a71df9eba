/** Finds pools by what people call them. */
import type { GetPoolResponse, ListPoolsResponse, Pool } from '../../gen/ductor/v1/pool.js';
import { Status } from '../../gen/ductor/v1/workflow.js';
import { DuctorError } from '../../kernel/index.js';
import type { EngineClient } from '../connect/engine-client.js';
import { given } from '../workflow/find-definition.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PAGE = 200;

/** Whether a text is an id. */
export function isId(text: string): boolean {
  return UUID.test(text);
}

async function poolNamed(engine: EngineClient, name: string): Promise<Pool> {
  for (let cursor = ''; ;) {
    const pagination = { pageSize: PAGE, cursor, nextCursor: '' };
    const request = { status: Status.STATUS_UNSPECIFIED, pagination };
    const page = await engine.ask<ListPoolsResponse>((...rest) => engine.pools.listPools(request, ...rest));
    const found = page.data.find((pool) => pool.name === name);
    if (found !== undefined) return found;
    cursor = page.pagination?.nextCursor ?? '';
    if (cursor !== '') continue;
    throw new DuctorError('not_found', `there is no pool ${JSON.stringify(name)}`, {
      remedy: 'ductor pool list shows all; a pool is named by its name or its id.',
    });
  }
}

/** A pool by its id or name. Throws not_found. */
export async function findPool(engine: EngineClient, pool: string): Promise<Pool> {
  if (!isId(pool)) return poolNamed(engine, pool);
  const { data } = await engine.ask<GetPoolResponse>((...rest) => engine.pools.getPool({ poolId: pool }, ...rest));
  return given(data);
}

/** The id of a pool by its id or name; an id is taken as it is. Throws not_found. */
export async function findPoolId(engine: EngineClient, pool: string): Promise<string> {
  return isId(pool) ? pool : (await poolNamed(engine, pool)).id;
}
