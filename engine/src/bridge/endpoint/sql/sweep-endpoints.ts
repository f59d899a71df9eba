import { prepared, type Queryable, type Row } from '../../../store/index.js';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINT_COLUMNS, toEndpoint, type EndpointRow } from './endpoint-row.js';

/** An endpoint and how often it was changed. */
export interface EndpointRevision {
  readonly tenantId: string;
  readonly endpointId: string;
  readonly revision: number;
}

interface RevisionRow extends Row {
  readonly tenant_id: string;
  readonly endpoint_id: string;
  readonly revision: number;
}

/** Endpoints that a node can hold. */
const MAX_SWEPT = 10_000;
const SWEEP = prepared(
  'bridge_sweep_endpoints',
  `select tenant_id, endpoint_id, revision from ductor.endpoint order by tenant_id, endpoint_id limit ${MAX_SWEPT}`,
);
const LOAD = prepared(
  'bridge_load_endpoints',
  `select ${ENDPOINT_COLUMNS} from ductor.endpoint
    join unnest($1::uuid[], $2::uuid[]) as k (tenant_id, endpoint_id) using (tenant_id, endpoint_id)`,
);

/** Endpoints of all tenants. For the engine, not for callers. */
export async function sweepEndpoints(db: Queryable): Promise<readonly EndpointRevision[]> {
  const { rows } = await db.query<RevisionRow>(SWEEP);
  return rows.map((row) => ({ tenantId: row.tenant_id, endpointId: row.endpoint_id, revision: row.revision }));
}

/** Those of them that are still there. */
export async function loadEndpoints(
  db: Queryable,
  keys: readonly Pick<EndpointRevision, 'tenantId' | 'endpointId'>[],
): Promise<readonly Endpoint[]> {
  const values = [keys.map(({ tenantId }) => tenantId), keys.map(({ endpointId }) => endpointId)];
  const { rows } = await db.query<EndpointRow>(LOAD, values);
  return rows.map(toEndpoint);
}
