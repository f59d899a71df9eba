import { BatchBlob, integerArray, prepared, uuidArray, type Queryable } from '../../../../store/index.js';
import type { RecordedDecision } from '../stored-decision.js';

const INSERT = prepared(
  'routing_insert_decisions',
  `insert into ductor.routing_decision (tenant_id, decision_id, decided_at, outcome, outcome_class, reason, pool_id,
      rule_id, routable_id, duplicate_of, retry_at, recipient_ids, units, assignment_ids, principal_id, record,
      documents, expires_at, queued_by)
    select $1::uuid, n.decision_id, n.decided_at, n.outcome, n.outcome_class, n.reason, n.pool_id, n.rule_id,
        n.routable_id, n.duplicate_of, n.retry_at, n.recipient_ids::uuid[], n.units::integer[],
        n.assignment_ids::uuid[], n.principal_id, substring($2::bytea from n.o + 1 for n.l), n.documents::text[],
        n.expires_at, n.queued_by
      from unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::uuid[], $9::uuid[], $10::text[],
        $11::uuid[], $12::bigint[], $13::text[], $14::text[], $15::text[], $16::uuid[], $17::integer[],
        $18::integer[], $19::text[], $20::bigint[], $21::uuid[])
        as n (decision_id, decided_at, outcome, outcome_class, reason, pool_id, rule_id, routable_id, duplicate_of,
          retry_at, recipient_ids, units, assignment_ids, principal_id, o, l, documents, expires_at, queued_by)`,
);
const DOCUMENTS = prepared(
  'routing_insert_documents',
  `insert into ductor.routing_document (tenant_id, digest, document)
    select $1::uuid, n.digest, substring($3::bytea from n.o + 1 for n.l)
      from unnest($2::text[], $4::integer[], $5::integer[]) as n (digest, o, l) order by n.digest collate "C"
    on conflict do nothing`,
);

/** Stores decisions with their records. */
export async function insertDecisions(
  tx: Queryable,
  tenantId: string,
  decisions: readonly RecordedDecision[],
): Promise<void> {
  if (decisions.length === 0) return;
  const blob = new BatchBlob();
  const slices = decisions.map(({ record }) => blob.append(record));
  const list = (items: readonly (string | number)[]): string => `{${items.join(',')}}`;
  await tx.query(INSERT, [
    tenantId,
    blob.toBuffer(),
    uuidArray(decisions.map(({ decisionId }) => decisionId)),
    integerArray(decisions.map(({ decidedAtUs }) => decidedAtUs)),
    decisions.map(({ outcome }) => outcome),
    decisions.map(({ outcomeClass }) => outcomeClass),
    decisions.map(({ reason }) => reason),
    uuidArray(decisions.map(({ poolId }) => poolId)),
    uuidArray(decisions.map(({ ruleId }) => ruleId)),
    decisions.map(({ routableId }) => routableId),
    uuidArray(decisions.map(({ duplicateOf }) => duplicateOf)),
    integerArray(decisions.map(({ retryAtUs }) => retryAtUs)),
    decisions.map(({ slate }) => list(slate.map(({ id }) => id))),
    decisions.map(({ slate }) => list(slate.map(({ units }) => units))),
    decisions.map(({ assignmentIds }) => list(assignmentIds)),
    uuidArray(decisions.map(({ principalId }) => principalId)),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
    decisions.map(({ documents }) => list(documents.map((digest) => JSON.stringify(digest)))),
    integerArray(decisions.map(({ expiresAtUs }) => expiresAtUs)),
    uuidArray(decisions.map(({ queuedBy }) => queuedBy)),
  ]);
}

/** Stores documents under their digests, in one order; those that are there already stay. */
export async function insertDocuments(
  tx: Queryable,
  tenantId: string,
  documents: ReadonlyMap<string, string>,
): Promise<void> {
  if (documents.size === 0) return;
  const blob = new BatchBlob();
  const slices = [...documents.values()].map((document) => blob.append(Buffer.from(document, 'utf8')));
  await tx.query(DOCUMENTS, [
    tenantId,
    [...documents.keys()],
    blob.toBuffer(),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
  ]);
}
