import { prepared, uuidArray, type Queryable, type Row } from '../../../../store/index.js';
import type { StoredDecision } from '../stored-decision.js';

const COLUMNS = `d.decision_id, d.decided_at, d.outcome, d.outcome_class, d.reason, d.pool_id, d.rule_id, d.routable_id,
  d.duplicate_of, d.retry_at, d.recipient_ids, d.units, d.assignment_ids, d.queued_by`;

interface DecisionRow extends Row {
  readonly decision_id: string;
  readonly decided_at: number;
  readonly outcome: string;
  readonly outcome_class: string;
  readonly reason: string | null;
  readonly pool_id: string | null;
  readonly rule_id: string | null;
  readonly routable_id: string;
  readonly duplicate_of: string | null;
  readonly retry_at: number | null;
  readonly recipient_ids: readonly string[];
  readonly units: readonly number[];
  readonly assignment_ids: readonly string[];
  readonly queued_by: string | null;
}

const READ = prepared(
  'routing_read_decisions',
  `select ${COLUMNS} from ductor.routing_decision d where d.tenant_id = $1::uuid and d.decision_id = any($2::uuid[])`,
);
const LIST = prepared(
  'routing_list_decisions',
  `select ${COLUMNS} from ductor.routing_decision d
    where d.tenant_id = $1::uuid and ($2::uuid is null or d.pool_id = $2::uuid)
      and ($3::text is null or d.outcome = $3::text) and ($4::text is null or d.routable_id = $4::text)
      and ($5::bigint is null or (d.decided_at, d.decision_id) < ($5::bigint, $6::uuid))
    order by d.decided_at desc, d.decision_id desc limit $7`,
);
const RECORD = prepared(
  'routing_read_record',
  `select d.record, d.documents from ductor.routing_decision d
    where d.tenant_id = $1::uuid and d.decision_id = $2::uuid`,
);
const DOCUMENTS = prepared(
  'routing_read_documents',
  `select digest, document from ductor.routing_document where tenant_id = $1::uuid and digest = any($2::text[])`,
);
const NAMES = prepared(
  'routing_recipient_names',
  `select recipient_id, fields ->> 'name' as name from ductor.recipient
    where tenant_id = $1::uuid and recipient_id = any($2::uuid[])`,
);

function toDecision(row: DecisionRow): StoredDecision {
  return {
    ...{ decisionId: row.decision_id, decidedAtUs: row.decided_at, routableId: row.routable_id },
    ...{ outcome: row.outcome, outcomeClass: row.outcome_class, reason: row.reason },
    ...{ poolId: row.pool_id, ruleId: row.rule_id, duplicateOf: row.duplicate_of, retryAtUs: row.retry_at },
    slate: row.recipient_ids.map((id, index) => ({ id, units: row.units[index] ?? 0 })),
    assignmentIds: row.assignment_ids,
    queuedBy: row.queued_by,
  };
}

/** Which decisions. */
export interface DecisionQuery {
  /** null: of any. */
  readonly poolId: string | null;
  /** null: of any. */
  readonly outcome: string | null;
  /** null: about any work. */
  readonly routableId: string | null;
  /** The last one of the page before; null: from the first. */
  readonly before: { readonly decidedAtUs: number; readonly decisionId: string } | null;
  readonly limit: number;
}

/** Decisions by id; those that there are not are absent. */
export async function readDecisions(
  db: Queryable,
  tenantId: string,
  decisionIds: readonly string[],
): Promise<ReadonlyMap<string, StoredDecision>> {
  if (decisionIds.length === 0) return new Map();
  const { rows } = await db.query<DecisionRow>(READ, [tenantId, uuidArray(decisionIds)]);
  return new Map(rows.map((row) => [row.decision_id, toDecision(row)]));
}

/** Decisions, latest first. */
export async function listDecisions(
  db: Queryable,
  tenantId: string,
  { poolId, outcome, routableId, before, limit }: DecisionQuery,
): Promise<readonly StoredDecision[]> {
  const place = [before?.decidedAtUs ?? null, before?.decisionId ?? null];
  const { rows } = await db.query<DecisionRow>(LIST, [tenantId, poolId, outcome, routableId, ...place, limit]);
  return rows.map(toDecision);
}

/** The record of a decision, and the documents that it names as they were written; undefined when there is none. */
export async function readRecordOf(
  db: Queryable,
  tenantId: string,
  decisionId: string,
): Promise<{ readonly record: string; readonly documents: ReadonlyMap<string, string> } | undefined> {
  const values = [tenantId, decisionId];
  const { rows } = await db.query<{ record: Buffer; documents: readonly string[] }>(RECORD, values);
  const [found] = rows;
  if (found === undefined) return undefined;
  const named = await db.query<{ digest: string; document: Buffer }>(DOCUMENTS, [tenantId, found.documents]);
  return {
    record: found.record.toString('utf8'),
    documents: new Map(named.rows.map(({ digest, document }) => [digest, document.toString('utf8')])),
  };
}

/** Names of recipients as they are now; those that are gone are absent. */
export async function recipientNames(
  db: Queryable,
  tenantId: string,
  recipientIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (recipientIds.length === 0) return new Map();
  const { rows } = await db.query<{ recipient_id: string; name: string }>(NAMES, [tenantId, uuidArray(recipientIds)]);
  return new Map(rows.map(({ recipient_id: id, name }) => [id, name]));
}
