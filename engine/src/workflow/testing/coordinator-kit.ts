/** A cluster in one process for tests of the coordinator: one database, one clock, any number of nodes. */
import { manualClock, type ManualClock } from '../../kernel/testing/manual-clock.js';
import { DuctorError, seededRandom, uuidV7, type Random } from '../../kernel/index.js';
import { createCoordinator } from '../coordinator/create-coordinator.js';
import type { Coordinator, ResultAck, RunChange, StartOutcome, StartRequest } from '../coordinator/coordinator.js';
import type { BatchFacts } from '../coordinator/hooks.js';
import type { CoordinatorOptions } from '../coordinator/options.js';
import type { AttemptRef, Bus, BusTopic, PlanSource, TickWrite } from '../coordinator/ports.js';
import { loadRun, payloadShelf } from '../journal/index.js';
import { jsonValue, type AttemptOutcome, type Plan, type RunState } from '../machine/index.js';
import { MemoryDatabase, nameOf } from './memory-database.js';
import { MemoryInvoker, refOf } from './memory-invoker.js';
import { memoryStores, type MemoryStores, type StoreCall, type StoreFault } from './memory-stores.js';

/** Tenant of the runs a kit starts. */
export const TENANT = '018f0000-0000-7000-8000-000000000001';

/** One engine. */
export interface TestNode {
  readonly coordinator: Coordinator;
  readonly invoker: MemoryInvoker;
  readonly stores: MemoryStores;
  readonly batches: BatchFacts[];
  readonly changes: RunChange[];
  readonly logs: {
    readonly level: string;
    readonly message: string;
    readonly facts: Readonly<Record<string, unknown>>;
  }[];
  /** Faults of the next commits, first to come first. */
  readonly commitFaults: (StoreFault | null)[];
  /** Decides about any call; null: nothing goes wrong. */
  fault: ((call: StoreCall) => StoreFault | null) | null;
  /** A promise here holds every call of this node's stores until it resolves. */
  hold: Promise<void> | null;
  fencedCount: number;
}

/** Options of a kit. */
export interface KitOptions {
  readonly seed?: number;
  readonly plans?: readonly Plan[];
  readonly refuses?: (write: TickWrite) => string | null;
}

/** Code of the error a promise is rejected with; 'done' when it is not. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (error) {
    return DuctorError.from(error).code;
  }
}

const ROUNDS = 12;

/** A cluster. */
export class CoordinatorKit {
  readonly clock: ManualClock = manualClock();
  readonly random: Random;
  readonly db: MemoryDatabase;
  readonly plans: readonly Plan[];
  readonly #listeners = new Map<BusTopic, Set<(body: string) => void>>();

  constructor(options: KitOptions = {}) {
    this.random = seededRandom(options.seed ?? 7);
    this.plans = options.plans ?? [];
    const nowUs = (): number => this.clock.nowUs();
    this.db = new MemoryDatabase({ nowUs, ...(options.refuses === undefined ? {} : { refuses: options.refuses }) });
  }

  /** Another engine; run() is called, its start is not waited for. */
  node(options: Partial<CoordinatorOptions> = {}, address = `node-${this.random.uint32()}:7233`): TestNode {
    const invoker = new MemoryInvoker();
    const stores = memoryStores(this.db, { intercept: (call) => this.#intercept(node, call) });
    const batches: BatchFacts[] = [];
    const logs: TestNode['logs'][number][] = [];
    const nodeId = uuidV7(this.clock.nowUs(), this.random);
    const coordinator = createCoordinator({
      node: { nodeId, address },
      clock: this.clock,
      random: this.random,
      ...stores,
      plans: this.#planSource(),
      invoker,
      bus: this.#bus(),
      options,
      hooks: {
        batch: (facts) => batches.push(facts),
        fenced: () => {
          node.fencedCount += 1;
        },
        log: (level, message, facts) => logs.push({ level, message, facts }),
      },
    });
    const changes: RunChange[] = [];
    const node: TestNode = {
      coordinator,
      invoker,
      stores,
      batches,
      changes,
      logs,
      commitFaults: [],
      fault: null,
      hold: null,
      fencedCount: 0,
    };
    coordinator.onChange((change) => changes.push(change));
    void coordinator.run();
    return node;
  }

  /** Lets everything happen that needs no time. */
  async flush(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      this.clock.settle();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Lets so much time pass, in steps. */
  async pass(ms: number, stepMs = 50): Promise<void> {
    await this.flush();
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left));
      await this.flush();
    }
  }

  /** A request to start a run of the first plan. */
  request(change: Partial<StartRequest> = {}): StartRequest {
    const familySlug = this.plans[0]?.familySlug ?? 'test';
    const version = this.plans[0]?.version ?? 1;
    return {
      tenantId: TENANT,
      familySlug,
      version,
      input: jsonValue({ n: 1 }),
      attributes: {},
      startKey: null,
      ...change,
    };
  }

  /** Starts so many runs at once and waits for their commits. */
  async start(node: TestNode, count: number): Promise<readonly StartOutcome[]> {
    const starts = Array.from({ length: count }, () => node.coordinator.start(this.request()));
    await this.flush();
    return Promise.all(starts);
  }

  /** Gives queued tasks to a worker that is connected. */
  take(node: TestNode, workerId: string, limit?: number): readonly AttemptRef[] {
    const refs = node.invoker.take(workerId, limit).map(refOf);
    node.coordinator.sent(workerId, refs);
    return refs;
  }

  /** Hands in results; the acknowledgements come in order. */
  settle(
    node: TestNode,
    refs: readonly AttemptRef[],
    outcome: AttemptOutcome = { kind: 'completed', output: jsonValue('done') },
  ): ResultAck[] {
    const acks: ResultAck[] = [];
    for (const ref of refs) {
      node.invoker.done(ref);
      node.coordinator.settle(ref, outcome, (ack) => acks.push(ack));
    }
    return acks;
  }

  /** State of a run by what is stored. */
  stored(runId: string): RunState | null {
    const [run] = this.db.load([{ tenantId: TENANT, runId }]);
    const payloads = this.db.runs.get(nameOf({ tenantId: TENANT, runId }))?.payloads;
    return run === undefined ? null : loadRun(run, payloadShelf(runId, payloads));
  }

  /** Number of journal rows of a run. */
  rows(runId: string): number {
    return this.db.runs.get(nameOf({ tenantId: TENANT, runId }))?.rows.length ?? 0;
  }

  /** The process of the node dies: its calls stop, its sessions close. */
  kill(node: TestNode): void {
    node.hold = new Promise(() => undefined);
    node.stores.kill();
  }

  async #intercept(node: TestNode, call: StoreCall): Promise<StoreFault | null> {
    if (node.hold !== null) await node.hold;
    if (call.method === 'commit' && node.commitFaults.length > 0) return node.commitFaults.shift() ?? null;
    return node.fault?.(call) ?? null;
  }

  #planSource(): PlanSource {
    const peek: PlanSource['peek'] = (_, familySlug, version) =>
      this.plans.find((plan) => plan.familySlug === familySlug && plan.version === version);
    const current: PlanSource['current'] = (_, familySlug) => {
      const versions = this.plans.flatMap((plan) => (plan.familySlug === familySlug ? [plan.version] : []));
      return Promise.resolve(versions.length === 0 ? undefined : Math.max(...versions));
    };
    return { peek, load: (tenantId, family, version) => Promise.resolve(peek(tenantId, family, version)), current };
  }

  #bus(): Bus {
    return {
      publish: (topic, body) => {
        this.clock.defer(() => {
          for (const listener of this.#listeners.get(topic) ?? []) listener(body);
        });
      },
      subscribe: (topic, listener) => {
        const listeners = this.#listeners.get(topic) ?? new Set();
        this.#listeners.set(topic, listeners.add(listener));
        return () => listeners.delete(listener);
      },
    };
  }
}
