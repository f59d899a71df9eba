/**
 * The real bridge as the invoker of a simulated engine: its queue, its sessions and its books of who has what. Each
 * stream of a worker carries one session for each tenant.
 */
import { Bridge, taskTokens } from '../../../engine/src/bridge/index.js';
import { uuidV7, type Clock, type Random } from '../../../engine/src/kernel/index.js';
import type { Coordinator, ResultAck } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { AbortOrder, AttemptRef, Task } from '../../../engine/src/workflow/coordinator/ports.js';
import type { AttemptOutcome } from '../../../engine/src/workflow/machine/index.js';
import { httpCaller } from '../../../engine/src/bridge/callback/http-caller.js';
import { EndpointWorker } from '../../../engine/src/bridge/callback/endpoint-worker.js';
import { callbackSigner } from '../../../engine/src/bridge/callback/signer.js';
import { appUrl, type App } from '../cast/app.js';
import type { Connection } from '../cast/connection.js';
import { attemptName } from '../checks/names.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';
import { BridgeLink } from './bridge-link.js';
import type { EngineInvoker } from './engine-invoker.js';
import { SECRET, type TokenBook } from './tokens.js';

/** What it is made of. */
export interface BridgeInvokerOptions {
  readonly sim: Sim;
  /** What is called beside the workers; null: nothing. */
  readonly app: App | null;
  readonly actor: Actor;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly tenants: readonly string[];
  readonly families: readonly string[];
  readonly handlers: readonly string[];
  readonly tokens: TokenBook;
  /** Tasks that may wait. */
  readonly limit: number;
  /** Told of each answer to a result. */
  readonly answered: (ref: AttemptRef, ack: ResultAck) => void;
}

/** One for all: keys come from the secret alone, and to make them takes long. */
const signer = callbackSigner(SECRET);
/** Shorter than many steps allow. */
const CALL_TIMEOUT_MS = 10_000;
const BYTES = 64 * 1024 * 1024;

/** The invoker. */
export class BridgeInvoker implements EngineInvoker {
  readonly actor: Actor;
  readonly #bridge: Bridge;
  #endpoints: readonly EndpointWorker[] = [];
  readonly #links = new Map<Connection, ReadonlyMap<string, BridgeLink>>();
  /** Dispatched and not written to a worker yet. */
  readonly #waiting = new Set<string>();

  constructor(readonly options: BridgeInvokerOptions) {
    const { actor, nodeId, clock, random, limit } = options;
    this.actor = actor;
    const maxTasks = Math.min(limit, 100_000);
    this.#bridge = new Bridge({
      nodeId,
      clock,
      tokens: taskTokens(SECRET, random),
      register: () => Promise.resolve({ version: 1, isNew: false }),
      queueLimits: { maxTasks, maxTasksPerTenant: maxTasks, maxBytes: BYTES },
    });
  }

  get queued(): number {
    return this.#bridge.stats().queuedTasks;
  }

  get streams(): readonly Connection[] {
    return [...this.#links.keys()];
  }

  has(ref: AttemptRef): boolean {
    return this.#waiting.has(attemptName(ref)) && this.queued > 0;
  }

  attach(coordinator: Coordinator): void {
    this.#bridge.attach({
      settle: (ref, outcome, settled) =>
        coordinator.settle(ref, outcome, (ack) => {
          this.options.answered(ref, ack);
          settled(ack);
        }),
      keep: (ref, subStep, settled) => coordinator.keep(ref, subStep, settled),
      sent: (workerId, refs) => coordinator.sent(workerId, refs),
      workerConnected: (workerId, holds) => coordinator.workerConnected(workerId, holds),
      workerGone: (workerId) => coordinator.workerGone(workerId),
      recheck: (runs) => coordinator.recheck(runs),
      liveAddresses: () => coordinator.liveAddresses(),
    });
    this.#call(coordinator);
  }

  /** Each tenant has an endpoint that does all its steps. */
  #call(coordinator: Coordinator): void {
    const { sim, app, actor, clock, random, tenants, families, handlers } = this.options;
    if (app === null) return;
    const taken = (ref: AttemptRef): void => void this.#waiting.delete(attemptName(ref));
    const caller = httpCaller(app.client(actor, taken));
    const workflows = families.map((familySlug) => ({ familySlug, handlers, pinnedVersion: null }));
    const newId = (): string => uuidV7(sim.nowUs, random);
    const nodes = (): number => coordinator.liveAddresses().length;
    const log = (): void => undefined;
    const deps = { bridge: this.#bridge, clock, newId, signer, callerOf: () => caller, nodes, log };
    this.#endpoints = tenants.map((tenantId) => {
      const form = { form: 'http' as const, url: appUrl(tenantId), audience: 'app', timeoutMs: CALL_TIMEOUT_MS };
      const made = { revision: 1, createdAtUs: 0, updatedAtUs: 0 };
      const serves = { queues: ['default'], concurrency: sim.choices.oneOf(1, 4), workflows, strategies: [] };
      const endpoint = { tenantId, endpointId: newId(), name: 'app', ...form, ...made, ...serves };
      return new EndpointWorker(deps, endpoint);
    });
    for (const endpoint of this.#endpoints) endpoint.start();
  }

  drain(): void {
    this.#bridge.drain();
    for (const endpoint of this.#endpoints) void endpoint.drain();
  }

  dispatch(tasks: readonly Task[]): void {
    const isOpen = this.#endpoints.some((endpoint) => endpoint.status().circuit === 'open');
    if (isOpen) this.options.sim.marks.reach('circuit_opened');
    for (const task of tasks) this.#waiting.add(attemptName(task));
    this.#bridge.dispatch(tasks);
  }

  abort(orders: readonly AbortOrder[]): readonly AttemptRef[] {
    return this.#bridge.abort(orders);
  }

  settled(ref: AttemptRef): void {
    this.#bridge.settled(ref);
  }

  dropShards(shards: readonly number[]): void {
    this.#bridge.dropShards(shards);
  }

  inventory(): readonly string[] {
    return this.#bridge.inventory();
  }

  hello(stream: Connection, holds: readonly AttemptRef[]): void {
    const { tenants, families, handlers, tokens } = this.options;
    const links = new Map<string, BridgeLink>();
    this.#links.set(stream, links);
    try {
      for (const tenantId of tenants) {
        const principal = {
          tenantId,
          principalId: 'worker',
          name: 'worker',
          scopes: new Set(['bridge:work'] as const),
        };
        const link = new BridgeLink(
          {
            ...{ tenantId, stream, tokens, families, handlers },
            open: (workStream) => this.#bridge.open(principal, workStream),
            isForged: () => this.options.sim.faults.strikes('token_forged'),
            forged: (isRefused) => this.#forged(isRefused),
            written: (ref) => this.#waiting.delete(attemptName(ref)),
          },
          holds,
        );
        links.set(tenantId, link);
      }
    } catch {
      // The engine is stopping: the stream is refused.
      stream.cut(1_000, 20_000);
    }
  }

  #forged(isRefused: boolean): void {
    if (isRefused) this.options.sim.marks.reach('token_refused');
    else this.options.sim.violate('a result without the token of its attempt was taken');
  }

  inventoryCame(stream: Connection, holds: readonly AttemptRef[]): void {
    for (const link of this.#links.get(stream)?.values() ?? []) link.inventory(holds);
  }

  result(stream: Connection, ref: AttemptRef, outcome: AttemptOutcome): void {
    this.#links.get(stream)?.get(ref.tenantId)?.result(ref, outcome);
  }

  roomAgain(stream: Connection, ref: AttemptRef): void {
    this.#links.get(stream)?.get(ref.tenantId)?.credit();
  }

  closed(stream: Connection): void {
    for (const link of this.#links.get(stream)?.values() ?? []) link.gone();
    this.#links.delete(stream);
  }
}
