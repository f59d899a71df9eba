import { prepared, type Queryable } from '../../../store/index.js';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINT_COLUMNS, toEndpoint, type EndpointRow } from './endpoint-row.js';

/** Highest id there can be. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const LIST = prepared(
  'bridge_list_endpoints',
  `select ${ENDPOINT_COLUMNS} from ductor.endpoint
    where tenant_id = $1::uuid and endpoint_id < $2::uuid order by endpoint_id desc limit $3`,
);
const FIND = prepared(
  'bridge_find_endpoint',
  `select ${ENDPOINT_COLUMNS} from ductor.endpoint where tenant_id = $1::uuid and endpoint_id = $2::uuid`,
);

/** Endpoints of a tenant before an id (null: from the newest), newest first, at most `limit`. */
export async function listEndpoints(
  db: Queryable,
  tenantId: string,
  beforeId: string | null,
  limit: number,
): Promise<readonly Endpoint[]> {
  const { rows } = await db.query<EndpointRow>(LIST, [tenantId, beforeId ?? LAST_ID, limit]);
  return rows.map(toEndpoint);
}

/** One endpoint; undefined when there is none. */
export async function findEndpoint(db: Queryable, tenantId: string, endpointId: string): Promise<Endpoint | undefined> {
  const { rows } = await db.query<EndpointRow>(FIND, [tenantId, endpointId]);
  return rows[0] && toEndpoint(rows[0]);
}
