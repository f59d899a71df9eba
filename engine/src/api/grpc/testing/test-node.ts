/** A whole node on a real database, for tests of the door: every room is the real one, the bus is in memory. */
import { type ClusterSecret, clusterSecret, type Repeating, systemClock } from '../../../kernel/index.js';
import { systemRandom, uuidV7 } from '../../../kernel/index.js';
import { memoryBus, type Bus } from '../../../bus/index.js';
import { Bridge, createEndpoints, relayPasses, type RelayPasses, taskTokens } from '../../../bridge/index.js';
import { egressGuard, type EgressPolicy, systemResolver } from '../../../egress/index.js';
import { createCelCompiler } from '../../../expressions/index.js';
import { createRouting, createShadowDriver, type Routing, type RoutingOptions } from '../../../routing/index.js';
import type { Database } from '../../../store/index.js';
import { createLog, createMetrics, type Log } from '../../../telemetry/index.js';
import { createTenancy, SCOPES, type Scope, type Tenancy } from '../../../tenancy/index.js';
import {
  createCoordinator,
  CLAIM_WAITERS,
  QUEUE_WAITERS,
  createWorkflowRegistry,
  maintainRuns,
  postgresClusterStore,
  postgresInboxStore,
  postgresRunReader,
  postgresRunStore,
  type WorkflowRegistry,
} from '../../../workflow/index.js';
import type { HttpLimits } from '../../http/limits.js';
import type { Coordinator } from '../ports.js';
import { lateWork } from '../../../late-work.js';
import { learnTime, observedCluster, timeOf } from '../../../observed-cluster.js';
import { createScheduling } from '../../../scheduling.js';
import { createDoors, type Doors } from '../../doors.js';

/** A running node. */
export interface TestNode {
  readonly tenancy: Tenancy;
  readonly registry: WorkflowRegistry;
  readonly coordinator: Coordinator;
  readonly bridge: Bridge;
  /** As every node of the cluster makes them. */
  readonly passes: RelayPasses;
  readonly server: Doors;
  /** host:port. */
  readonly address: string;
  /** Lines of its log. */
  readonly logged: string[];
  /** A tenant of its own with a key. */
  tenant(slug: string, scopes?: readonly Scope[]): Promise<{ readonly tenantId: string; readonly apiKey: string }>;
  stop(): Promise<void>;
}

/** What nodes of a test may share. */
export interface TestNodeOptions {
  /** Default: one of its own, so that it hears of other nodes by the database alone. */
  readonly bus?: Bus;
  /** Default: one of tests. */
  readonly secret?: string;
  /** Those of HTTP that differ from the defaults. */
  readonly limits?: Partial<HttpLimits>;
  /** Default: as many as a test can make. */
  readonly callsPerKey?: number;
  /** What it may call. Default: what is public. */
  readonly egress?: EgressPolicy;
}

function recordedLog(): { readonly log: Log; readonly logged: string[] } {
  const logged: string[] = [];
  return { log: createLog({ write: (line) => void logged.push(line) }), logged };
}

function routingOf(
  parts: Pick<RoutingOptions, 'clock' | 'bus' | 'newId' | 'apps'> & { readonly db: Database },
  secret: ClusterSecret,
  onError: (error: unknown) => void,
): { readonly routing: Routing; readonly shadows: Repeating } {
  const [seedKey] = secret.keysFor('ductor/routing-seed/v1');
  const engine = { version: 'test', tzdb: '' };
  const routing = createRouting({
    ...parts,
    claimWaiters: CLAIM_WAITERS,
    queueWaiters: QUEUE_WAITERS,
    seedKey,
    cel: createCelCompiler(),
    engine,
  });
  return { routing, shadows: createShadowDriver({ ...parts, seedKey, onError }) };
}

/** Starts a node on the database. */
export async function startTestNode(db: Database, options: TestNodeOptions = {}): Promise<TestNode> {
  const [clock, random] = [systemClock(), systemRandom()];
  const secret = clusterSecret(options.secret ?? 'a secret for tests, 32 bytes long');
  const [{ log, logged }, metrics] = [recordedLog(), createMetrics()];
  const newId = (): string => uuidV7(clock.nowUs(), random);
  const [nodeId, bus, passes] = [newId(), options.bus ?? memoryBus(clock), relayPasses(secret, random)];
  const cluster = postgresClusterStore({ db, clock });
  await learnTime(() => timeOf(db), clock);
  const tenancy = createTenancy({ db, clock, random, secret });
  const registry = createWorkflowRegistry({ db, clock, cel: createCelCompiler(), newId });
  const bridge = new Bridge({ nodeId, clock, tokens: taskTokens(secret, random), register: registry.register });
  const onError = (err: unknown): void => log.error({ err }, 'a turn in the background failed');
  const { routing, shadows } = routingOf({ db, clock, bus, newId, apps: bridge.strategies }, secret, onError);
  const runs = postgresRunStore({ db, clock, selection: routing.selection });
  const shared = { clock, random, bus, plans: registry.planSource };
  const stores = { runs, cluster: observedCluster(cluster, clock), inbox: postgresInboxStore(db) };
  const coordinator = createCoordinator({
    ...{ ...shared, ...stores, invoker: bridge, node: { nodeId, address: '127.0.0.1:1' } },
  });
  bridge.attach(coordinator);
  const endpoints = createEndpoints({
    ...{ db, bridge, clock, newId, secret, register: registry.register },
    guard: egressGuard(options.egress ?? { allowed: [], ports: new Set([443]) }, systemResolver()),
    nodes: () => coordinator.liveAddresses().length,
    log: (line, error) => log.error({ err: error }, line),
  });
  const reader = postgresRunReader(db);
  const { schedules, driver } = createScheduling({ db, clock, random, bus, coordinator, registry, reader, onError });
  const late = lateWork({ db, clock, log, metrics, routing });
  const server = createDoors({
    ...{ ...shared, passes },
    ...{ tenancy, coordinator, bridge, endpoints, log, catalog: registry, reader, schedules },
    ...routing,
    ...{ metrics: metrics.registry, metricsAccess: 'loopback', limits: options.limits ?? {} },
    callsPerKey: options.callsPerKey ?? 1_000_000,
  });
  await maintainRuns(db);
  const port = await server.bind('127.0.0.1', 0);
  await coordinator.run();
  for (const part of [endpoints, driver, shadows, late]) await part.start();
  return {
    ...{ tenancy, registry, coordinator, bridge, passes, server, logged, address: `127.0.0.1:${port}` },
    async tenant(slug, scopes = SCOPES) {
      const tenantId = await tenancy.ensureTenant(slug);
      const { apiKey } = await tenancy.createKey({ tenantId, name: slug, scopes });
      return { tenantId, apiKey };
    },
    async stop() {
      bridge.drain();
      server.drain();
      await endpoints.drain(1_000);
      await Promise.all([driver, shadows, late].map((part) => part.stop()));
      await coordinator.stop();
      for (const part of [endpoints, bridge]) part.close();
      await server.close();
      await tenancy.trail.flush();
      await Promise.all([runs.close(), cluster.close()]);
    },
  };
}
