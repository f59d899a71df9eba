/**
 * One life of this node under one node id: from registering to the end, by a fence or by stop().
 *
 *   joining -> serving -> stopping -> left
 *                      -> fenced
 * Invariants:
 * 1. Once it ended it writes nothing, sends nothing and sets no timer; what its last batch turns out to have written is
 *    still answered, because that is a fact.
 * 2. At its end every result it holds is handed on through the mailbox, every start is answered, and what it queued for
 *    workers is dropped: the next owner derives it from the journal.
 */
import { DuctorError, sleep, uuidV7 } from '../../kernel/index.js';
import type { RunInput } from '../machine/inputs.js';
import type { StartOutcome, StartRequest } from './coordinator.js';
import { noEffects, perform } from './effects.js';
import { InboxReader } from './inbox-reader.js';
import { Intake } from './intake.js';
import { KeyLookup } from './key-lookup.js';
import { Lane } from './lane.js';
import { Lease } from './lease.js';
import { Loader } from './loader.js';
import { Membership } from './membership.js';
import type { ClusterNode, RunKey } from './ports.js';
import { reconcile } from './reconcile.js';
import { RunCache } from './run-cache.js';
import { emptyRun } from './run-logic.js';
import { coldCell, type PendingInput, type PendingStart, type RunCell } from './run-cell.js';
import { settleDown } from './settle-tick.js';
import { ShardSet } from './shard-set.js';
import { StartDoor } from './start-door.js';
import { Suspects } from './suspects.js';
import { WakeTimers } from './wake-timers.js';
import type { Surroundings, World } from './world.js';

/** Where this incarnation stands and whom it tells. */
export interface IncarnationOptions {
  readonly nodeId: string;
  readonly address: string;
  /** Its fence was met; called once, after everything was handed on. */
  readonly fenced: () => void;
  /** Other nodes should look around soon. */
  readonly moved: () => void;
}

/** Whether a run's key names these shards; the key ends with the run id. */
function runOfKey(key: string): RunKey {
  const slash = key.lastIndexOf('/');
  return { tenantId: key.slice(0, slash), runId: key.slice(slash + 1) };
}

/** One incarnation. */
export class Incarnation {
  readonly world: World;
  readonly #lease: Lease;
  readonly #lane: Lane;
  readonly #gate: Lane;
  readonly #loader: Loader;
  readonly #reader: InboxReader;
  readonly #intake: Intake;
  readonly #keys: KeyLookup;
  readonly #membership: Membership;
  readonly #door: StartDoor;
  readonly #suspects: Suspects;
  readonly #rechecks = new Set<string>();
  #isEnded = false;

  constructor(
    surroundings: Surroundings,
    readonly options: IncarnationOptions,
  ) {
    const { clock, hooks } = surroundings;
    this.#lease = new Lease(clock, surroundings.options.leaseMs);
    this.#door = new StartDoor(clock, surroundings.options, hooks.startRefused);
    this.world = {
      ...surroundings,
      nodeId: options.nodeId,
      cache: new RunCache(surroundings.options.cacheBytes),
      shards: new ShardSet(),
      timers: new WakeTimers(clock, (keys, lateUs) => {
        hooks.timerLate(lateUs);
        for (const key of keys) this.#wake(key);
      }),
      isEnded: () => this.#isEnded,
      hasLease: () => this.#lease.isHeld(),
      fenced: () => void this.#fenced(),
      enqueue: (cell) => this.#enqueue(cell),
      toGate: (cell) => this.#gate.add(cell),
      want: (cell) => this.#loader.want(cell),
      suspects: () => this.#suspects,
      deliver: (run, pending) => this.deliver(run, pending),
      readMail: (shard) => this.mail(shard),
      released: (inboxId) => this.#reader.released(inboxId),
      keyTaken: (start) => this.#keys.add(start),
      startEnded: (start) => this.#door.leave(start),
    };
    this.#suspects = new Suspects(this.world);
    this.#lane = new Lane(this.world);
    this.#gate = new Lane(this.world, 'gate');
    this.#loader = new Loader(this.world);
    this.#reader = new InboxReader(this.world);
    this.#intake = new Intake(this.world, this.#loader, this.#reader, (run) => this.recheck(run));
    this.#keys = new KeyLookup(
      this.world,
      (start) => this.#place(start),
      (start) => this.world.startEnded(start),
    );
    this.#membership = new Membership(this.world, options.address, this.#lease, {
      renewed: () => this.#renewed(),
      gained: (shards, crashed) => void this.#intake.gained(shards, crashed),
      lost: (shards) => void this.#lost(shards),
      mail: (shards) => this.#reader.hint(shards),
      empty: (shards) => this.#empty(shards),
      moved: options.moved,
      beat: () => this.#kick(),
    });
  }

  /** Registers and takes its share of the shards; resolves when it serves them, or ended. */
  join(): Promise<void> {
    return this.#membership.join();
  }

  /** Live nodes. */
  get nodes(): readonly ClusterNode[] {
    return this.#membership.nodes;
  }

  /** Whether this incarnation ticks runs of the shard. */
  ticks(shard: number): boolean {
    return !this.#isEnded && this.world.shards.ticks(shard);
  }

  /** There may be messages for the shard. */
  mail(shard: number): void {
    this.#reader.hint([shard]);
  }

  /** The cluster changed. */
  clusterChanged(): void {
    this.#membership.early();
  }

  /**
   * Queues a start; resolves after its commit. Rejects with node_starting when no shard is owned, limit_exceeded when
   * the door refuses it.
   */
  start(request: StartRequest, plan: PendingStart['plan']): Promise<StartOutcome> {
    return new Promise((resolve, reject) => {
      if (this.#isEnded || this.world.shards.ticking().length === 0) {
        reject(new DuctorError('node_starting', 'this node owns no shards yet', { retryAfterMs: 200 }));
        return;
      }
      const start = { request, plan, resolve, reject };
      this.#door.enter(start);
      this.#place(start);
    });
  }

  /** Hands a fact in; on a shard this incarnation does not tick a result is passed on and anything else is dropped. */
  deliver(run: RunKey, pending: PendingInput): void {
    const cell = this.#isEnded ? undefined : this.world.cache.ensure(run);
    if (cell === undefined || !this.world.shards.ticks(cell.shard)) {
      if (cell !== undefined && cell.phase === 'cold' && cell.inputs.length === 0) this.world.cache.drop(cell);
      this.#handOn(run, pending);
      return;
    }
    cell.inputs.push(pending);
    this.#enqueue(cell);
  }

  /**
   * Compares what must be out of a run with what is out, as soon as its state is known.
   *
   * @param isUnsent the invoker had no room for attempts of it: those that the ledger does not know are with nobody
   */
  recheck(run: RunKey, isUnsent = false): void {
    if (this.#isEnded) return;
    const cell = this.world.cache.ensure(run);
    if (!this.world.shards.ticks(cell.shard)) {
      if (cell.phase === 'cold' && cell.inputs.length === 0) this.world.cache.drop(cell);
      return;
    }
    cell.isUnsent = isUnsent && cell.phase === 'ready' && (cell.isUnsent || !cell.needsReconcile);
    cell.needsReconcile = true;
    if (cell.phase === 'cold') this.#loader.want(cell);
    if (this.#rechecks.size === 0) this.world.clock.defer(() => this.#recheckAll());
    this.#rechecks.add(cell.key);
  }

  /** Finishes what waits, within stopWaitMs, then gives all shards back. */
  async stop(): Promise<void> {
    const { world } = this;
    const untilMs = world.clock.monotonicMs() + world.options.stopWaitMs;
    const timer = world.clock.setTimer(world.options.stopWaitMs, () => this.#release());
    const isOver = (): boolean => this.#isEnded || world.clock.monotonicMs() >= untilMs;
    // What the one lane ends may be for the other.
    do await Promise.all([this.#lane.drained(isOver), this.#gate.drained(isOver)]);
    while (!isOver() && this.#lane.isBusy);
    timer.cancel();
    if (this.#isEnded) return;
    const why = new DuctorError('node_starting', 'this node is shutting down; try again at another');
    const owned = this.#end(why);
    await this.#quiet();
    this.#handOnAll(why);
    world.invoker.dropShards(owned);
    for (let tries = 0; tries < 5; tries += 1) {
      try {
        await world.cluster.leave(world.nodeId);
        break;
      } catch (error) {
        // The lease runs out by itself; others then take over.
        world.hooks.log('warn', 'leaving the cluster failed', { error });
        await sleep(world.clock, 200);
      }
    }
    this.options.moved();
  }

  #enqueue(cell: RunCell): void {
    if (this.#isEnded || !this.world.cache.holds(cell)) return;
    if (cell.phase === 'cold') this.#loader.want(cell);
    else this.#lane.add(cell);
  }

  #kick(): void {
    this.#lane.kick();
    this.#gate.kick();
  }

  #release(): void {
    this.#lane.release();
    this.#gate.release();
  }

  /** Resolves when no batch is in flight. */
  async #quiet(): Promise<void> {
    await Promise.all([this.#lane.quiet(), this.#gate.quiet()]);
  }

  #wake(key: string): void {
    this.deliver(runOfKey(key), { input: { kind: 'wake' }, inboxId: null, settled: null });
  }

  /** Gives a start an id in a shard of this node and queues it. */
  #place(start: PendingStart): void {
    const { world } = this;
    const shard = this.#isEnded ? undefined : world.shards.nextForStart();
    if (shard === undefined) {
      world.startEnded(start);
      start.reject(new DuctorError('node_starting', 'this node owns no shards any more', { retryAfterMs: 200 }));
      return;
    }
    const { tenantId, input, attributes, traceparent, runKey, signal, fork } = start.request;
    const traced = traceparent === undefined ? {} : { traceparent };
    const cell = coldCell({ tenantId, runId: uuidV7(world.clock.nowUs(), world.random, shard) });
    cell.phase = 'ready';
    cell.state = emptyRun(cell);
    cell.plan = start.plan;
    cell.start = start;
    cell.isNew = true;
    const more = { ...(runKey === undefined ? {} : { runKey }), ...(fork === undefined ? {} : { fork }) };
    const begun: RunInput[] = [{ kind: 'start', input, attributes, ...traced, ...more }];
    if (signal !== undefined) begun.push({ kind: 'signal', ...signal });
    cell.inputs = begun.map((fact) => ({ input: fact, inboxId: null, settled: null }));
    world.cache.add(cell);
    this.#lane.add(cell);
  }

  #recheckAll(): void {
    const keys = [...this.#rechecks];
    this.#rechecks.clear();
    if (this.#isEnded) return;
    const effects = noEffects();
    for (const key of keys) {
      const cell = this.world.cache.get(key);
      if (cell?.phase !== 'ready') continue;
      reconcile(this.world, cell, effects);
      if (cell.state !== null && cell.inputs.length === 0) settleDown(this.world, cell, cell.state);
    }
    perform(this.world, effects);
  }

  #renewed(): void {
    for (const cell of this.world.cache.all()) if (cell.needsReconcile) this.recheck(cell);
    this.#kick();
  }

  /** Takes draining shards out of memory. */
  async #empty(shards: readonly number[]): Promise<void> {
    await this.#quiet();
    if (!this.#isEnded) this.#letGo(shards);
  }

  /** Shards that another node owns: somebody moved them without us. */
  async #lost(shards: readonly number[]): Promise<void> {
    this.world.hooks.log('warn', 'this node lost shards it had not given away', { shards });
    await this.#quiet();
    if (!this.#isEnded) this.#letGo(shards.filter((shard) => !this.world.shards.ticks(shard)));
  }

  #letGo(shards: readonly number[]): void {
    const gone = new Set(shards);
    for (const cell of this.world.cache.all()) if (gone.has(cell.shard)) this.#drop(cell);
    this.world.invoker.dropShards(shards);
  }

  /** Drops a cell; what waits for it goes where its run will be. */
  #drop(cell: RunCell): void {
    const { start, inputs } = cell;
    this.world.cache.drop(cell);
    this.world.timers.disarm(cell.key);
    cell.inputs = [];
    cell.start = null;
    for (const pending of inputs) this.#handOn(cell, pending);
    if (start !== null) this.#place(start);
  }

  /** A result goes through the mailbox; a message of the mailbox is there already; all else is derived anew. */
  #handOn(run: RunKey, pending: PendingInput): void {
    if (pending.inboxId !== null) this.#reader.released(pending.inboxId);
    else if (pending.input.kind === 'result' || pending.input.kind === 'sub_step') this.world.forward(run, pending);
  }

  /** No writes, no timers, no shards from here on. Returns the shards it owned. */
  #end(why: DuctorError): readonly number[] {
    this.#isEnded = true;
    this.#lease.end();
    this.#membership.end();
    this.#intake.end();
    this.#suspects.end();
    this.#loader.end();
    this.#keys.end(why);
    this.world.timers.clear();
    this.#release();
    const owned = this.world.shards.clear();
    this.world.hooks.shards(0);
    return owned;
  }

  #handOnAll(why: DuctorError): void {
    for (const cell of this.world.cache.all()) {
      const { start } = cell;
      cell.start = null;
      for (const pending of cell.inputs.splice(0)) this.#handOn(cell, pending);
      if (start === null) continue;
      this.world.startEnded(start);
      start.reject(why);
    }
    this.world.cache.clear();
  }

  async #fenced(): Promise<void> {
    if (this.#isEnded) return;
    this.world.hooks.fenced();
    this.world.hooks.log('warn', 'this node is fenced', { node: this.world.nodeId });
    const why = new DuctorError('node_fenced', 'this node lost its lease; try again with the same idempotency key');
    const owned = this.#end(why);
    this.world.invoker.dropShards(owned);
    // The batch in flight puts its inputs back first; a fence that was met by it ends it in this very turn.
    await this.#quiet();
    this.#handOnAll(why);
    this.options.fenced();
  }
}
