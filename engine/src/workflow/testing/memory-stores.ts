/**
 * RunStore, InboxStore and ClusterStore over a MemoryDatabase, with a hand on every call: what a test wants to happen
 * between the question and the answer, it says in `intercept`.
 *
 * A call travels (intercept), happens at one instant, and its answer travels back (delivered). Invariants:
 * 1. Nothing happens at an instant that the hooks did not let pass: without hooks every call is one microtask long.
 * 2. An answer that is lost is never invented: the call happened, happens later, or never happens, as the fault says.
 * 3. settle() returns only when nothing of its node's lost commits can happen any more.
 */
import { DuctorError } from '../../kernel/index.js';
import type { GateLocks, GateUsage } from '../coordinator/gate-ports.js';
import type {
  ClusterStore,
  GateDecision,
  GateOutcome,
  CommitOutcome,
  InboxStore,
  RunStore,
  TickWrite,
} from '../coordinator/ports.js';
import type { MemoryDatabase } from './memory-database.js';
import { commitInGate } from './memory-gate.js';

/** One call of a store. */
export interface StoreCall {
  readonly store: 'runs' | 'inbox' | 'cluster';
  readonly method: string;
  /** The node that calls, where the call names it. */
  readonly nodeId: string | null;
  /** Ticks of a commit; empty for other calls. */
  readonly ticks: readonly TickWrite[];
}

/** What goes wrong with a call. */
export type StoreFault =
  /** It never happens; the caller learns that the database is not available (a commit: an unknown outcome). */
  | { readonly kind: 'lost_before' }
  /** It happens, its answer is lost. */
  | { readonly kind: 'lost_after' }
  /** A commit only: its answer is lost now, and it happens when this resolves, or never if that comes after settle. */
  | { readonly kind: 'lost_late'; readonly when: Promise<void> }
  /** A commit only: nothing is written, and this is the answer. */
  | { readonly kind: 'answer'; readonly outcome: CommitOutcome };

/** What a test does between question and answer. */
export interface StoreHooks {
  /** The question travels; resolves when it arrives, with what goes wrong. */
  readonly intercept?: (call: StoreCall) => Promise<StoreFault | null>;
  /** The answer travels; resolves when it arrives. Not asked when it is lost. */
  readonly delivered?: (call: StoreCall) => Promise<void>;
}

/** The stores of one process. */
export interface MemoryStores {
  readonly runs: RunStore;
  readonly inbox: InboxStore;
  readonly cluster: ClusterStore;
  /** Ends the process as SIGKILL would: its sessions close. */
  kill(): void;
}

function unavailable(): DuctorError {
  return new DuctorError('database_unavailable', 'the connection broke');
}

const UNKNOWN: CommitOutcome = { kind: 'unknown', message: 'the connection broke' };

/** Ways of asking, with everything that can go wrong on the way. */
class Line {
  /** Lost commits that may still happen, by node. Settling a node takes them away. */
  readonly #late = new Map<string, Set<symbol>>();

  constructor(
    readonly db: MemoryDatabase,
    readonly hooks: StoreHooks,
  ) {}

  /** A call that happens at one instant. Throws database_unavailable when a fault says so. */
  async ask<T>(store: StoreCall['store'], method: string, nodeId: string | null, happen: () => T): Promise<T> {
    const call: StoreCall = { store, method, nodeId, ticks: [] };
    const fault = (await this.hooks.intercept?.(call)) ?? null;
    if (fault !== null && fault.kind !== 'lost_after') throw unavailable();
    const answer = happen();
    if (fault !== null) throw unavailable();
    await this.hooks.delivered?.(call);
    return answer;
  }

  async commit(nodeId: string, ticks: readonly TickWrite[]): Promise<CommitOutcome> {
    const call: StoreCall = { store: 'runs', method: 'commit', nodeId, ticks };
    const fault = (await this.hooks.intercept?.(call)) ?? null;
    if (fault?.kind === 'answer') return fault.outcome;
    if (fault?.kind === 'lost_before') return UNKNOWN;
    if (fault?.kind === 'lost_late') {
      this.#later(nodeId, ticks, fault.when);
      return UNKNOWN;
    }
    const outcome = this.db.commit(nodeId, ticks);
    if (fault !== null) return UNKNOWN;
    await this.hooks.delivered?.(call);
    return outcome;
  }

  /** A batch of the gate lane; it is lost before or after it happened, or happens late as nothing. */
  async commitGated(
    nodeId: string,
    locks: GateLocks,
    decide: (usage: GateUsage) => GateDecision,
  ): Promise<GateOutcome> {
    const call: StoreCall = { store: 'runs', method: 'commitGated', nodeId, ticks: [] };
    const fault = (await this.hooks.intercept?.(call)) ?? null;
    if (fault?.kind === 'answer') return fault.outcome;
    if (fault?.kind === 'lost_before' || fault?.kind === 'lost_late') return UNKNOWN;
    const { db } = this;
    const { semaphores, reservations } = db;
    const tables = { db, semaphores, reservations, nowUs: db.nowUs() };
    const outcome = commitInGate(tables, nodeId, locks, decide, (ticks) => db.commit(nodeId, ticks));
    if (fault !== null) return UNKNOWN;
    await this.hooks.delivered?.(call);
    return outcome;
  }

  /** Whether the node may go on; its lost commits happen no more. */
  settle(nodeId: string): boolean {
    this.#late.get(nodeId)?.clear();
    return this.db.isUnfenced(nodeId);
  }

  #later(nodeId: string, ticks: readonly TickWrite[], when: Promise<void>): void {
    const mark = Symbol('lost commit');
    const waiting = this.#late.get(nodeId) ?? new Set();
    this.#late.set(nodeId, waiting.add(mark));
    void when.then(() => {
      if (waiting.delete(mark)) this.db.commit(nodeId, ticks);
      return undefined;
    });
  }
}

function runStore(db: MemoryDatabase, line: Line): RunStore {
  const ask = <T>(method: string, happen: () => T): Promise<T> => line.ask('runs', method, null, happen);
  return {
    commit: (nodeId, ticks) => line.commit(nodeId, ticks),
    commitGated: (nodeId, locks, decide) => line.commitGated(nodeId, locks, decide),
    askStrategies: (selection, said) => ask('askStrategies', () => db.reservations.ask(selection, said)),
    settle: (nodeId) => line.ask('runs', 'settle', nodeId, () => line.settle(nodeId)),
    load: (keys) => ask('load', () => db.load(keys)),
    payloads: (keys) => ask('payloads', () => db.payloads(keys)),
    listActive: (shards, after, limit) => ask('listActive', () => db.listActive(shards, after, limit)),
    listDue: (shards, horizonUs, limit) => ask('listDue', () => db.listDue(shards, horizonUs, limit)),
    findStarts: (keys) =>
      ask('findStarts', () => keys.map(({ tenantId, familySlug, key }) => db.findStart(tenantId, familySlug, key))),
  };
}

function clusterStore(db: MemoryDatabase, line: Line, registered: Set<string>): ClusterStore {
  const ask = <T>(method: string, nodeId: string, happen: () => T): Promise<T> =>
    line.ask('cluster', method, nodeId, happen);
  return {
    register: ({ nodeId, address, leaseMs }) =>
      ask('register', nodeId, () => {
        registered.add(nodeId);
        db.register(nodeId, address, leaseMs);
      }),
    heartbeat: (nodeId, leaseMs) => ask('heartbeat', nodeId, () => db.heartbeat(nodeId, leaseMs)),
    claim: (nodeId, shards) => ask('claim', nodeId, () => db.claim(nodeId, shards)),
    takeOver: (takerId, dead, shards) => ask('takeOver', takerId, () => db.takeOver(takerId, dead, shards)),
    handOver: (nodeId, toNodeId, shards) =>
      ask('handOver', nodeId, () => {
        if (!db.handOver(nodeId, toNodeId, shards)) throw new DuctorError('node_fenced', `${nodeId} or ${toNodeId}`);
      }),
    probe: (nodeId, runs) =>
      ask('probe', nodeId, () => {
        const isOurs = db.isUnfenced(nodeId);
        if (isOurs) db.crashes.name(nodeId, runs);
        return isOurs;
      }),
    crashes: (shards) => line.ask('cluster', 'crashes', null, () => db.crashes.crashes(shards)),
    quarantined: (run) => line.ask('cluster', 'quarantined', null, () => db.crashes.quarantined(run)),
    leave: (nodeId) => ask('leave', nodeId, () => db.leave(nodeId)),
  };
}

/** The stores of one process over this database. */
export function memoryStores(db: MemoryDatabase, hooks: StoreHooks = {}): MemoryStores {
  const registered = new Set<string>();
  const line = new Line(db, hooks);
  return {
    runs: runStore(db, line),
    inbox: {
      send: (messages) => line.ask('inbox', 'send', null, () => db.send(messages)),
      read: (shards, limit) => line.ask('inbox', 'read', null, () => db.readInbox(shards, limit)),
    },
    cluster: clusterStore(db, line, registered),
    kill: () => {
      for (const nodeId of registered) db.closeSession(nodeId);
    },
  };
}
