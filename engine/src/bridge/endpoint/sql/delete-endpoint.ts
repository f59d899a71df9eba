import type { Queryable } from '../../../store/index.js';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINT_COLUMNS, toEndpoint, type EndpointRow } from './endpoint-row.js';

/** Takes an endpoint away and returns what it was; undefined: there was none. */
export async function deleteEndpoint(
  tx: Queryable,
  tenantId: string,
  endpointId: string,
): Promise<Endpoint | undefined> {
  const { rows } = await tx.query<EndpointRow>(
    `delete from ductor.endpoint where tenant_id = $1::uuid and endpoint_id = $2::uuid returning ${ENDPOINT_COLUMNS}`,
    [tenantId, endpointId],
  );
  return rows[0] && toEndpoint(rows[0]);
}
