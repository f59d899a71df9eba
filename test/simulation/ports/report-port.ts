/** How a process passes on how work went, and ends what families have left behind. */
import type { LearnedRow } from '../../../engine/src/routing/outcomes/sql/recipient-facts.js';
import type { MemoryReport } from '../../../engine/src/workflow/testing/memory-seats.js';
import type { Line } from './line.js';

/** See above. Both reject with database_unavailable when nobody knows what happened. */
export interface ReportPort {
  /** @param early what it is decided by, where that is not what is read under the locks: for planted bugs */
  report(report: MemoryReport, early?: LearnedRow): Promise<void>;
  /** The look of each minute. */
  sweep(): Promise<void>;
}

/** The port over a line. */
export function simReportPort(line: Line): ReportPort {
  const { server } = line;
  return {
    report: (report, early) => line.ask('report', () => server.seats.report(report, early)),
    sweep: () => line.ask('look at families', () => server.seats.sweep()),
  };
}
