/** Whether the journal's partitions are as they should be. Reads only. */
import type { Queryable, Row } from '../../../store/index.js';

/** The partitions. */
export interface PartitionReport {
  /** Whole weeks from now that have their partition, this one counted; 0: this week has none. */
  readonly weeksAhead: number;
  /** Runs of a week without a partition are in the default one. */
  readonly isDefaultUsed: boolean;
}

const LOOKED_AT = 8;

/** Reads the report. */
export async function readPartitionReport(db: Queryable): Promise<PartitionReport> {
  const { rows } = await db.query<Row & { present: boolean; is_default_used: boolean }>(
    `select to_regclass('ductor.run_journal_w' || (ductor.now_us() / 1000 / 604800000 + w)) is not null as present,
      exists (select 1 from ductor.run_journal_default) as is_default_used
    from generate_series(0, ${LOOKED_AT - 1}) w order by w`,
  );
  const missing = rows.findIndex(({ present }) => !present);
  return {
    weeksAhead: missing === -1 ? rows.length : missing,
    isDefaultUsed: rows[0]?.is_default_used ?? false,
  };
}
