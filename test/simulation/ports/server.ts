/**
 * The database server: the tables in memory, when it is away, and the commits whose callers no longer listen.
 *
 * A lost commit: lost -> written, when its time comes or when a settle() waits for it
 *                     -> rolled back, when a settle() comes before its statement began
 * Invariants:
 * 1. After settle() returned nothing of the node's earlier lost commits happens.
 * 2. Every row passes the checks at the moment it is written.
 */
import { SHARD_COUNT, shardOf, uuidV7 } from '../../../engine/src/kernel/index.js';
import type { ClaimCall, ClaimResult, ClaimWorld } from '../../../engine/src/routing/index.js';
import type { Told } from '../../../engine/src/workflow/testing/memory-claims.js';
import { checkClaims, checkTakenOut } from '../checks/claim-check.js';
import { checkLooked, checkUnqueued } from '../checks/queue-check.js';
import type { GateLocks, GateUsage } from '../../../engine/src/workflow/coordinator/gate-ports.js';
import type {
  CommitOutcome,
  GateDecision,
  GateOutcome,
  InboxMessage,
  SendOutcome,
  TickWrite,
} from '../../../engine/src/workflow/coordinator/ports.js';
import { decodeInput } from '../../../engine/src/workflow/journal/index.js';
import { MemoryDatabase } from '../../../engine/src/workflow/testing/memory-database.js';
import { familyRuns } from '../../../engine/src/workflow/testing/memory-families.js';
import { commitInGate } from '../../../engine/src/workflow/testing/memory-gate.js';
import { VENOM } from '../checks/payloads.js';
import { resetIn } from '../../../engine/src/workflow/testing/memory-reset.js';
import {
  AdmissionSight,
  checkAdmissions,
  checkRefusedClaims,
  checkReset,
  claimGround,
} from '../checks/admission-check.js';
import { checkHoldings } from '../checks/holding-check.js';
import type { JournalCheck } from '../checks/journal-check.js';
import { attemptName, runName, signalName } from '../checks/names.js';
import { DEEDS } from '../core/deed.js';
import type { Actor } from '../core/sim-event.js';
import type { Sim } from '../core/sim.js';
import { SeatTables } from './seat-tables.js';

/** A process that writes. */
export interface Writer {
  readonly actor: Actor;
  /** Node ids it ever registered. */
  readonly nodeIds: Set<string>;
  /** It stood still for longer than its lease and has not registered anew since. */
  isZombie: boolean;
  /** Its heartbeats do not come through. */
  isMute: boolean;
  /** All its connections are busy until then, scheduler time. */
  busyUntilUs: number;
  /** How often its connections were cut. */
  cuts: number;
  /** Its connections lead to a server that is a standby by now. */
  isAtStandby: boolean;
}

interface LostCommit {
  readonly writer: Writer;
  readonly ticks: readonly TickWrite[];
}

/** The server. */
export class Server {
  readonly db: MemoryDatabase;
  readonly seats: SeatTables;
  readonly #lost = new Map<string, Set<LostCommit>>();
  #seenViolations = 0;
  isDown = false;
  /** Raised with each outage: whoever asked before it gets no answer. */
  epoch = 0;
  /** Nodes whose liveness session cannot be opened for now. */
  readonly flapping = new Set<string>();
  /** Shards that were given back. */
  readonly given = new Set<number>();
  /** Shards of which a hint to their owner was lost. */
  readonly lostHints = new Set<number>();
  readonly sight = new AdmissionSight();

  constructor(
    readonly sim: Sim,
    readonly check: JournalCheck,
  ) {
    const venom = Buffer.from(VENOM);
    const refuses = ({ entries, payloads = [], successor }: TickWrite): string | null => {
      const next = successor === undefined ? [] : [successor.entries, ...successor.payloads.map(({ data }) => data)];
      const all = [entries, ...payloads.map(({ data }) => data), ...next];
      return all.some((data) => Buffer.from(data).includes(venom)) ? '22P05' : null;
    };
    this.db = new MemoryDatabase({ nowUs: () => sim.nowUs, refuses });
    this.seats = new SeatTables(sim, this.db);
    check.claims = this.db.reservations.claims;
    check.sight = this.sight;
    check.queues = this.db.reservations.queues;
  }

  /** One batch, at one instant. */
  commit(writer: Writer, nodeId: string, ticks: readonly TickWrite[]): CommitOutcome {
    const owners = ticks.map((write) => this.db.ownerOf(shardOf(write.runId)));
    const outcome = this.db.commit(nodeId, ticks);
    this.#tablesAgree();
    if (outcome.kind === 'fenced') this.sim.marks.reach(writer.isZombie ? 'zombie_commit_fenced' : 'commit_fenced');
    if (outcome.kind === 'rejected' && ticks.length > 1) this.sim.marks.reach('batch_bisected');
    if (outcome.kind !== 'committed') return outcome;
    if (!writer.actor.isAlive) this.sim.marks.reach('orphan_commit');
    for (const [index, write] of ticks.entries()) {
      const kind = outcome.ticks[index];
      if (kind === 'conflict') this.sim.marks.reach('conflict');
      if (kind === 'key_taken') this.sim.marks.reach('start_key_raced');
      if (kind !== 'written') continue;
      this.#owned(writer, write, owners[index] ?? null);
      if (write.entries.byteLength > 0) this.check.appended(write);
      else if (write.consumed.length > 0) this.sim.marks.reach('consumption');
    }
    return outcome;
  }

  /** What a batch of the gate lane would read now, before it has locked anything. */
  readGate(locks: GateLocks): GateUsage {
    const { db } = this;
    const [runs, nowUs] = [new Set(locks.runIds), db.nowUs()];
    const usages = locks.semaphores.map((key) => db.semaphores.usage(key, runs, Number.MAX_SAFE_INTEGER));
    const reservations = db.reservations.usage(locks, nowUs, { runsOf: (family) => familyRuns(db, family) });
    return { nowUs, semaphores: usages, reservations };
  }

  /** A batch of the gate lane. */
  commitGated(
    writer: Writer,
    nodeId: string,
    locks: GateLocks,
    decide: (usage: GateUsage) => GateDecision,
  ): GateOutcome {
    const { db } = this;
    const { semaphores, reservations } = db;
    const tables = { db, semaphores, reservations, nowUs: db.nowUs() };
    const commit = (ticks: readonly TickWrite[]): CommitOutcome => this.commit(writer, nodeId, ticks);
    let decision: GateDecision | undefined;
    const outcome = commitInGate(tables, nodeId, locks, (usage) => this.#decided((decision = decide(usage))), commit);
    this.sight.outcomes.clear();
    if (outcome.kind === 'committed' && decision !== undefined) {
      checkAdmissions(this.sim, db, decision);
      checkHoldings(this.sim, db, decision);
      checkTakenOut(this.sim, db, decision);
      if (this.sim.wide !== null) this.seats.committed(locks, decision);
      checkUnqueued(this.sim, db, decision);
    }
    if (db.semaphores.line.length > 0) this.sim.marks.reach('semaphore_waited');
    for (const violation of semaphores.violations.splice(0)) this.sim.violate(violation);
    for (const violation of reservations.violations.splice(0)) this.sim.violate(violation);
    return outcome;
  }

  /** Calls about claims: one transaction. See ClaimPort.act. */
  claim(calls: readonly ClaimCall[], early?: ClaimWorld): readonly ClaimResult[] {
    const before = claimGround(this.db);
    const results = this.#told(this.db.reservations.claims.act(calls, early ?? this.readClaims()));
    checkRefusedClaims(this.sim, this.db, before, results);
    return results;
  }

  /** What is committed of the tenant's pools counts no more. See CapacityPort.reset. */
  reset(tenantId: string, takesAll = false): void {
    const { accounts, pools } = this.db.reservations;
    const own = pools.filter((pool) => pool.tenantId === tenantId);
    const ids = new Set(own.flatMap(({ view }) => view.members.map(({ id }) => id)));
    const before = resetIn(accounts, [...ids], this.sim.nowUs);
    if (takesAll) for (const [id, account] of accounts) if (ids.has(id)) accounts.set(id, { ...account, held: 0 });
    checkReset(this.sim, before, accounts);
  }

  #decided(decision: GateDecision): GateDecision {
    this.sight.decided(decision);
    return decision;
  }

  /** What calls about claims would be decided by now. */
  readClaims(): ClaimWorld {
    const { sim } = this;
    const { random } = sim.wide ?? sim.choices;
    return this.db.reservations.claims.read(sim.nowUs, () => uuidV7(sim.nowUs, random));
  }

  /** Items that are due: their next wave begins, or they expire. */
  lookAtClaims(): void {
    this.#told(this.db.reservations.claims.look(this.sim.nowUs));
  }

  /** All that waits in queues of pools is looked at: one transaction for each tenant. */
  lookAtQueues(): void {
    const { db, sim } = this;
    const { random } = sim.wide ?? sim.choices;
    const { pools, queues, made } = db.reservations;
    for (const tenantId of new Set(pools.map((pool) => pool.tenantId))) {
      const before = made.length;
      this.#told(queues.look(tenantId, sim.nowUs, () => uuidV7(sim.nowUs, random)));
      const decided = made.slice(before);
      checkLooked(sim, db, tenantId, decided);
      this.seats.looked(decided);
    }
  }

  /** Who waits for an item is told in the transaction that changes it, as long as its run is open. */
  #told<T>({ value, messages }: Told<T>): T {
    const { db, sim } = this;
    for (const message of messages) if (db.runs.get(runName(message))?.header.closedAtUs === null) db.put(message);
    checkClaims(sim, db);
    return value;
  }

  /** The answer of this commit is lost; it happens after a while, or not. */
  commitLater(writer: Writer, nodeId: string, ticks: readonly TickWrite[], delayUs: number): void {
    const lost: LostCommit = { writer, ticks };
    const ofNode = this.#lost.get(nodeId) ?? new Set();
    this.#lost.set(nodeId, ofNode.add(lost));
    this.sim.scheduler.after(delayUs, null, `${writer.actor.name} lost commit lands`, () => {
      if (ofNode.delete(lost)) this.#land(nodeId, lost);
    });
  }

  /** See RunStore.settle. A lost commit that had begun is waited for, one that had not finds its session closed. */
  settle(nodeId: string): boolean {
    for (const lost of this.#lost.get(nodeId) ?? []) {
      if (this.sim.choices.chance(0.5)) this.#land(nodeId, lost);
      else this.sim.marks.reach('late_commit_settled');
    }
    this.#lost.get(nodeId)?.clear();
    return this.db.isUnfenced(nodeId);
  }

  /** See InboxStore.send. */
  send(messages: readonly Omit<InboxMessage, 'id'>[]): readonly SendOutcome[] {
    const answers = this.db.send(messages);
    for (const [index, message] of messages.entries()) {
      if (answers[index] !== 'sent') continue;
      const input = decodeInput(message.body);
      if (input.kind === 'cancel') this.check.truth.mailedCancels.add(runName(message));
      if (DEEDS.has(input.kind)) {
        const { tenantId } = message;
        const { truth } = this.check;
        truth.mailedDeeds.add(`${input.kind} ${runName({ tenantId, runId: truth.chainId(message) })}`);
      }
      if (input.kind === 'signal') {
        const { truth } = this.check;
        truth.mailedSignals.add(signalName(message.tenantId, truth.chainId(message), input));
      }
      if (this.check.truth.state(message)?.continuedAs) this.sim.marks.reach('mail_passed_on');
      if (input.kind !== 'result') continue;
      this.check.truth.mailedResults.add(attemptName({ ...message, path: input.path, attempt: input.attempt }));
      this.sim.marks.reach('result_by_mailbox');
    }
    return answers;
  }

  /** See InboxStore.read. */
  readInbox(shards: readonly number[], limit: number): readonly InboxMessage[] {
    const messages = this.db.readInbox(shards, limit);
    for (const { runId } of messages) if (this.lostHints.delete(shardOf(runId))) this.sim.marks.reach('mail_by_sweep');
    return messages;
  }

  /** See ClusterStore.leave. */
  leave(nodeId: string): void {
    for (let shard = 0; shard < SHARD_COUNT; shard += 1) {
      if (this.db.ownerOf(shard) === nodeId) this.given.add(shard);
    }
    if (this.given.size > 0) this.sim.marks.reach('shards_left');
    this.db.leave(nodeId);
  }

  /** Everything is cut off and refused until `up`. */
  down(): void {
    this.isDown = true;
    this.epoch += 1;
    for (const nodeId of this.db.nodes.keys()) this.db.closeSession(nodeId);
  }

  up(): void {
    this.isDown = false;
  }

  #land(nodeId: string, { writer, ticks }: LostCommit): void {
    const outcome = this.commit(writer, nodeId, ticks);
    const isFenced = outcome.kind === 'fenced';
    this.sim.marks.reach(isFenced ? 'late_commit_fenced' : 'late_commit_landed');
  }

  /** Rows are written by the process that owns their shard, and by no other. */
  #owned(writer: Writer, write: TickWrite, owner: string | null): void {
    if (owner !== null && writer.nodeIds.has(owner) && this.db.isUnfenced(owner)) return;
    const who = `${writer.actor.name} (${[...writer.nodeIds].map((id) => id.slice(-4)).join(', ')})`;
    const shard = shardOf(write.runId);
    this.sim.violate(
      `${who} wrote row ${write.seq} of run ${write.runId}; shard ${shard} belongs to ${owner ?? 'nobody'}`,
    );
  }

  #tablesAgree(): void {
    const { violations } = this.db;
    for (; this.#seenViolations < violations.length; this.#seenViolations += 1) {
      this.sim.violate(violations[this.#seenViolations] ?? '');
    }
  }
}
