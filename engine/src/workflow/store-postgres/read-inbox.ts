/** Reads the boxes of shards. */
import { impossible } from '../../kernel/index.js';
import { type Queryable, type Row, integerArray, prepared } from '../../store/index.js';
import { isForRun, type InboxMessage, type MessageKind } from '../coordinator/ports.js';
import { INBOX_KIND } from './send-inbox.js';

/** Bodies read at once, bytes; at least one message is read whatever its size. */
const MAX_BYTES = 16 * 1024 * 1024;

const NAMES: readonly MessageKind[] = [
  ...([
    'cancel',
    'result',
    'terminate',
    'pause',
    'resume',
    'retry',
    'signal',
    'start',
    'child_closed',
    'sub_step',
  ] as const),
  'semaphore',
  'claim_told',
  'route_told',
];
const KINDS = new Map(NAMES.map((name) => [INBOX_KIND[name], name]));
/** Kinds that name a run; any other names a chain, and goes to its last run. */
const FOR_RUN = NAMES.filter(isForRun).map((name) => INBOX_KIND[name]);

/**
 * Without a cursor: ids are drawn before their transactions commit, so a lower id may appear after a higher one was
 * read. Consumed rows are deleted, which keeps what is read short.
 */
const READ = prepared(
  'read_inbox',
  `select m.id, m.tenant_id, m.kind, m.body, coalesce(case when m.kind not in (${FOR_RUN.join(', ')}) then (
      select r.run_id from ductor.runs r where r.tenant_id = m.tenant_id and r.chain_id = m.chain_id
      order by r.chain_no desc limit 1) end, m.chain_id) as run_id
  from (
    select i.*, sum(octet_length(i.body)) over (order by i.id) - octet_length(i.body) as before
    from unnest($1::smallint[]) as s (shard)
    cross join lateral (
      select * from ductor.run_inbox i where i.shard = s.shard order by i.id limit $2) i
    order by i.id limit $2) m
  where m.before < ${MAX_BYTES} order by m.id`,
);

/** See InboxStore.read. At most 16 MiB of bodies. Throws internal for a kind this engine does not know. */
export async function readInbox(
  db: Queryable,
  shards: readonly number[],
  limit: number,
): Promise<readonly InboxMessage[]> {
  const { rows } = await db.query<Row & { id: number; tenant_id: string; run_id: string; kind: number; body: Buffer }>(
    READ,
    [integerArray(shards), limit],
  );
  return rows.map((row) => ({
    id: row.id,
    tenantId: row.tenant_id,
    runId: row.run_id,
    kind: KINDS.get(row.kind) ?? impossible('inbox-kind', `no message kind has the code ${row.kind}`),
    body: row.body,
  }));
}
