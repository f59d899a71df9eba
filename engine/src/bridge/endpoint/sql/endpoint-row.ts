import type { Row } from '../../../store/index.js';
import type { WorkflowCapability } from '../../queue/capability.js';
import type { Endpoint, EndpointForm } from '../endpoint.js';

/** Columns of an endpoint, in any order. */
export const ENDPOINT_COLUMNS = `tenant_id, endpoint_id, name, form, url, audience, queues, concurrency, timeout_ms,
  workflows, strategies, revision, created_at, updated_at`;

/** A row of them. */
export interface EndpointRow extends Row {
  readonly tenant_id: string;
  readonly endpoint_id: string;
  readonly name: string;
  readonly form: EndpointForm;
  readonly url: string;
  readonly audience: string;
  readonly queues: readonly string[];
  readonly concurrency: number;
  readonly timeout_ms: number;
  readonly workflows: readonly WorkflowCapability[];
  readonly strategies: Endpoint['strategies'];
  readonly revision: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The endpoint that a row holds. */
export function toEndpoint(row: EndpointRow): Endpoint {
  const { name, form, url, audience, queues, concurrency, workflows, strategies, revision } = row;
  return {
    ...{ name, form, url, audience, queues, concurrency, workflows, strategies, revision },
    ...{ tenantId: row.tenant_id, endpointId: row.endpoint_id, timeoutMs: row.timeout_ms },
    ...{ createdAtUs: row.created_at, updatedAtUs: row.updated_at },
  };
}
