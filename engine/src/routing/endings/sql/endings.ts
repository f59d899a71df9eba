import { integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';

/** A chain of runs whose assignments may have to end. */
export interface Ending {
  readonly tenantId: string;
  /** Its first run. */
  readonly chainId: string;
}

/** One that is taken: for a while nobody else looks at it. */
export interface TakenEnding extends Ending {
  /** Until then, us; what is noted meanwhile changes it. */
  readonly untilUs: number;
}

/** How long one who has taken an ending has for it before another one may. */
const LEASE_US = 30_000_000;
/** Assignments that one look reads at most. */
export const ENDING_PAGE = 200;

const NOTE_COLUMNS = 'insert into ductor.assignment_ending as e (tenant_id, chain_id, next_at)';
const ONCE_MORE = 'on conflict (tenant_id, chain_id) do update set next_at = excluded.next_at';
const NOTE = prepared(
  'routing_note_endings',
  `${NOTE_COLUMNS}
    select distinct t.tenant_id, t.chain_id, ductor.now_us()
      from unnest($1::uuid[], $2::uuid[]) as t (tenant_id, chain_id) order by t.tenant_id, t.chain_id
    ${ONCE_MORE}`,
);
const NOTE_OWNERS = prepared(
  'routing_note_owners',
  `${NOTE_COLUMNS}
    select distinct t.tenant_id, t.chain_id, ductor.now_us()
      from unnest($1::uuid[], $2::uuid[]) as t (tenant_id, chain_id)
      where exists (select 1 from ductor.assignment a
          where a.tenant_id = t.tenant_id and a.ends_with = t.chain_id and a.state in ('offered', 'active'))
        or exists (select 1 from ductor.claim_item i
          where i.tenant_id = t.tenant_id and i.ends_with = t.chain_id and i.state = 'open')
        or exists (select 1 from ductor.waiting_work w
          where w.tenant_id = t.tenant_id and w.ends_with = t.chain_id and w.state = 'waiting')
      order by t.tenant_id, t.chain_id
    ${ONCE_MORE}`,
);
const TAKE = prepared(
  'routing_take_endings',
  `with due as (select d.tenant_id, d.chain_id from ductor.assignment_ending d
      where d.next_at <= ductor.now_us() order by d.next_at limit $1 for update skip locked)
    update ductor.assignment_ending e set next_at = ductor.now_us() + ${LEASE_US} from due
      where e.tenant_id = due.tenant_id and e.chain_id = due.chain_id
      returning e.tenant_id, e.chain_id, e.next_at`,
);
const FORGET = prepared(
  'routing_forget_endings',
  `delete from ductor.assignment_ending e
    using unnest($1::uuid[], $2::uuid[], $3::bigint[]) as t (tenant_id, chain_id, at)
    where e.tenant_id = t.tenant_id and e.chain_id = t.chain_id and e.next_at = t.at`,
);
const READ = prepared(
  'routing_read_ending',
  `select a.assignment_id from ductor.assignment a
    where a.tenant_id = $1::uuid and a.ends_with = any($2::uuid[]) and a.state in ('offered', 'active')
    order by a.assignment_id limit ${ENDING_PAGE}`,
);

const keys = (endings: readonly Ending[]): readonly [string, string] => [
  uuidArray(endings.map(({ tenantId }) => tenantId)),
  uuidArray(endings.map(({ chainId }) => chainId)),
];

/** Has chains looked at soon: work of theirs goes on, and they may have ended. */
export async function noteEndings(tx: Queryable, endings: readonly Ending[]): Promise<void> {
  if (endings.length > 0) await tx.query(NOTE, keys(endings));
}

/** The same for chains that end in this transaction, as far as something that ends with them is still open. */
export async function noteOwnersEnd(tx: Queryable, endings: readonly Ending[]): Promise<void> {
  if (endings.length > 0) await tx.query(NOTE_OWNERS, keys(endings));
}

/** Whether any chain of any tenant is to be looked at: a condition in SQL. */
export const HAS_DUE_ENDINGS = 'exists (select 1 from ductor.assignment_ending d where d.next_at <= ductor.now_us())';

/** Takes chains of any tenant that are to be looked at. */
export async function takeEndings(db: Queryable, limit: number): Promise<readonly TakenEnding[]> {
  const { rows } = await db.query<Row & { tenant_id: string; chain_id: string; next_at: number }>(TAKE, [limit]);
  return rows.map((row) => ({ tenantId: row.tenant_id, chainId: row.chain_id, untilUs: row.next_at }));
}

/** Forgets chains that were looked at, but for those that were noted anew meanwhile. */
export async function forgetEndings(db: Queryable, taken: readonly TakenEnding[]): Promise<void> {
  if (taken.length > 0) await db.query(FORGET, [...keys(taken), integerArray(taken.map(({ untilUs }) => untilUs))]);
}

/** Ids of open assignments that end with these chains, at most ENDING_PAGE. */
export async function readEnding(
  db: Queryable,
  tenantId: string,
  chainIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await db.query<Row & { assignment_id: string }>(READ, [tenantId, uuidArray(chainIds)]);
  return rows.map((row) => row.assignment_id);
}
