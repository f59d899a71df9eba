import { describe, expect, it } from 'vitest';
import { afterReport, type Report } from './after-report.js';
import type { LearnedRow } from './sql/recipient-facts.js';

const NOTHING: LearnedRow = {
  ...{ latency_us: null, latency_at: null, success_milli: null, failure_milli: null, rated_at: null, responses: null },
  ...{
    failures_in_a_row: 0,
    episode: 0,
    ejected_until: null,
    cooldown_until: null,
    limit_episode: 0,
    probe_until: null,
  },
};
const NOW = { nowUs: 1_000_000_000, ejected: 0, total: 4 };
const report = (fields: Partial<Report> = {}): Report => ({
  ...{ recipientId: 'a', isSuccess: true, latencyMs: null, resetAtUs: null },
  ...fields,
});

describe('afterReport', () => {
  it('counts successes, response times and latency', () => {
    const row = afterReport(NOTHING, report({ latencyMs: 300 }), NOW, {}).row;
    expect(row).toMatchObject({ latency_us: 300_000, success_milli: 1000, failure_milli: 0, failures_in_a_row: 0 });
    expect(row.responses?.[8]).toBe(1);
  });

  it('ejects after so many failures in a row, and not when too many are out', () => {
    const failing = report({ isSuccess: false });
    const fail = (row: LearnedRow, ejected: number): LearnedRow =>
      afterReport(row, failing, { ...NOW, ejected }, { consecutive: 2 }).row;
    const once = fail(NOTHING, 0);
    expect([once.failures_in_a_row, once.ejected_until]).toEqual([1, null]);
    expect(fail(once, 0).ejected_until).toBeGreaterThanOrEqual(NOW.nowUs + 30_000_000);
    expect(fail(once, 2).ejected_until).toBeNull();
    expect(afterReport(once, report(), NOW, {}).row.failures_in_a_row).toBe(0);
  });

  it('takes a rate limit for a pause with an end, never shortened, and not for a failure in a row', () => {
    const limited = afterReport(NOTHING, report({ isSuccess: false, resetAtUs: 2_000_000_000 }), NOW, {}).row;
    expect([limited.cooldown_until, limited.failures_in_a_row]).toEqual([2_000_000_000, 0]);
    const sooner = afterReport(limited, report({ isSuccess: false, resetAtUs: 1_500_000_000 }), NOW, {}).row;
    expect(sooner.cooldown_until).toBe(2_000_000_000);
  });
});
