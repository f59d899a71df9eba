/** What the coordinator tells about itself, as metrics and log lines. */
import type { Log, Metrics } from './telemetry/index.js';
import type { CoordinatorHooks } from './workflow/index.js';

/** Fields as every line of the log has them: a run with its tenant, an error where pino looks for it. */
function fieldsOf({ run, error, ...facts }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const [tenant, runId] = typeof run === 'string' && run.includes('/') ? run.split('/') : [undefined, run];
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(runId === undefined ? {} : { run: runId }),
    ...(error === undefined ? {} : { err: error }),
    ...facts,
  };
}

/** Hooks that feed the metrics and the log. */
export function coordinatorHooks(metrics: Metrics, log: Log): CoordinatorHooks {
  return {
    batch: ({ runs, computeMs, commitMs, latencyMs, waiting }) => {
      metrics.batchSize.observe(runs);
      metrics.commitSeconds.observe(commitMs / 1000);
      metrics.tickLatencySeconds.observe(latencyMs / 1000);
      metrics.computeSeconds.observe(computeMs / 1000);
      metrics.dirtyRuns.set(waiting);
    },
    conflicts: (runs) => metrics.conflicts.inc(runs),
    fenced: () => {
      metrics.fencedCommits.inc();
      log.warn({}, 'fenced: another node has taken over; starting anew under another id');
    },
    unknownOutcome: (runs) => {
      metrics.unknownOutcomes.inc();
      log.warn({ runs }, 'the answer of a commit was lost; reading back what became of it');
    },
    parked: (code) => metrics.parkedRuns.inc({ code }),
    startRefused: (why) => metrics.refusedStarts.inc({ why }),
    timerLate: (lateUs) => metrics.timerLatenessSeconds.observe(lateUs / 1e6),
    cache: (bytes, runs) => {
      metrics.cacheBytes.set(bytes);
      metrics.cachedRuns.set(runs);
    },
    shards: (count) => metrics.shards.set(count),
    log: (level, message, facts) => log[level](fieldsOf(facts), message),
  };
}
