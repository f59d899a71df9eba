/**
 * The gRPC server of a node: the services of the contract behind the guard, health and reflection in the open.
 *
 *   built -> bound -> draining -> closed
 *
 * The health of the node is SERVING while it is bound, does not drain and owns shards: only then can it start runs.
 *
 * Invariant: every method that is served has an entry in the permission table, or the server is not built.
 */
import type { Socket } from 'node:net';
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { impossible, type Clock, type Random, type Timer } from '../../kernel/index.js';
import { AuditServiceService } from '../../gen/ductor/v1/audit.js';
import { BridgeServiceService } from '../../gen/ductor/v1/bridge.js';
import { EndpointServiceService } from '../../gen/ductor/v1/endpoint.js';
import { RunServiceService } from '../../gen/ductor/v1/run.js';
import { ScheduleServiceService } from '../../gen/ductor/v1/schedule.js';
import { TenancyServiceService } from '../../gen/ductor/v1/tenancy.js';
import { WorkflowServiceService } from '../../gen/ductor/v1/workflow.js';
import { RelayServiceService } from '../../gen/ductor/relay/v1/relay.js';
import type { Bridge, RelayPasses } from '../../bridge/index.js';
import type { Schedules } from '../../schedules/index.js';
import type { Log, Tracing } from '../../telemetry/index.js';
import { PUBLIC, permissionOf, type Tenancy } from '../../tenancy/index.js';
import { beat, work } from './bridge-service.js';
import * as endpoints from './endpoints/endpoint-service.js';
import { reporter, type Report } from './errors/report.js';
import type { GuardOptions } from './guard.js';
import type { GuardedMethod } from './guarded-method.js';
import { NodeGuard } from './node-guard.js';
import { KeyRates } from './key-rates.js';
import { MAX_MESSAGE_BYTES, MESSAGE_MARGIN_BYTES } from './message-size.js';
import type { CapacityParts } from './pools/capacity-service.js';
import { poolMethods } from './pools/methods.js';
import type { PoolServiceParts } from './pools/pool-service.js';
import type { RecipientServiceParts } from './pools/recipient-service.js';
import { routingMethods, type RoutingServiceParts } from './routing/methods.js';
import type { Bus, Coordinator, PlanSource, RunReader, WorkflowCatalog } from './ports.js';
import { awaitRuns } from './runs/await-runs.js';
import { batchRuns, type BatchParts } from './runs/batch-runs.js';
import { listDeadLetters } from './runs/dead-letters.js';
import * as controls from './runs/control-runs.js';
import { explainRun } from './runs/explain-run.js';
import { exportRun } from './runs/export-run.js';
import { forkRun } from './runs/fork-run.js';
import { getRun, getRunHistory, listRuns } from './runs/read-runs.js';
import { queryRun } from './runs/query-run.js';
import { retryRun } from './runs/retry-run.js';
import { signalRun } from './runs/signal-run.js';
import { updateRun } from './runs/update-run.js';
import { signalWithStart } from './runs/signal-with-start.js';
import { RecentStarts } from './runs/recent-starts.js';
import { RunFeed } from './runs/run-feed.js';
import { runLoader } from './runs/run-loader.js';
import { addReflection } from './reflection.js';
import { relay } from './relay-service.js';
import { triggerStreams } from './runs/stream-triggers.js';
import { triggerAndWait, triggerRun, triggerRuns } from './runs/trigger-runs.js';
import { watchRun } from './runs/watch-run.js';
import * as scheduleControls from './schedules/schedule-controls.js';
import * as schedules from './schedules/schedule-service.js';
import { ServiceBuilder } from './service.js';
import { diffWorkflow, promoteWorkflow } from './workflows/compare-service.js';
import { listAuditEvents } from './tenancy/audit-service.js';
import * as tenants from './tenancy/tenancy-service.js';
import * as workflows from './workflows/workflow-service.js';

/** What the server needs. */
export interface GrpcServerOptions {
  readonly tenancy: Tenancy;
  readonly catalog: WorkflowCatalog;
  readonly plans: PlanSource;
  readonly coordinator: Pick<Coordinator, 'start' | 'signal' | 'onChange' | 'ownedShards' | 'nodeId' | 'liveNodes'> &
    controls.RunControls['coordinator'];
  readonly reader: RunReader;
  readonly schedules: Schedules;
  readonly bridge: Pick<Bridge, 'open' | 'beat' | 'workerOf' | 'workersFor'>;
  readonly endpoints: endpoints.EndpointServiceParts['endpoints'];
  readonly pools: PoolServiceParts['pools'];
  readonly board: CapacityParts['board'];
  readonly recipients: RecipientServiceParts['recipients'];
  readonly rules: RoutingServiceParts['rules'];
  readonly bundles: RoutingServiceParts['bundles'];
  readonly router: RoutingServiceParts['router'];
  readonly decisions: RoutingServiceParts['decisions'];
  readonly shadows: RoutingServiceParts['shadows'];
  readonly outcomes: RoutingServiceParts['outcomes'];
  readonly assignments: RoutingServiceParts['assignments'];
  readonly claims: RoutingServiceParts['claims'];
  readonly waiting: RoutingServiceParts['waiting'];
  readonly slaClocks: RoutingServiceParts['slaClocks'];
  readonly setWorkState: RoutingServiceParts['setWorkState'];
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Default: nobody traces. */
  readonly tracing?: Tracing | null;
  /** Calls a second that one key may make at this node; twice as many at once. Default: 5,000. */
  readonly callsPerKey?: number;
  /** Passes of nodes that lend workers to this one. Default: null, none is let in. */
  readonly passes?: RelayPasses | null;
}

/** A gRPC server. It does not listen: the port gives it the connections that speak HTTP/2. */
export interface GrpcServer {
  /** The methods of the contract by their paths, for the doors that bring bytes. */
  readonly methods: ReadonlyMap<string, GuardedMethod>;
  /** What a caller may see of a failure; faults are logged. */
  readonly report: Report;
  /** Takes a connection, plaintext, from its first byte on. */
  accept(socket: Socket): void;
  /** The port is bound: from now on the health is SERVING while the node owns shards. */
  start(): void;
  /** Whether the health is SERVING. */
  isServing(): boolean;
  /** Says NOT_SERVING, so that load balancers stop sending; calls are still answered. Ends streams of triggers. */
  drain(): void;
  /** Ends streams, lets calls finish, closes connections; those that do not end in time are cut. */
  close(): Promise<void>;
}

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES + MESSAGE_MARGIN_BYTES,
  'grpc.max_concurrent_streams': 100,
  // Counters of every call and message, which nobody reads.
  'grpc.enable_channelz': 0,
  // Both ends of a dead connection learn of it within half a minute.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_connection_idle_ms': 5 * 60_000,
};
const CLOSE_MS = 5_000;
const CALLS_PER_KEY = 5_000;
/** How often the node looks whether it owns shards. */
const HEALTH_MS = 200;

function endpointMethods(parts: endpoints.EndpointServiceParts, guard: GuardOptions): ServiceBuilder {
  const E = EndpointServiceService;
  return new ServiceBuilder(guard)
    .unary(E.registerEndpoint, endpoints.registerEndpoint(parts))
    .unary(E.listEndpoints, endpoints.listEndpoints(parts))
    .unary(E.getEndpoint, endpoints.getEndpoint(parts))
    .unary(E.deleteEndpoint, endpoints.deleteEndpoint(parts));
}

function scheduleService(parts: schedules.ScheduleParts, guard: GuardOptions): ServiceBuilder {
  const S = ScheduleServiceService;
  return new ServiceBuilder(guard)
    .unary(S.createSchedule, schedules.createSchedule(parts))
    .unary(S.getSchedule, schedules.getSchedule(parts))
    .unary(S.listSchedules, schedules.listSchedules(parts))
    .unary(S.updateSchedule, schedules.updateSchedule(parts))
    .unary(S.deleteSchedule, schedules.deleteSchedule(parts))
    .unary(S.pauseSchedule, scheduleControls.pauseSchedule(parts))
    .unary(S.resumeSchedule, scheduleControls.resumeSchedule(parts))
    .unary(S.triggerSchedule, scheduleControls.triggerSchedule(parts))
    .unary(S.backfillSchedule, scheduleControls.backfillSchedule(parts))
    .unary(S.listScheduleSlots, scheduleControls.listScheduleSlots(parts));
}

function tenancyMethods(tenancy: Tenancy, guard: GuardOptions): readonly ServiceBuilder[] {
  const T = TenancyServiceService;
  return [
    new ServiceBuilder(guard)
      .unary(T.createTenant, tenants.createTenant(tenancy))
      .unary(T.listTenants, tenants.listTenants(tenancy))
      .unary(T.createApiKey, tenants.createApiKey(tenancy))
      .unary(T.listApiKeys, tenants.listApiKeys(tenancy))
      .unary(T.revokeApiKey, tenants.revokeApiKey(tenancy)),
    new ServiceBuilder(guard).unary(AuditServiceService.listAuditEvents, listAuditEvents(tenancy)),
  ];
}

function workflowMethods(catalog: WorkflowCatalog, guard: GuardOptions): ServiceBuilder {
  const W = WorkflowServiceService;
  return new ServiceBuilder(guard)
    .unary(W.createWorkflow, workflows.createWorkflow(catalog))
    .unary(W.getWorkflow, workflows.getWorkflow(catalog))
    .unary(W.listWorkflows, workflows.listWorkflows(catalog))
    .unary(W.updateWorkflow, workflows.updateWorkflow(catalog))
    .unary(W.validateWorkflow, workflows.validateWorkflow(catalog))
    .unary(W.publishWorkflow, workflows.publishWorkflow(catalog))
    .unary(W.promoteWorkflow, promoteWorkflow(catalog))
    .unary(W.diffWorkflow, diffWorkflow(catalog))
    .unary(W.listWorkflowVersions, workflows.listWorkflowVersions(catalog));
}

/** What workers call, and nodes that lend them. */
function bridgeMethods(options: GrpcServerOptions, guard: GuardOptions): readonly ServiceBuilder[] {
  const { bridge, passes = null } = options;
  const ofWorkers = new ServiceBuilder(guard)
    .bidi(BridgeServiceService.work, work(bridge))
    .unary(BridgeServiceService.beat, beat(bridge));
  if (passes === null) return [ofWorkers];
  const nodes = new NodeGuard(RelayServiceService.relay.path, { ...options, passes, report: guard.report });
  return [ofWorkers, new ServiceBuilder(guard).amongNodes(RelayServiceService.relay, nodes, relay(bridge))];
}

/** The services, and how to end the streams that must not last while the node drains. */
interface Services {
  readonly builders: readonly ServiceBuilder[];
  drain(): void;
}

function buildServices(options: GrpcServerOptions, feed: RunFeed, guard: GuardOptions): Services {
  const { tenancy, catalog, plans, coordinator, reader, clock } = options;
  const { report } = guard;
  const starts = new RecentStarts(() => coordinator.nodeId());
  const load = runLoader(reader, clock);
  const reads = { load, reader, plans };
  const control = { load, plans, coordinator };
  const triggers = {
    coordinator,
    catalog,
    plans,
    load,
    starts,
    report,
    trail: tenancy.trail,
    tracing: options.tracing ?? null,
  };
  const streams = triggerStreams(triggers);
  const signals = { ...control, reader, clock, random: options.random };
  const retries = { load, reader, plans, catalog, coordinator, starts };
  const R = RunServiceService;
  const builders = [
    workflowMethods(catalog, guard),
    controlMethods(new ServiceBuilder(guard), control, { reader, retries })
      .unary(R.triggerRun, triggerRun(triggers))
      .unary(R.triggerAndWait, triggerAndWait({ ...triggers, reader, feed, clock }))
      .unary(R.triggerRuns, triggerRuns(triggers))
      .bidi(R.streamTriggers, streams.handler)
      .unary(R.getRun, getRun(reads))
      .unary(R.listRuns, listRuns(reads))
      .stream(R.watchRun, watchRun({ feed, load, reader, plans }))
      .unary(R.getRunHistory, getRunHistory(reads))
      .stream(R.exportRun, exportRun({ load, reader, plans, catalog }))
      .unary(R.signalRun, signalRun(signals))
      .unary(R.updateRun, updateRun({ ...signals, feed }))
      .unary(R.queryRun, queryRun(signals))
      .unary(R.signalWithStart, signalWithStart({ triggers, signals }))
      .unary(R.forkRun, forkRun({ load, reader, plans, catalog, coordinator, starts }))
      .unary(R.retryRun, retryRun(retries))
      .unary(R.explainRun, explainRun({ load, plans, reader, workers: options.bridge }))
      .bidi(R.awaitRuns, awaitRuns({ feed, starts, clock })),
    ...tenancyMethods(tenancy, guard),
    scheduleService({ schedules: options.schedules, catalog, plans }, guard),
    endpointMethods(options, guard),
    ...poolMethods(options, guard),
    ...routingMethods(options, guard),
    ...bridgeMethods(options, guard),
  ];
  return { builders, drain: () => streams.drain() };
}

/** Methods that people stop runs by, one or many. */
function controlMethods(
  builder: ServiceBuilder,
  control: controls.RunControls,
  { reader, retries }: Pick<BatchParts, 'reader' | 'retries'>,
): ServiceBuilder {
  const R = RunServiceService;
  return builder
    .unary(R.cancelRun, controls.cancelRun(control))
    .unary(R.terminateRun, controls.terminateRun(control))
    .unary(R.pauseRun, controls.pauseRun(control))
    .unary(R.resumeRun, controls.resumeRun(control))
    .unary(R.batchRuns, batchRuns({ reader, retries, coordinator: control.coordinator }))
    .unary(R.listDeadLetters, listDeadLetters({ reader }));
}

/** Adds a service that needs no key: only methods that the table calls public. */
function addPublic(server: Server, service: ServiceDefinition, handlers: UntypedServiceImplementation): void {
  for (const { path } of Object.values(service)) {
    if (permissionOf(path) !== PUBLIC)
      impossible('permission-not-public', `${path} is not public in the permission table`);
  }
  server.addService(service, handlers);
}

function addHealthAndReflection(server: Server): HealthImplementation {
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const open = {
    addService: (service: ServiceDefinition, handlers: UntypedServiceImplementation) =>
      addPublic(server, service, handlers),
  };
  health.addToServer(open);
  addReflection(open);
  return health;
}

/** Keeps the health of the node true while it runs. */
function watchHealth(
  health: HealthImplementation,
  { clock, coordinator }: GrpcServerOptions,
): { start(): void; stop(): void; isServing(): boolean } {
  let timer: Timer | null = null;
  let isServing = false;
  const set = (serving: boolean): void => {
    if (serving !== isServing) health.setStatus('', serving ? 'SERVING' : 'NOT_SERVING');
    isServing = serving;
  };
  const look = (): void => {
    set(coordinator.ownedShards().length > 0);
    timer = clock.setTimer(HEALTH_MS, look);
  };
  return {
    start: look,
    stop() {
      timer?.cancel();
      set(false);
    },
    isServing: () => isServing,
  };
}

function shutDown(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(CLOSE_MS, () => {
      server.forceShutdown();
      resolve();
    });
    server.tryShutdown(() => {
      timer.cancel();
      resolve();
    });
  });
}

/** Builds the server. Throws internal when a method is served that the permission table does not know. */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  const { clock, log, random, tenancy } = options;
  const server = new Server(CHANNEL_OPTIONS);
  const feed = new RunFeed({ ...options, onError: (err) => log.error({ err }, 'cannot look at awaited runs') });
  const rates = new KeyRates(clock, options.callsPerKey ?? CALLS_PER_KEY);
  const guard = { tenancy, clock, rates, report: reporter(log, random) };
  const services = buildServices(options, feed, guard);
  for (const { definition, handlers } of services.builders) server.addService(definition, handlers);
  const watch = watchHealth(addHealthAndReflection(server), options);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    methods: new Map(services.builders.flatMap(({ methods }) => [...methods])),
    report: guard.report,
    accept: (socket) => injector.injectConnection(socket),
    start: () => watch.start(),
    isServing: () => watch.isServing(),
    drain() {
      watch.stop();
      services.drain();
    },
    async close() {
      watch.stop();
      feed.stop();
      await shutDown(server, clock);
    },
  };
}
