/** Tells runs what became of the work that their steps wait for in queues, in the transaction that takes it out. */
import type { LeftQueues, QueueWaiters } from '../../routing/index.js';
import { BatchBlob, integerArray, prepared, uuidArray, type Queryable } from '../../store/index.js';
import { queuedStep } from '../coordinator/queue-waiter.js';
import { toldAnswerOf } from '../coordinator/route-answer.js';
import { encodeInput } from '../coordinator/run-logic.js';
import { shardByte } from './shard-byte.js';
import { INBOX_KIND } from './send-inbox.js';

/** Locks no run: one that ends takes its work out before, under its lock, and what comes after an end is ignored. */
const TELL = prepared(
  'runs_tell_routed',
  `insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body)
    select $1::uuid, m.run_id, m.shard, ${INBOX_KIND.route_told}, substring($2::bytea from m.o + 1 for m.l)
      from unnest($3::uuid[], $4::smallint[], $5::integer[], $6::integer[]) with ordinality
        as m (run_id, shard, o, l, n)
      where exists (select 1 from ductor.runs r
        where r.tenant_id = $1::uuid and r.run_id = m.run_id and r.closed_at is null)
      order by m.n`,
);

/** What the step is told of its work. */
export function toldBody({ waiter, workId, came }: LeftQueues): Uint8Array {
  const { path } = queuedStep(waiter);
  return encodeInput({ kind: 'route_told', path, workId, answer: toldAnswerOf(workId, came) });
}

/** Writes messages to runs; they are read within about a second. */
export const QUEUE_WAITERS: QueueWaiters = {
  async told(tx: Queryable, tenantId: string, left: readonly LeftQueues[]): Promise<void> {
    if (left.length === 0) return;
    const blob = new BatchBlob();
    const slices = left.map((each) => blob.append(toldBody(each)));
    const runIds = left.map(({ waiter }) => queuedStep(waiter).runId);
    await tx.query(TELL, [
      tenantId,
      blob.toBuffer(),
      uuidArray(runIds),
      integerArray(runIds.map(shardByte)),
      integerArray(slices.map(({ offset }) => offset)),
      integerArray(slices.map(({ length }) => length)),
    ]);
  },
};
