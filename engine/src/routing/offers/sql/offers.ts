import { integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';

/** An offer that is made. */
export interface NewOffer {
  readonly tenantId: string;
  readonly assignmentId: string;
  readonly expiresUs: number;
  /** JSON of what is asked for once it is not taken. */
  readonly again: string;
}

/** An offer that is to be looked at. */
export interface DueOffer extends Omit<NewOffer, 'again'> {
  readonly again: unknown;
  /** State of its assignment; null: that is not kept any more. */
  readonly state: string | null;
  readonly poolId: string;
  readonly recipientId: string;
}

/** An answer: declined, or anything else, after which there is nothing to do. */
export interface AnsweredOffer {
  readonly assignmentId: string;
  readonly isDeclined: boolean;
}

interface DueRow extends Row {
  readonly tenant_id: string;
  readonly assignment_id: string;
  readonly expires_at: number;
  readonly again: unknown;
  readonly state: string | null;
  readonly pool_id: string | null;
  readonly recipient_id: string | null;
}

/** How long one who has taken an offer has for it before another one may. */
const LEASE_US = 30_000_000;

const INSERT = prepared(
  'routing_insert_offers',
  `insert into ductor.routing_offer (tenant_id, assignment_id, expires_at, next_at, again)
    select $1::uuid, n.assignment_id, n.expires_at, n.expires_at, n.again
    from unnest($2::uuid[], $3::bigint[], $4::jsonb[]) as n (assignment_id, expires_at, again)`,
);
const TAKE = prepared(
  'routing_take_due_offers',
  `with due as (select d.tenant_id, d.assignment_id from ductor.routing_offer d
      where d.next_at <= ductor.now_us() order by d.next_at limit $1 for update skip locked),
    taken as (update ductor.routing_offer o set next_at = ductor.now_us() + ${LEASE_US} from due
      where o.tenant_id = due.tenant_id and o.assignment_id = due.assignment_id
      returning o.tenant_id, o.assignment_id, o.expires_at, o.again)
    select t.*, a.state, a.pool_id, a.recipient_id from taken t
    left join ductor.assignment a on a.tenant_id = t.tenant_id and a.assignment_id = t.assignment_id`,
);
const ANSWERED = prepared(
  'routing_answered_offers',
  `update ductor.routing_offer o set next_at = case when n.is_declined then ductor.now_us() end
    from unnest($2::uuid[], $3::boolean[]) as n (assignment_id, is_declined)
    where o.tenant_id = $1::uuid and o.assignment_id = n.assignment_id and o.next_at is not null`,
);
const OVER = prepared(
  'routing_end_offers',
  `update ductor.routing_offer o set next_at = null, rerouted_to = n.decision_id
    from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as n (tenant_id, assignment_id, decision_id)
    where o.tenant_id = n.tenant_id and o.assignment_id = n.assignment_id`,
);

/** Stores the offers of one tenant. */
export async function insertOffers(tx: Queryable, tenantId: string, offers: readonly NewOffer[]): Promise<void> {
  if (offers.length === 0) return;
  await tx.query(INSERT, [
    tenantId,
    uuidArray(offers.map(({ assignmentId }) => assignmentId)),
    integerArray(offers.map(({ expiresUs }) => expiresUs)),
    offers.map(({ again }) => again),
  ]);
}

/** Whether any offer of any tenant is to be looked at: a condition in SQL. */
export const HAS_DUE_OFFERS = 'exists (select 1 from ductor.routing_offer d where d.next_at <= ductor.now_us())';

/** Takes offers of any tenant that are to be looked at: for a while nobody else does. */
export async function takeDueOffers(db: Queryable, limit: number): Promise<readonly DueOffer[]> {
  const { rows } = await db.query<DueRow>(TAKE, [limit]);
  return rows.map((row) => ({
    ...{ tenantId: row.tenant_id, assignmentId: row.assignment_id, expiresUs: row.expires_at, again: row.again },
    ...{ state: row.state, poolId: row.pool_id ?? '', recipientId: row.recipient_id ?? '' },
  }));
}

/** Notes answers, in the transaction that gives them: what is declined goes to the next one at once. */
export async function answerOffers(tx: Queryable, tenantId: string, answered: readonly AnsweredOffer[]): Promise<void> {
  if (answered.length === 0) return;
  const declined = answered.map(({ isDeclined }) => isDeclined);
  await tx.query(ANSWERED, [tenantId, uuidArray(answered.map(({ assignmentId }) => assignmentId)), declined]);
}

/** Notes offers that are over, with the decisions that routed them on; null: none did. */
export async function endOffers(
  db: Queryable,
  ended: readonly (Pick<DueOffer, 'tenantId' | 'assignmentId'> & { readonly decisionId: string | null })[],
): Promise<void> {
  if (ended.length === 0) return;
  await db.query(OVER, [
    uuidArray(ended.map(({ tenantId }) => tenantId)),
    uuidArray(ended.map(({ assignmentId }) => assignmentId)),
    ended.map(({ decisionId }) => decisionId),
  ]);
}
