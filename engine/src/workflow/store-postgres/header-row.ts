/** A run's header as the database gives it. */
import type { RunHeader } from '../coordinator/ports.js';
import { statusOf } from './run-status-code.js';

/**
 * The columns as JSON: [tenant, run, shard, family, version, status, active, wake, started, closed, attributes,
 * root, parent, chain, place in it].
 * One expression for every statement that reads headers; `r` is the row of ductor.runs.
 */
export const HEADER_COLUMNS = `json_build_array(r.tenant_id, r.run_id, r.shard, r.family_slug, r.version, r.status,
      r.active, r.wake_at, r.started_at, r.closed_at,
      (select json_object_agg(a.name, a.value) from ductor.run_attribute a
        where a.tenant_id = r.tenant_id and a.run_id = r.run_id), r.root_id, r.parent_id, r.chain_id,
      r.chain_no)`;

/** HEADER_COLUMNS, read. All times are safe integers until the year 2255. */
export type HeaderRow = readonly [
  tenantId: string,
  runId: string,
  shard: number,
  familySlug: string,
  version: number,
  status: number,
  active: boolean,
  wakeAtUs: number | null,
  startedAtUs: number,
  closedAtUs: number | null,
  attributes: Readonly<Record<string, string>> | null,
  rootId: string | null,
  parentId: string | null,
  chainId: string | null,
  chainNo: number | null,
];

/** The header. Throws internal for a status this engine does not know. */
export function headerOf(row: HeaderRow): RunHeader {
  const [tenantId, runId, shard, familySlug, version, status, active, wakeAtUs, startedAtUs, closedAtUs] = row;
  const [, , , , , , , , , , found, rootId, parentId, chainId, no] = row;
  return {
    tenantId,
    runId,
    shard,
    familySlug,
    version,
    status: statusOf(status),
    active,
    wakeAtUs,
    startedAtUs,
    closedAtUs,
    attributes: found ?? {},
    rootId,
    parentId,
    chain: chainId === null || no === null ? null : { chainId, no },
  };
}
