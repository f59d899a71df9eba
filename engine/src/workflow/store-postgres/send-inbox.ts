/** Puts messages in the boxes of open runs. */
import { auditInsert } from '../../tenancy/index.js';
import {
  BatchBlob,
  booleanArray,
  type Queryable,
  type Row,
  integerArray,
  prepared,
  uuidArray,
} from '../../store/index.js';
import {
  BOX_BYTES_MAX,
  BOX_MESSAGES_MAX,
  isForRun,
  type InboxMessage,
  type SendOutcome,
} from '../coordinator/ports.js';
import { statusCode } from './run-status-code.js';
import { textArray } from './text-array.js';

/** How kinds are stored. */
export const INBOX_KIND: Readonly<Record<InboxMessage['kind'], number>> = {
  cancel: 1,
  result: 2,
  terminate: 3,
  pause: 4,
  resume: 5,
  retry: 6,
  signal: 40,
  start: 60,
  child_closed: 61,
  sub_step: 80,
  semaphore: 70,
  claim_told: 132,
  route_told: 134,
};

/** Condition; inside coalesce() it stays a look-up in a hash, whatever the estimates say. */
const IS_SENT = 'coalesce(m.n in (select b.n from box b), false)';

/**
 * The run's row is locked for key share: compatible with every write of the run's owner but the removal of the run and
 * the `for update` of an end that has to see every message. Whoever waits for that lock sees afterwards that the run
 * has ended or that its box is sealed. The row of a sealed box is not even locked, so that the end gets its lock.
 * Ids are drawn in the order of the call. A run that was continued stands for the last run of its chain; whoever meets
 * that one at the moment at which it is continued itself sees it as busy.
 */
const send = (further: string): string => `with m as materialized (
  select m.*, r.to_id, case when m.is_for_run then m.run_id else r.chain_id end as chain_id, ductor.now_us() as now_us,
    case when m.kind = ${INBOX_KIND.signal} then (
      select count(*) >= ${BOX_MESSAGES_MAX} or coalesce(sum(octet_length(i.body)), 0) >= ${BOX_BYTES_MAX}
      from ductor.run_inbox i where i.tenant_id = m.tenant_id and i.chain_id = r.chain_id) else false end as is_full
  from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::boolean[], $5::int[], $6::int[])
    with ordinality as m (tenant_id, run_id, kind, is_for_run, start, size, n)
  cross join lateral (
    select coalesce(r.chain_id, r.run_id) as chain_id, case
      when r.status = ${statusCode('CONTINUED')} and not m.is_for_run then (
        select c.run_id from ductor.runs c
        where c.tenant_id = r.tenant_id and c.chain_id = coalesce(r.chain_id, r.run_id)
        order by c.chain_no desc limit 1)
      else r.run_id end as to_id
    from ductor.runs r where r.tenant_id = m.tenant_id and r.run_id = m.run_id offset 0) r
), box as materialized (
  select m.n, m.tenant_id, m.to_id, m.chain_id, r.shard, m.kind, m.start, m.size from m
  cross join lateral (
    select r.shard from ductor.runs r
    where r.tenant_id = m.tenant_id and r.run_id = m.to_id and r.closed_at is null
      and (r.sealed_until is null or r.sealed_until <= m.now_us) and not m.is_full for key share) r
), sent as (
  insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body)
  select b.tenant_id, b.chain_id, b.shard, b.kind, substring($7::bytea from b.start + 1 for b.size)
  from box b order by b.n
)${further}
select m.n::int - 1 as n, not ${IS_SENT} as is_busy, m.is_full from m
where ${IS_SENT} or (
  select true from ductor.runs r where r.tenant_id = m.tenant_id and r.run_id = m.to_id and r.closed_at is null)`;

const SEND = prepared('send_inbox', send(''));

/** The same, with a row in the audit trail for each message that is somebody's deed and found an open run. */
const SEND_DEEDS = prepared(
  'send_inbox_deeds',
  send(`, deed as (
  ${auditInsert(`select gen_random_uuid(), b.tenant_id, d.actor_id, d.actor, d.method, 'run', b.to_id::text, 'ok',
      d.reason
    from box b join unnest($8::int[], $9::uuid[], $10::text[], $11::text[], $12::text[])
      as d (n, actor_id, actor, method, reason) on d.n = b.n`)}
)`),
);

/** The deeds among the messages as array parameters; none: nobody's. */
function deedArrays(messages: readonly Omit<InboxMessage, 'id'>[]): readonly string[] {
  const deeds = messages.flatMap(({ by }, i) => (by === null || by === undefined ? [] : [{ ...by, n: i + 1 }]));
  if (deeds.length === 0) return [];
  return [
    integerArray(deeds.map(({ n }) => n)),
    uuidArray(deeds.map(({ actorId }) => actorId)),
    textArray(deeds.map(({ actor }) => actor)),
    textArray(deeds.map(({ method }) => method)),
    textArray(deeds.map(({ reason }) => reason)),
  ];
}

function answerOf(row: { readonly is_busy: boolean; readonly is_full: boolean }): SendOutcome {
  if (row.is_full) return 'full';
  return row.is_busy ? 'busy' : 'sent';
}

/** See InboxStore.send. */
export async function sendInbox(
  db: Queryable,
  messages: readonly Omit<InboxMessage, 'id'>[],
): Promise<readonly SendOutcome[]> {
  if (messages.length === 0) return [];
  const blob = new BatchBlob();
  const slices = messages.map((message) => blob.append(message.body));
  const deeds = deedArrays(messages);
  const { rows } = await db.query<Row & { n: number; is_busy: boolean; is_full: boolean }>(
    deeds.length === 0 ? SEND : SEND_DEEDS,
    [
      uuidArray(messages.map((message) => message.tenantId)),
      uuidArray(messages.map((message) => message.runId)),
      integerArray(messages.map((message) => INBOX_KIND[message.kind])),
      booleanArray(messages.map((message) => isForRun(message.kind))),
      integerArray(slices.map((slice) => slice.offset)),
      integerArray(slices.map((slice) => slice.length)),
      blob.toBuffer(),
      ...deeds,
    ],
  );
  const answers = new Map(rows.map((row) => [row.n, answerOf(row)]));
  return messages.map((_, n) => answers.get(n) ?? 'not_open');
}
