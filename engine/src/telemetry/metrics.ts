/** Metrics of the engine, as prom-client keeps them. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Everything the engine counts. No label ever carries a tenant, run or other unbounded value. */
export interface Metrics {
  readonly registry: Registry;
  /** Counters and gauges by name, without the prefix ductor_ and the suffix _total. */
  values(): Promise<Readonly<Record<string, number>>>;
  /** Runs in each commit. */
  readonly batchSize: Histogram;
  /** Time of each commit, seconds. */
  readonly commitSeconds: Histogram;
  /** From when the run that waited longest had something to do to the end of its commit, seconds, per commit. */
  readonly tickLatencySeconds: Histogram;
  /** Time the machine and encoding took for each commit's runs together, seconds. */
  readonly computeSeconds: Histogram;
  /** How late timers fired, seconds. */
  readonly timerLatenessSeconds: Histogram;
  /** Commits that were refused because this node had been fenced. */
  readonly fencedCommits: Counter;
  /** Runs that another writer had moved on meanwhile. */
  readonly conflicts: Counter;
  /** Commits whose answer was lost. */
  readonly unknownOutcomes: Counter;
  /** Runs with inputs that wait for the next commit. */
  readonly dirtyRuns: Gauge;
  /** Bytes of loaded runs, estimated. */
  readonly cacheBytes: Gauge;
  /** Loaded runs. */
  readonly cachedRuns: Gauge;
  /** Shards this node owns. */
  readonly shards: Gauge;
  /** Runs that were parked by the coordinator, by code. */
  readonly parkedRuns: Counter<'code'>;
  /** Starts that were refused at the door, by why: the node is full, the tenant has its share, the line stands. */
  readonly refusedStarts: Counter<'why'>;
  /** What became of clauses of SLAs: warned of, breached, routed again. */
  readonly slaEvents: Counter<'clause' | 'kind'>;
  /** What became of offers that nobody took: their time ran out, they were routed on or given up. */
  readonly offerEvents: Counter<'kind'>;
  /** For how long event loops of workers are blocked, told each second while they are, seconds. */
  readonly workerLagSeconds: Histogram;
  /** Runs that were removed after their retention. */
  readonly removedRuns: Counter;
  /** Partitions that were dropped with all their runs. */
  readonly droppedPartitions: Counter;
  /** Reservations and accounts that are not as they must be, at the last look. */
  readonly capacityDefects: Gauge;
  /** Time of each step that removed something, seconds. */
  readonly removalSeconds: Histogram;
}

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
const LAGS = [0.5, 1, 2, 5, 10, 20, 50, 100];
const RUNS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/** A fresh set of metrics with a registry of its own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const histogram = (name: string, help: string, buckets: number[]): Histogram =>
    new Histogram({ name, help, buckets, registers });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const values = async (): Promise<Record<string, number>> => {
    const all = await registry.getMetricsAsJSON();
    const simple = all.filter(({ type }) => String(type) !== 'histogram');
    return Object.fromEntries(
      simple.map(({ name, values: samples }) => [
        name.replace(/^ductor_/, '').replace(/_total$/, ''),
        samples.reduce((sum, { value }) => sum + value, 0),
      ]),
    );
  };
  return {
    registry,
    values,
    batchSize: histogram('ductor_commit_runs', 'Runs in a commit', RUNS),
    commitSeconds: histogram('ductor_commit_seconds', 'Time of a commit', SECONDS),
    computeSeconds: histogram('ductor_compute_seconds', 'Time of machine and encoding for one commit', SECONDS),
    tickLatencySeconds: histogram('ductor_tick_latency_seconds', 'Longest wait of a run for its commit', SECONDS),
    timerLatenessSeconds: histogram('ductor_timer_lateness_seconds', 'How late timers fired', SECONDS),
    fencedCommits: counter('ductor_fenced_commits_total', 'Commits refused because the node was fenced'),
    conflicts: counter('ductor_commit_conflicts_total', 'Runs moved on by another writer'),
    unknownOutcomes: counter('ductor_commit_unknown_total', 'Commits whose answer was lost'),
    dirtyRuns: gauge('ductor_dirty_runs', 'Runs that wait for the next commit'),
    cacheBytes: gauge('ductor_cache_bytes', 'Bytes of loaded runs, estimated'),
    cachedRuns: gauge('ductor_cached_runs', 'Loaded runs'),
    shards: gauge('ductor_shards', 'Shards this node owns'),
    removedRuns: counter('ductor_removed_runs_total', 'Runs removed after their retention'),
    droppedPartitions: counter('ductor_dropped_partitions_total', 'Partitions dropped with all their runs'),
    capacityDefects: gauge('ductor_capacity_defects', 'Reservations and accounts that must not be so'),
    removalSeconds: histogram('ductor_removal_seconds', 'Time of a step that removes runs', SECONDS),
    workerLagSeconds: histogram('ductor_worker_lag_seconds', 'Blocked event loops of workers', LAGS),
    parkedRuns: new Counter({ name: 'ductor_parked_runs_total', help: 'Runs parked', labelNames: ['code'], registers }),
    refusedStarts: new Counter({
      ...{ name: 'ductor_refused_starts_total', help: 'Starts refused at the door' },
      ...{ labelNames: ['why'], registers },
    }),
    slaEvents: new Counter({
      ...{ name: 'ductor_sla_events_total', help: 'Clauses of SLAs that were warned of, breached, routed again' },
      ...{ labelNames: ['clause', 'kind'], registers },
    }),
    offerEvents: new Counter({
      ...{ name: 'ductor_offer_events_total', help: 'Offers that timed out, were routed on or given up' },
      ...{ labelNames: ['kind'], registers },
    }),
  };
}
