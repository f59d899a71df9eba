/**
 * The coordinator of a node: what api and bridge call, over one incarnation after another.
 *
 *   new -> running (an incarnation joins or serves) -> stopping -> stopped
 * Invariants:
 * 1. At most one incarnation serves at a time; a fenced one is followed by a new one with a new node id.
 * 2. The ledger of attempts and the sender of mail outlive incarnations: workers stay connected over a fence.
 */
import { DuctorError, isUuid, shardOf, uuidV7, type Clock, type Problem, type Random } from '../../kernel/index.js';
import type { Deed } from '../../tenancy/index.js';
import type { AttemptOutcome } from '../machine/inputs.js';
import type { Plan } from '../machine/plan.js';
import type { Signal } from '../machine/signal-box.js';
import type { SubStep } from '../machine/state.js';
import type { Value } from '../machine/value.js';
import type { InboxInput } from '../journal/index.js';
import { AttemptLedger, type LedgerAttempt } from './attempt-ledger.js';
import type { Coordinator, ResultAck, RunChange, StartOutcome, StartRequest } from './coordinator.js';
import { Heartbeats } from './heartbeats.js';
import { SILENT_HOOKS, type CoordinatorHooks } from './hooks.js';
import { Incarnation } from './incarnation.js';
import { MailSender } from './mail-sender.js';
import { DEFAULT_COORDINATOR_OPTIONS, type CoordinatorOptions } from './options.js';
import type {
  AttemptRef,
  Bus,
  ClusterNode,
  ClusterStore,
  InboxStore,
  Invoker,
  PlanSource,
  RunKey,
  RunStore,
} from './ports.js';
import { encodeInput, stepAt } from './run-logic.js';
import { keyOf, type PendingInput } from './run-cell.js';
import type { Surroundings } from './world.js';

/** What a coordinator is made of. */
export interface CoordinatorParts {
  /** nodeId: a UUID no other process has or had; later incarnations draw their own. */
  readonly node: { readonly nodeId: string; readonly address: string };
  readonly clock: Clock;
  readonly random: Random;
  readonly runs: RunStore;
  readonly inbox: InboxStore;
  readonly cluster: ClusterStore;
  readonly plans: PlanSource;
  readonly invoker: Invoker;
  readonly bus: Bus;
  readonly options?: Partial<CoordinatorOptions>;
  readonly hooks?: Partial<CoordinatorHooks>;
}

/** Makes the coordinator of a node; run() brings it to life. */
export function createCoordinator(parts: CoordinatorParts): Coordinator {
  return new NodeCoordinator(parts);
}

function starting(message: string): DuctorError {
  return new DuctorError('node_starting', message, { retryAfterMs: 200 });
}

class NodeCoordinator implements Coordinator {
  readonly #parts: CoordinatorParts;
  readonly #surroundings: Surroundings;
  readonly #ledger: AttemptLedger;
  readonly #heartbeats: Heartbeats;
  readonly #mail: MailSender;
  readonly #listeners = new Set<(change: RunChange) => void>();
  readonly #hooks: CoordinatorHooks;
  #incarnation: Incarnation | null = null;
  #state: 'new' | 'running' | 'stopping' | 'stopped' = 'new';
  #unsubscribe: readonly (() => void)[] = [];

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
    const options = { ...DEFAULT_COORDINATOR_OPTIONS, ...parts.options };
    const hooks = { ...SILENT_HOOKS, ...parts.hooks };
    this.#hooks = hooks;
    const { clock, inbox } = parts;
    this.#mail = new MailSender({ clock, inbox, hooks, hint: (shards) => this.#mailed(shards) });
    this.#ledger = new AttemptLedger(clock, options, {
      note: (attempts) => this.#note(attempts),
      recheck: (run) => this.#incarnation?.recheck(run),
      lost: (ref) => this.#ended(ref, 'lost'),
    });
    this.#heartbeats = new Heartbeats(clock, (ref) => this.#ended(ref, 'silent'));
    this.#surroundings = {
      ...parts,
      options,
      hooks,
      ledger: this.#ledger,
      heartbeats: this.#heartbeats,
      tell: (changes) => this.#tell(changes),
      forward: (run, pending) => this.#forward(run, pending),
      mailed: (shards) => this.#mailed(shards),
      isStopping: () => this.#state !== 'running',
    };
  }

  async run(): Promise<void> {
    if (this.#state !== 'new') throw new DuctorError('internal', `run() of a coordinator that is ${this.#state}`);
    this.#state = 'running';
    const { bus } = this.#parts;
    this.#unsubscribe = [
      bus.subscribe('inbox', (body) => this.#incarnation?.mail(Number(body))),
      bus.subscribe('cluster', () => this.#incarnation?.clusterChanged()),
    ];
    await this.#live(this.#parts.node.nodeId);
  }

  start(request: StartRequest): Promise<StartOutcome> {
    const { plans } = this.#parts;
    const plan = plans.peek(request.tenantId, request.familySlug, request.version);
    // With the plan at hand it is queued in this very call: a stop() that follows still lets it finish.
    return plan === undefined ? this.#loadAndStart(request) : this.#startWith(request, plan);
  }

  settle(ref: AttemptRef, outcome: AttemptOutcome, settled: (ack: ResultAck) => void): void {
    if (this.#state === 'stopped' || this.#state === 'stopping') return;
    this.#ledger.answered(ref);
    const input = { kind: 'result', path: ref.path, attempt: ref.attempt, outcome } as const;
    this.#deliver(ref, { input, inboxId: null, settled });
  }

  keep(ref: AttemptRef, { name, output }: SubStep, settled: (ack: ResultAck) => void): void {
    if (this.#state === 'stopped' || this.#state === 'stopping') return;
    this.heartbeat(ref, null);
    const input = { kind: 'sub_step', path: ref.path, attempt: ref.attempt, name, output } as const;
    this.#deliver(ref, { input, inboxId: null, settled });
  }

  sent(workerId: string, refs: readonly AttemptRef[]): void {
    for (const ref of refs) this.#ledger.out(workerId, ref, this.#isShort(ref));
  }

  workerConnected(workerId: string, holds: readonly AttemptRef[]): void {
    this.#ledger.connected(workerId, holds);
  }

  workerAlive(workerId: string): void {
    this.#ledger.alive(workerId);
  }

  workerGone(workerId: string): void {
    this.#ledger.gone(workerId);
  }

  cancel(key: RunKey, reason: string, requestedBy: string, by: Deed | null = null): Promise<void> {
    return this.#request(key, { kind: 'cancel', reason, requestedBy }, by);
  }

  terminate(key: RunKey, reason: string, requestedBy: string, by: Deed | null = null): Promise<void> {
    return this.#request(key, { kind: 'terminate', reason, requestedBy }, by);
  }

  pause(key: RunKey, reason: string, requestedBy: string, by: Deed | null = null): Promise<void> {
    return this.#request(key, { kind: 'pause', reason, requestedBy }, by);
  }

  resume(key: RunKey, requestedBy: string, by: Deed | null = null): Promise<void> {
    return this.#request(key, { kind: 'resume', requestedBy }, by);
  }

  retry(key: RunKey, requestedBy: string, by: Deed | null = null): Promise<void> {
    return this.#request(key, { kind: 'retry', requestedBy }, by);
  }

  signal(key: RunKey, signal: Signal, by: Deed | null = null): Promise<void> {
    return this.#request(key, { kind: 'signal', ...signal }, by);
  }

  heartbeat(ref: AttemptRef, progress: Value | null): void {
    if (this.#incarnation?.ticks(shardOf(ref.runId)) === true) this.#heartbeats.beat(ref, progress);
  }

  recheck(runs: readonly RunKey[], areUnsent = false): void {
    for (const run of runs) this.#incarnation?.recheck(run, areUnsent);
  }

  onChange(listener: (change: RunChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  nodeId(): string | null {
    return this.#incarnation?.options.nodeId ?? null;
  }

  ownedShards(): readonly number[] {
    return this.#incarnation?.world.shards.ticking() ?? [];
  }

  liveAddresses(): readonly string[] {
    return this.liveNodes().map(({ address }) => address);
  }

  liveNodes(): readonly ClusterNode[] {
    return this.#incarnation?.nodes ?? [];
  }

  async stop(): Promise<void> {
    if (this.#state === 'stopping' || this.#state === 'stopped') return;
    this.#state = 'stopping';
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#incarnation?.stop();
    this.#incarnation = null;
    this.#mail.stop();
    this.#ledger.stop();
    this.#heartbeats.stop();
    this.#state = 'stopped';
  }

  /** Lives one incarnation; a fence begins the next, under a new id. */
  async #live(nodeId: string): Promise<void> {
    const { address } = this.#parts.node;
    this.#incarnation = new Incarnation(this.#surroundings, {
      nodeId,
      address,
      moved: () => this.#parts.bus.publish('cluster', ''),
      fenced: () => {
        this.#incarnation = null;
        const { clock, random } = this.#parts;
        if (this.#state === 'running') void this.#live(uuidV7(clock.nowUs(), random));
      },
    });
    await this.#incarnation.join();
  }

  #serving(): Incarnation {
    if (this.#state !== 'running') throw starting(`this node is ${this.#state}`);
    if (this.#incarnation === null) throw starting('this node is joining the cluster');
    if (this.#incarnation.world.shards.ticking().length === 0) throw starting('this node owns no shards yet');
    return this.#incarnation;
  }

  async #loadAndStart(request: StartRequest): Promise<StartOutcome> {
    this.#serving();
    const { tenantId, familySlug, version } = request;
    const plan = await this.#parts.plans.load(tenantId, familySlug, version);
    if (plan !== undefined) return this.#startWith(request, plan);
    throw new DuctorError('workflow_not_published', `${familySlug} has no published version ${version}`);
  }

  async #startWith(request: StartRequest, plan: Plan): Promise<StartOutcome> {
    const incarnation = this.#serving();
    const problems = plan.checkInput(request.input);
    if (problems.length > 0) {
      const remedy = 'Send an input that the input_schema of the version allows.';
      const details: Problem[] = problems.map((problem) => ({ path: 'input', value: '', problem, remedy }));
      throw new DuctorError('invalid_argument', `input: ${problems[0] ?? ''}`, { details });
    }
    if (request.startKey?.key === '') throw new DuctorError('invalid_argument', 'the idempotency key is empty');
    return incarnation.start(request, plan);
  }

  /** Puts a request of people into the mailbox of its run. */
  #request(key: RunKey, input: InboxInput, by: Deed | null): Promise<void> {
    if (!isUuid(key.runId)) return Promise.reject(new DuctorError('not_found', `there is no run ${key.runId}`));
    const { tenantId, runId } = key;
    const message = { tenantId, runId, kind: input.kind, body: encodeInput(input), by } as const;
    return new Promise((resolve, reject) => {
      const sent = (isOpen: boolean): void => {
        if (isOpen) resolve();
        else this.#whyNotOpen(key).then(reject, reject);
      };
      this.#mail.send({ message, sent, failed: reject });
    });
  }

  /**
   * Whether its beginning has to be recorded at once: the attempt may end before it would be noted, or its step watches
   * the time until it begins or the time between signs of life.
   */
  #isShort(ref: AttemptRef): boolean {
    const plan = this.#incarnation?.world.cache.get(keyOf(ref))?.plan;
    const step = plan ? stepAt(plan, ref.path) : undefined;
    if (step?.type !== 'CALLBACK') return false;
    if (step.scheduleToStartTimeoutMs !== null || step.heartbeatTimeoutMs !== null) return true;
    return step.timeoutMs < this.#surroundings.options.noteAtOnceBelowMs;
  }

  #note(attempts: readonly LedgerAttempt[]): void {
    const incarnation = this.#incarnation;
    if (incarnation === null) return;
    for (const { ref, workerId, startedAtUs } of attempts) {
      if (workerId === null || !incarnation.ticks(shardOf(ref.runId))) continue;
      const input = { kind: 'running', path: ref.path, attempt: ref.attempt, worker: workerId, startedAtUs } as const;
      incarnation.deliver(ref, { input, inboxId: null, settled: null });
    }
  }

  /** The attempt ended without a word: its worker is gone for good, or it gave no sign of life. */
  #ended(ref: AttemptRef, kind: 'lost' | 'silent'): void {
    if (this.#incarnation?.ticks(shardOf(ref.runId)) !== true) return;
    const input = { kind, path: ref.path, attempt: ref.attempt } as const;
    this.#incarnation.deliver(ref, { input, inboxId: null, settled: null });
  }

  #deliver(run: RunKey, pending: PendingInput): void {
    if (this.#incarnation === null) this.#forward(run, pending);
    else this.#incarnation.deliver(run, pending);
  }

  /** Puts what a worker says into the mailbox of a run that another node owns. */
  #forward(run: RunKey, pending: PendingInput): void {
    const { input, settled } = pending;
    if (input.kind !== 'result' && input.kind !== 'sub_step') return;
    const { tenantId, runId } = run;
    const { kind, path, attempt } = input;
    const sent = (isOpen: boolean): void => {
      if (kind === 'result') this.#ledger.clear({ tenantId, runId, path, attempt });
      settled?.(isOpen ? 'recorded' : 'already_settled');
    };
    this.#mail.send({ message: { tenantId, runId, kind, body: encodeInput(input) }, sent, failed: null });
  }

  /** Messages went into the boxes of these shards. */
  #mailed(shards: readonly number[]): void {
    for (const shard of shards) {
      if (this.#incarnation?.ticks(shard) === true) this.#incarnation.mail(shard);
      else this.#parts.bus.publish('inbox', String(shard));
    }
  }

  async #whyNotOpen(key: RunKey): Promise<DuctorError> {
    const found = await this.#parts.runs.load([key]);
    return found.length > 0
      ? new DuctorError('run_closed', `run ${key.runId} has ended`)
      : new DuctorError('not_found', `there is no run ${key.runId}`);
  }

  #tell(changes: readonly RunChange[]): void {
    for (const change of changes) {
      for (const listener of this.#listeners) {
        try {
          listener(change);
        } catch (error) {
          this.#hooks.log('error', 'a listener failed on a change', { error });
        }
      }
    }
    this.#parts.bus.publish('runs', changes.map((change) => change.runId).join(','));
  }
}
