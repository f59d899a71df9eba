import { prepared, type Queryable, type Row } from '../../../store/index.js';
import type { Counters } from '../counters.js';
import { toCounters, type CountersRow } from './account-row.js';
import { TODAY } from './today.js';

interface NamedRow extends Row, CountersRow {
  readonly recipient_id: string;
}

const READ = prepared(
  'capacity_read_counters',
  `select recipient_id, committed, held, reset_at,
      case when day = ${TODAY} then daily_committed else 0 end as daily_committed,
      case when day = ${TODAY} then daily_admitted else 0 end as daily_admitted
    from ductor.capacity_authority where tenant_id = $1::uuid and recipient_id = any($2::uuid[])`,
);

/** Counters of recipients, by id; one that the authority does not know is absent. */
export async function readCounters(
  db: Queryable,
  tenantId: string,
  recipientIds: readonly string[],
): Promise<ReadonlyMap<string, Counters>> {
  const { rows } = await db.query<NamedRow>(READ, [tenantId, recipientIds]);
  return new Map(rows.map((row) => [row.recipient_id, toCounters(row)]));
}
