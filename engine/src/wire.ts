/**
 * Builds the rooms of a node and joins them. The only file that may know all of them.
 *
 *   starting (database checked and migrated, door open but refusing) -> serving -> stopping -> stopped
 *   starting -> (something failed) -> stopped: nothing of it is left, and its port is free
 */
import { createDoors, type Doors } from './api/index.js';
import {
  Bridge,
  createEndpoints,
  type Endpoints,
  type EndpointsOptions,
  HttpDesk,
  taskTokens,
} from './bridge/index.js';
import { type ClosableBus, postgresBus, redisBus, withoutVainHints } from './bus/index.js';
import { type Settings, tlsFiles } from './config.js';
import { egressClient, egressGuard, systemResolver } from './egress/index.js';
import { createCelCompiler } from './expressions/index.js';
import { createRouting, createShadowDriver, type Routing, type RoutingOptions } from './routing/index.js';
import {
  type ClusterSecret,
  ENGINE_VERSION,
  type Random,
  type Repeating,
  type SystemClock,
  systemClock,
  systemRandom,
  uuidV7,
} from './kernel/index.js';
import { startHousekeeping } from './housekeeping.js';
import { lateWork } from './late-work.js';
import { learnTime, observedCluster, timeOf } from './observed-cluster.js';
import { observers } from './observers.js';
import { readyDatabase } from './ready-database.js';
import { createRelaying } from './relaying.js';
import { createScheduling, hearingOfShards } from './scheduling.js';
import type { Database } from './store/index.js';
import { type Log, type Metrics, createMetrics, registerBridgeMetrics } from './telemetry/index.js';
import { type Tenancy, createTenancy } from './tenancy/index.js';
import {
  type Coordinator,
  createCoordinator,
  CLAIM_WAITERS,
  QUEUE_WAITERS,
  createWorkflowRegistry,
  isSnapshotReadable,
  maintainRuns,
  postgresClusterStore,
  postgresInboxStore,
  postgresRunReader,
  postgresRunStore,
} from './workflow/index.js';

/** What a node is started with. */
export interface EngineOptions {
  /** Connection string of the database. */
  readonly url: string;
  readonly settings: Settings;
  readonly secret: ClusterSecret;
  readonly log: Log;
}

/** A node that serves. */
export interface RunningEngine {
  /** host:port at which workers and clients reach it. */
  readonly address: string;
  readonly tenancy: Tenancy;
  readonly metrics: Metrics;
  /** Stops taking work, finishes what is under way, gives its shards back. */
  stop(): Promise<void>;
}

/** How long calls to endpoints, and those of HTTP steps, may still take when the node stops. */
const CALLS_DRAIN_MS = 5_000;
/** How long the parts of a node may take to end that could not start: its database may be gone. */
const ABANDON_MS = 5_000;

/**
 * Starts a node. Resolves when it owns its shards and answers.
 * Throws database_unavailable, database_version_unsupported, database_settings_unsafe, address_unavailable,
 * invalid_argument for files that cannot be used.
 */
export async function startEngine(options: EngineOptions): Promise<RunningEngine> {
  const { url, settings, log } = options;
  const db = await readyDatabase({ url, allowUnsafe: settings.DUCTOR_ALLOW_UNSAFE_DATABASE, log });
  const [clock, random] = [systemClock(), systemRandom()];
  const nodeId = uuidV7(clock.nowUs(), random);
  const bus = busOf(options, { clock, db, nodeId });
  try {
    await learnTime(() => timeOf(db), clock);
    return await serve(options, { clock, random, db, nodeId, bus });
  } catch (error) {
    // Or the process would not end.
    await bus.close();
    await db.close();
    throw error;
  }
}

interface Node {
  readonly clock: SystemClock;
  readonly random: Random;
  readonly db: Database;
  readonly nodeId: string;
  readonly bus: ClosableBus;
}

async function serve(options: EngineOptions, node: Node): Promise<RunningEngine> {
  const { settings, secret } = options;
  const { clock, random, db, nodeId, bus } = node;
  const newId = (): string => uuidV7(clock.nowUs(), random);
  const [log, metrics] = [options.log.with({ node: nodeId }), createMetrics()];
  const onError = (err: unknown): void => log.error({ err }, 'a background task failed');
  const tenancy = createTenancy({ db, clock, random, secret, onError });
  const registry = createWorkflowRegistry({ db, clock, cel: createCelCompiler(), newId });
  const register: typeof registry.register = (...definition) => registry.register(...definition);
  const { tracing, hooks, watching } = observers(metrics, log, clock);
  const onLag = (lagMs: number): void => metrics.workerLagSeconds.observe(lagMs / 1000);
  const bridge = new Bridge({ nodeId, clock, tokens: taskTokens(secret, random), register, onLag, ...watching });
  const desk = httpDesk(options, bridge, clock, nodeId);
  registerBridgeMetrics(metrics.registry, () => bridge.stats());
  const { routing, shadows } = routingOf(node, { newId, bus, secret, apps: bridge.strategies }, onError);
  const runs = postgresRunStore({ db, clock, isUsableSnapshot: isSnapshotReadable, selection: routing.selection });
  const [cluster, advertised] = [postgresClusterStore({ db, clock }), { nodeId, address: '' }];
  const coordinator = createCoordinator({
    node: advertised,
    ...{ clock, random, runs, invoker: desk, plans: registry.planSource },
    bus: withoutVainHints(bus, 'runs', () => coordinator.liveAddresses().length > 1),
    inbox: postgresInboxStore(db),
    cluster: observedCluster(cluster, clock),
    ...{ options: coordinatorOptions(settings), hooks: hearingOfShards(hooks, () => driver.kick()) },
  });
  const nodes = (): number => coordinator.liveAddresses().length;
  const endpoints = endpointsOf(options, { db, bridge, clock, newId, secret, register, nodes }, log);
  const reader = postgresRunReader(db, isSnapshotReadable);
  const { schedules, driver } = createScheduling({ ...node, bus, coordinator, registry, reader, onError });
  const { passes, driver: relays } = createRelaying({ ...options, clock, random, bus, log, bridge, coordinator });
  const doors = createDoors({
    ...{ passes, tenancy, catalog: registry, plans: registry.planSource, coordinator, bridge, bus, clock, random, log },
    ...{ reader, schedules, tracing, endpoints, metrics: metrics.registry },
    ...{ ...routing, tls: tlsFiles(settings) },
    ...{ metricsAccess: settings.DUCTOR_METRICS, callsPerKey: settings.DUCTOR_CALLS_PER_KEY },
  });
  const repeated: { stop(): Promise<void> }[] = [driver, shadows];
  const parts = { doors, bridge, endpoints, desk, relays, coordinator, tenancy, repeated, stores: [runs, cluster] };
  try {
    advertised.address = await listen(doors, settings);
    await maintainRuns(db);
    const late = lateWork({ db, clock, log, metrics, routing });
    repeated.push(late, startHousekeeping({ ...node, metrics, log }));
    for (const invoker of [bridge, desk]) invoker.attach(coordinator);
    await coordinator.run();
    for (const part of [endpoints, driver, shadows, late, relays]) await part?.start();
  } catch (error) {
    await abandon(parts, clock, onError);
    throw error;
  }
  return {
    ...{ address: advertised.address, tenancy, metrics },
    async stop() {
      await stopParts(parts);
      await bus.close();
      await db.close();
    },
  };
}

/** Parts of a node that serves, or was about to. */
interface Parts {
  readonly doors: Doors;
  readonly bridge: Bridge;
  readonly endpoints: Endpoints;
  readonly desk: HttpDesk;
  readonly relays: ReturnType<typeof createRelaying>['driver'];
  readonly coordinator: Pick<Coordinator, 'stop'>;
  readonly tenancy: Tenancy;
  /** What looks at something again and again. */
  readonly repeated: readonly { stop(): Promise<void> }[];
  readonly stores: readonly { close(): Promise<void> }[];
}

/** Ends the parts of a node that could not start, or leaves those that take too long. */
async function abandon(parts: Parts, clock: SystemClock, onError: (error: unknown) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    // Cancelled: a timer that is left would keep the process.
    const limit = clock.setTimer(ABANDON_MS, resolve);
    void stopParts(parts)
      .catch(onError)
      .finally(() => limit.cancel())
      .then(resolve);
  });
}

/** Ends them all, whichever have begun; bus and database are still needed for it. */
async function stopParts(parts: Parts): Promise<void> {
  const { doors, bridge, endpoints, desk, relays } = parts;
  doors.drain();
  bridge.drain();
  await Promise.all([endpoints.drain(CALLS_DRAIN_MS), desk.drain(CALLS_DRAIN_MS)]);
  await Promise.all(parts.repeated.map((part) => part.stop()));
  await relays?.stop();
  await parts.coordinator.stop();
  for (const part of [endpoints, desk, bridge, relays]) part?.close();
  await doors.close();
  await parts.tenancy.trail.flush();
  await Promise.all(parts.stores.map((store) => store.close()));
}

/** Routing, with a key of its own for the seeds of random choices. */
function routingOf(
  { db, clock }: Node,
  { secret, ...parts }: Pick<RoutingOptions, 'newId' | 'bus' | 'apps'> & { readonly secret: ClusterSecret },
  onError: (error: unknown) => void,
): { readonly routing: Routing; readonly shadows: Repeating } {
  const [seedKey] = secret.keysFor('ductor/routing-seed/v1');
  const engine = { version: ENGINE_VERSION, tzdb: process.versions.tz ?? '' };
  const routing = createRouting({
    ...parts,
    claimWaiters: CLAIM_WAITERS,
    queueWaiters: QUEUE_WAITERS,
    db,
    clock,
    seedKey,
    engine,
    cel: createCelCompiler(),
  });
  return { routing, shadows: createShadowDriver({ db, clock, seedKey, onError }) };
}

/** Hints over Redis where there is one, else over the database. */
function busOf(options: EngineOptions, { db, clock, nodeId: origin }: Omit<Node, 'random' | 'bus'>): ClosableBus {
  const { settings, secret } = options;
  const log = (line: string, err: unknown): void => options.log.info({ err, node: origin }, line);
  const { REDIS_URL: url } = settings;
  if (url === undefined) return postgresBus({ connect: () => db.connect({ name: 'bus' }), clock, log });
  // Clusters that share a Redis have different secrets; during a rotation, nodes share one of two.
  const channels = secret.keysFor('bus').map((key) => `ductor:${Buffer.from(key).toString('hex').slice(0, 16)}`);
  return redisBus({ url, channels, origin, clock, log });
}

/** Makes the calls of HTTP steps, and has the bridge hand out all other tasks. */
function httpDesk({ settings }: EngineOptions, others: Bridge, clock: SystemClock, nodeId: string): HttpDesk {
  const client = egressClient(egressGuard(settings.DUCTOR_EGRESS_ALLOW, systemResolver()), clock);
  return new HttpDesk({ others, client, clock, nodeId });
}

function endpointsOf({ settings }: EngineOptions, parts: Omit<EndpointsOptions, 'guard' | 'log'>, log: Log): Endpoints {
  const guard = egressGuard(settings.DUCTOR_EGRESS_ALLOW, systemResolver());
  return createEndpoints({ ...parts, guard, log: (line, err) => log.warn({ err }, line) });
}

/** What of a coordinator can be set. */
function coordinatorOptions(settings: Settings): { readonly leaseMs: number; readonly startWaitMs: number } {
  return { leaseMs: settings.DUCTOR_LEASE_MS, startWaitMs: settings.DUCTOR_START_WAIT_MS };
}

/** Binds the doors; returns the address to name to others. */
async function listen(doors: Doors, settings: Settings): Promise<string> {
  // Another engine that names this address is dead once the address could be bound (docs/decisions/0007).
  const port = await doors.bind(settings.DUCTOR_HOST, settings.DUCTOR_PORT);
  return settings.DUCTOR_ADVERTISE_ADDRESS ?? `${reachableHost(settings.DUCTOR_HOST)}:${port}`;
}

/** The host to name to others: the loopback where the engine listens on every address. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
