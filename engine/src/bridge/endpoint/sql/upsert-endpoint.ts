import { impossible } from '../../../kernel/index.js';
import type { Queryable } from '../../../store/index.js';
import type { WorkflowCapability } from '../../queue/capability.js';
import type { Endpoint, EndpointSpec } from '../endpoint.js';
import { ENDPOINT_COLUMNS, toEndpoint, type EndpointRow } from './endpoint-row.js';

/** What to store. */
export interface EndpointToStore extends EndpointSpec {
  readonly tenantId: string;
  /** Of the endpoint where its name is new. */
  readonly endpointId: string;
  /** null: what it serves stays as it was; a new one serves nothing yet. */
  readonly workflows: readonly WorkflowCapability[] | null;
  /** null: those that it has stay as they were. */
  readonly strategies: Endpoint['strategies'] | null;
}

const SAID = 'form, url, audience, queues, concurrency, timeout_ms, workflows, strategies';

/** Makes the endpoint of this name or changes it; its revision moves only when something differs. */
export async function upsertEndpoint(tx: Queryable, endpoint: EndpointToStore): Promise<Endpoint> {
  const { tenantId, endpointId, name, form, url, audience, queues, concurrency, timeoutMs, workflows, strategies } =
    endpoint;
  const { rows } = await tx.query<EndpointRow>(
    `insert into ductor.endpoint as e (tenant_id, endpoint_id, name, ${SAID})
      values ($1::uuid, $2::uuid, $3, $4, $5, $6, $7::text[], $8, $9, coalesce($10::jsonb, '[]'::jsonb),
        coalesce($11::jsonb, '[]'::jsonb))
      on conflict (tenant_id, name) do update set
        (${SAID}, revision, updated_at) = (
          select excluded.form, excluded.url, excluded.audience, excluded.queues, excluded.concurrency,
            excluded.timeout_ms, coalesce($10::jsonb, e.workflows), coalesce($11::jsonb, e.strategies),
            e.revision + case when c.changed then 1 else 0 end,
            case when c.changed then ductor.now_us() else e.updated_at end
          from (select (e.form, e.url, e.audience, e.queues, e.concurrency, e.timeout_ms, e.workflows,
              e.strategies)
            is distinct from (excluded.form, excluded.url, excluded.audience, excluded.queues, excluded.concurrency,
              excluded.timeout_ms, coalesce($10::jsonb, e.workflows),
              coalesce($11::jsonb, e.strategies))) as c (changed))
      returning ${ENDPOINT_COLUMNS}`,
    [
      ...[tenantId, endpointId, name, form, url, audience, queues, concurrency, timeoutMs],
      workflows && JSON.stringify(workflows),
      strategies && JSON.stringify(strategies),
    ],
  );
  return toEndpoint(rows[0] ?? impossible('endpoint-upsert', 'an upsert returned no row'));
}
