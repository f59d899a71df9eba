import { BatchBlob, integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';

/** A request with an idempotency key. */
export interface RequestClaim {
  readonly key: string;
  /** SHA-256 of the request. */
  readonly fingerprint: Buffer;
  readonly decisionId: string;
}

interface RequestRow extends Row {
  readonly request_key: string;
  readonly fingerprint: Buffer;
  readonly decision_id: string;
}

const CLAIM = prepared(
  'routing_claim_requests',
  `insert into ductor.routing_request (tenant_id, request_key, fingerprint, decision_id, created_at)
    select $1::uuid, n.k, substring($3::bytea from n.o + 1 for n.l), n.id, ductor.now_us()
      from unnest($2::text[], $4::integer[], $5::integer[], $6::uuid[]) as n (k, o, l, id)
      order by n.k collate "C"
    on conflict (tenant_id, request_key) do nothing returning request_key`,
);
const READ = prepared(
  'routing_read_requests',
  `select request_key, fingerprint, decision_id from ductor.routing_request
    where tenant_id = $1::uuid and request_key = any($2::text[])`,
);
const UNCLAIM = prepared(
  'routing_unclaim_requests',
  'delete from ductor.routing_request where tenant_id = $1::uuid and request_key = any($2::text[])',
);

/**
 * Claims keys, each named once; waits for whoever claims one of them right now. They are inserted in one order, which
 * is everybody's.
 *
 * @returns the requests that had a key before, by key
 */
export async function claimRequests(
  tx: Queryable,
  tenantId: string,
  claims: readonly RequestClaim[],
): Promise<ReadonlyMap<string, RequestClaim>> {
  if (claims.length === 0) return new Map();
  const blob = new BatchBlob();
  const slices = claims.map(({ fingerprint }) => blob.append(fingerprint));
  const { rows: claimed } = await tx.query<{ request_key: string }>(CLAIM, [
    tenantId,
    claims.map(({ key }) => key),
    blob.toBuffer(),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
    uuidArray(claims.map(({ decisionId }) => decisionId)),
  ]);
  const own = new Set(claimed.map(({ request_key: key }) => key));
  const others = claims.map(({ key }) => key).filter((key) => !own.has(key));
  if (others.length === 0) return new Map();
  // A later statement: it sees what was committed while the claim waited.
  const { rows } = await tx.query<RequestRow>(READ, [tenantId, others]);
  return new Map(
    rows.map((row) => [
      row.request_key,
      { key: row.request_key, fingerprint: row.fingerprint, decisionId: row.decision_id },
    ]),
  );
}

/** Gives claimed keys back: nothing was decided for them. */
export async function unclaimRequests(tx: Queryable, tenantId: string, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await tx.query(UNCLAIM, [tenantId, keys]);
}
