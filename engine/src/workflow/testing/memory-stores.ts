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
import type { ClusterStore, CommitOutcome, InboxStore, RunStore, TickWrite } from '../coordinator/ports.js';
import type { MemoryDatabase } from './memory-database.js';

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

/** The stores of one process over this database. */
export function memoryStores(db: MemoryDatabase, hooks: StoreHooks = {}): MemoryStores {
  const registered = new Set<string>();
  /** Lost commits that may still happen, by node. Settling a node takes them away. */
  const late = new Map<string, Set<symbol>>();

  const intercept = async (call: StoreCall): Promise<StoreFault | null> => (await hooks.intercept?.(call)) ?? null;

  async function ask<T>(call: Omit<StoreCall, 'ticks'>, happen: () => T): Promise<T> {
    const whole = { ...call, ticks: [] };
    const fault = await intercept(whole);
    if (fault !== null && fault.kind !== 'lost_after') throw unavailable();
    const answer = happen();
    if (fault !== null) throw unavailable();
    await hooks.delivered?.(whole);
    return answer;
  }

  function later(nodeId: string, ticks: readonly TickWrite[], when: Promise<void>): void {
    const mark = Symbol('lost commit');
    const waiting = late.get(nodeId) ?? new Set();
    late.set(nodeId, waiting.add(mark));
    void when.then(() => {
      if (waiting.delete(mark)) db.commit(nodeId, ticks);
      return undefined;
    });
  }

  async function commit(nodeId: string, ticks: readonly TickWrite[]): Promise<CommitOutcome> {
    const call: StoreCall = { store: 'runs', method: 'commit', nodeId, ticks };
    const fault = await intercept(call);
    if (fault?.kind === 'answer') return fault.outcome;
    if (fault?.kind === 'lost_before') return UNKNOWN;
    if (fault?.kind === 'lost_late') {
      later(nodeId, ticks, fault.when);
      return UNKNOWN;
    }
    const outcome = db.commit(nodeId, ticks);
    if (fault !== null) return UNKNOWN;
    await hooks.delivered?.(call);
    return outcome;
  }

  const runs: RunStore = {
    commit,
    settle: (nodeId) =>
      ask({ store: 'runs', method: 'settle', nodeId }, () => {
        late.get(nodeId)?.clear();
        return db.isUnfenced(nodeId);
      }),
    load: (keys) => ask({ store: 'runs', method: 'load', nodeId: null }, () => db.load(keys)),
    listActive: (shards, after, limit) =>
      ask({ store: 'runs', method: 'listActive', nodeId: null }, () => db.listActive(shards, after, limit)),
    listDue: (shards, horizonUs, limit) =>
      ask({ store: 'runs', method: 'listDue', nodeId: null }, () => db.listDue(shards, horizonUs, limit)),
    findStarts: (keys) =>
      ask({ store: 'runs', method: 'findStarts', nodeId: null }, () =>
        keys.map(({ tenantId, familySlug, key }) => db.findStart(tenantId, familySlug, key)),
      ),
  };
  const inbox: InboxStore = {
    send: (messages) => ask({ store: 'inbox', method: 'send', nodeId: null }, () => db.send(messages)),
    read: (shards, limit) => ask({ store: 'inbox', method: 'read', nodeId: null }, () => db.readInbox(shards, limit)),
  };
  const ofCluster = <T>(method: string, nodeId: string, happen: () => T): Promise<T> =>
    ask({ store: 'cluster', method, nodeId }, happen);
  const cluster: ClusterStore = {
    register: ({ nodeId, address, leaseMs }) =>
      ofCluster('register', nodeId, () => {
        registered.add(nodeId);
        db.register(nodeId, address, leaseMs);
      }),
    heartbeat: (nodeId, leaseMs) => ofCluster('heartbeat', nodeId, () => db.heartbeat(nodeId, leaseMs)),
    claim: (nodeId, shards) => ofCluster('claim', nodeId, () => db.claim(nodeId, shards)),
    takeOver: (takerId, dead, shards) => ofCluster('takeOver', takerId, () => db.takeOver(takerId, dead, shards)),
    handOver: (nodeId, toNodeId, shards) =>
      ofCluster('handOver', nodeId, () => {
        if (!db.handOver(nodeId, toNodeId, shards)) throw new DuctorError('node_fenced', `${nodeId} or ${toNodeId}`);
      }),
    leave: (nodeId) => ofCluster('leave', nodeId, () => db.leave(nodeId)),
  };
  return {
    runs,
    inbox,
    cluster,
    kill: () => {
      for (const nodeId of registered) db.closeSession(nodeId);
    },
  };
}
