/** Tells runs of something that others did, in the transaction in which they did it. */
import { BatchBlob, integerArray, prepared, uuidArray, type Queryable } from '../../store/index.js';
import { shardByte } from './shard-byte.js';
import { INBOX_KIND } from './send-inbox.js';

type Kind = 'claim_told' | 'route_told';

/** A message to a run. */
export interface ToldRun {
  readonly runId: string;
  /** As encodeInput makes it. */
  readonly body: Uint8Array;
}

/** Locks no run: one that ends takes out what it waits for before, under its lock; what comes later is ignored. */
const TELL = prepared(
  'runs_tell',
  `insert into ductor.run_inbox (tenant_id, chain_id, shard, kind, body)
    select $1::uuid, m.run_id, m.shard, $7::smallint, substring($2::bytea from m.o + 1 for m.l)
      from unnest($3::uuid[], $4::smallint[], $5::integer[], $6::integer[]) with ordinality
        as m (run_id, shard, o, l, n)
      where exists (select 1 from ductor.runs r
        where r.tenant_id = $1::uuid and r.run_id = m.run_id and r.closed_at is null)
      order by m.n`,
);

/** Writes messages of a kind to runs that are open, in their order. They are read within about a second. */
export async function tellRuns(tx: Queryable, tenantId: string, kind: Kind, told: readonly ToldRun[]): Promise<void> {
  if (told.length === 0) return;
  const blob = new BatchBlob();
  const slices = told.map(({ body }) => blob.append(body));
  await tx.query(TELL, [
    tenantId,
    blob.toBuffer(),
    uuidArray(told.map(({ runId }) => runId)),
    integerArray(told.map(({ runId }) => shardByte(runId))),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
    INBOX_KIND[kind],
  ]);
}
