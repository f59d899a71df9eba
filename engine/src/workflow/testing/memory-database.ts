/**
 * The tables of the engine in memory, as honest as Postgres about conflicts, keys and fences. Every operation here is
 * one transaction: it happens at one instant, all of it or nothing. Time comes in as a function.
 *
 * What the coordinator must never do (a gap in a journal, one run twice in a batch, a write to a closed run) is kept in
 * `violations` for the test to look at.
 */
import { DuctorError, shardOf } from '../../kernel/index.js';
import { BOX_BYTES_MAX, BOX_MESSAGES_MAX, BOX_SEALED_MS, isForRun } from '../coordinator/ports.js';
import { newMemoryRun, type MemoryRun } from './memory-run.js';
import { MemoryCrashes } from './memory-crashes.js';
import { firstLeaseEndUs, type MemoryNode } from './memory-node.js';
import { MemoryReservations } from './memory-reservations.js';
import { MemorySemaphores } from './memory-semaphores.js';
import { MemoryShards } from './memory-shards.js';
import type {
  ClusterView,
  CommitOutcome,
  ExistingStart,
  InboxMessage,
  PayloadKey,
  RunHeader,
  RunKey,
  SendOutcome,
  StoredPayload,
  StoredRun,
  Successor,
  TickOutcome,
  TickWrite,
} from '../coordinator/ports.js';

/** What a database is made with. */
export interface MemoryDatabaseOptions {
  /** Database time, microseconds since 1970. */
  readonly nowUs: () => number;
  /** SQLSTATE with which the database refuses a batch that holds this write; null: it does not. Default: never. */
  readonly refuses?: (write: TickWrite) => string | null;
}

interface MemoryKey extends ExistingStart {
  readonly untilUs: number;
}

/** Nodes that own nothing are forgotten this long after their lease ran out. */
const FORGET_AFTER_US = 60_000_000;
const KEY_LIFE_US = 30 * 24 * 3600 * 1_000_000;

/** Name of a run in the tables. */
export function nameOf(run: RunKey): string {
  return `${run.tenantId}/${run.runId}`;
}

/** The run whose box is that of this one: the first of its chain. */
export function chainIdOf({ runId, chain }: RunHeader): string {
  return chain?.chainId ?? runId;
}

/** The tables. */
export class MemoryDatabase {
  readonly runs = new Map<string, MemoryRun>();
  readonly inbox = new Map<number, InboxMessage>();
  readonly nodes = new Map<string, MemoryNode>();
  readonly semaphores = new MemorySemaphores();
  readonly reservations = new MemoryReservations();
  /** What must never happen, in words. */
  readonly violations: string[] = [];
  /** Statements that appended or consumed something. */
  commits = 0;
  readonly #keys = new Map<string, MemoryKey>();
  /** Ids of the last runs of chains, by the name of the first. */
  readonly #chains = new Map<string, string>();
  readonly #shards = new MemoryShards();
  readonly #options: MemoryDatabaseOptions;
  readonly crashes = new MemoryCrashes(() => this.nowUs());
  #lastInboxId = 0;

  constructor(options: MemoryDatabaseOptions) {
    this.#options = options;
  }

  /** See RunStore.commit; what is not written leaves no trace. */
  commit(nodeId: string, ticks: readonly TickWrite[]): CommitOutcome {
    if (!this.isUnfenced(nodeId)) return { kind: 'fenced' };
    for (const write of ticks) {
      const sqlState = this.#options.refuses?.(write) ?? null;
      if (sqlState !== null) return { kind: 'rejected', sqlState, message: 'the database refuses this batch' };
    }
    if (ticks.length > 0) this.commits += 1;
    const seen = new Set<string>();
    const outcomes = ticks.map((write) => {
      const name = nameOf(write);
      if (seen.has(name)) this.violations.push(`run ${name} twice in one batch`);
      seen.add(name);
      return this.#write(name, write);
    });
    return { kind: 'committed', ticks: outcomes };
  }

  /** Database time, microseconds since 1970. */
  nowUs(): number {
    return this.#options.nowUs();
  }

  /** Whether the node may write. */
  isUnfenced(nodeId: string): boolean {
    return this.nodes.get(nodeId)?.isFenced === false;
  }

  load(keys: readonly RunKey[]): readonly StoredRun[] {
    const found: StoredRun[] = [];
    for (const { tenantId, runId } of keys) {
      const run = this.runs.get(nameOf({ tenantId, runId }));
      if (run === undefined) continue;
      const after = run.snapshot?.seq ?? 0;
      const rows = run.rows.filter((row) => row.seq > after);
      found.push({ tenantId, runId, header: run.header, snapshot: run.snapshot, rows });
    }
    return found;
  }

  payloads(keys: readonly PayloadKey[]): readonly StoredPayload[] {
    return keys.flatMap(({ tenantId, runId, digest }) => {
      const data = this.runs.get(nameOf({ tenantId, runId }))?.payloads.get(digest);
      // A copy: bytes of a database are never those that were given to it.
      return data === undefined ? [] : [{ tenantId, runId, digest, data: Buffer.from(data) }];
    });
  }

  listActive(shards: readonly number[], afterRunId: string, limit: number): readonly RunKey[] {
    const wanted = new Set(shards);
    const keys: RunKey[] = [];
    for (const { header } of this.runs.values()) {
      if (header.active && wanted.has(header.shard) && header.runId > afterRunId) {
        keys.push({ tenantId: header.tenantId, runId: header.runId });
      }
    }
    return keys.sort((a, b) => (a.runId < b.runId ? -1 : 1)).slice(0, limit);
  }

  listDue(
    shards: readonly number[],
    horizonUs: number,
    limit: number,
  ): readonly (RunKey & { readonly wakeAtUs: number })[] {
    const wanted = new Set(shards);
    const due: (RunKey & { readonly wakeAtUs: number })[] = [];
    for (const { header } of this.runs.values()) {
      const { tenantId, runId, wakeAtUs } = header;
      if (header.active || wakeAtUs === null || wakeAtUs > horizonUs || !wanted.has(header.shard)) continue;
      due.push({ tenantId, runId, wakeAtUs });
    }
    return due.sort((a, b) => a.wakeAtUs - b.wakeAtUs || (a.runId < b.runId ? -1 : 1)).slice(0, limit);
  }

  findStart(tenantId: string, familySlug: string, key: string): ExistingStart | undefined {
    const found = this.#keys.get(JSON.stringify([tenantId, familySlug, key]));
    if (found === undefined || found.untilUs <= this.#options.nowUs()) return undefined;
    return { runId: found.runId, version: found.version, fingerprint: found.fingerprint };
  }

  send(messages: readonly Omit<InboxMessage, 'id'>[]): readonly SendOutcome[] {
    return messages.map((message) => {
      const named = this.runs.get(nameOf(message));
      const isPassedOn = named?.header.status === 'CONTINUED' && !isForRun(message.kind);
      const run = isPassedOn ? this.#lastOf({ ...message, runId: chainIdOf(named.header) }) : named;
      if (run === undefined || run.header.closedAtUs !== null) return 'not_open';
      if (run.sealedUntilUs > this.#options.nowUs()) return 'busy';
      const put = isForRun(message.kind) ? message : { ...message, runId: chainIdOf(run.header) };
      if (message.kind === 'signal' && this.#isFull(nameOf(put))) return 'full';
      this.put(put);
      return 'sent';
    });
  }

  /** The last run of a chain; undefined when it was never continued. */
  #lastOf({ tenantId, runId: chainId }: RunKey): MemoryRun | undefined {
    const last = this.#chains.get(nameOf({ tenantId, runId: chainId }));
    return last === undefined ? undefined : this.runs.get(nameOf({ tenantId, runId: last }));
  }

  readInbox(shards: readonly number[], limit: number): readonly InboxMessage[] {
    const wanted = new Set(shards);
    const found = [...this.inbox.values()].filter((message) => wanted.has(shardOf(message.runId))).slice(0, limit);
    return found.map((message) => {
      const last = isForRun(message.kind) ? undefined : this.#lastOf(message);
      return last === undefined ? message : { ...message, runId: last.header.runId };
    });
  }

  register(nodeId: string, address: string, leaseMs: number): void {
    const leaseUntilUs = this.#options.nowUs() + leaseMs * 1000;
    this.#forgetDead();
    const known = this.nodes.get(nodeId);
    if (known === undefined) {
      this.nodes.set(nodeId, { nodeId, address, leaseUntilUs, isFenced: false, isSessionOpen: true });
      this.#shards.nodesChanged();
      return;
    }
    if (known.isFenced) throw new DuctorError('node_fenced', `node ${nodeId} was fenced`);
    known.address = address;
    known.leaseUntilUs = leaseUntilUs;
  }

  /** Nodes that are long dead and own nothing. */
  #forgetDead(): void {
    const beforeUs = this.#options.nowUs() - FORGET_AFTER_US;
    for (const { nodeId, leaseUntilUs } of this.nodes.values()) {
      if (leaseUntilUs < beforeUs && !this.#shards.hasAny(nodeId)) this.leave(nodeId);
    }
  }

  heartbeat(nodeId: string, leaseMs: number): ClusterView {
    const nowUs = this.#options.nowUs();
    const self = this.nodes.get(nodeId);
    const isFenced = self === undefined || self.isFenced;
    if (self !== undefined && !self.isFenced) {
      self.leaseUntilUs = nowUs + leaseMs * 1000;
      self.isSessionOpen = true;
    }
    const { owned, unowned } = this.#shards.shares(this.nodes.keys());
    const nodes = [...this.nodes.values()]
      .map((node) => ({
        nodeId: node.nodeId,
        address: node.address,
        live: !node.isFenced && node.leaseUntilUs > nowUs,
        sessionOpen: node.isSessionOpen,
        shards: owned.get(node.nodeId) ?? [],
      }))
      .filter((node) => node.live || node.shards.length > 0);
    const own = new Set(owned.get(nodeId));
    const waiting = new Set([...this.inbox.values()].map((message) => shardOf(message.runId)));
    const inboxShards = [...waiting].filter((shard) => own.has(shard)).sort((a, b) => a - b);
    const nextLeaseEndUs = firstLeaseEndUs(this.nodes.values(), nodeId, nowUs);
    const crashedShards = this.crashes.crashedAmong([...own]);
    return { nowUs, fenced: isFenced, nodes, unowned, inboxShards, crashedShards, nextLeaseEndUs };
  }

  claim(nodeId: string, shards: readonly number[]): readonly number[] {
    if (!this.isUnfenced(nodeId)) return [];
    const free = shards.filter((shard) => !this.nodes.has(this.#shards.ownerOf(shard) ?? ''));
    this.#shards.own(free, nodeId);
    return free.sort((a, b) => a - b);
  }

  takeOver(takerId: string, deadNodeId: string, shards: readonly number[]): readonly number[] {
    const dead = this.nodes.get(deadNodeId);
    if (dead === undefined || !this.isUnfenced(takerId)) return [];
    if (!dead.isFenced && dead.leaseUntilUs > this.#options.nowUs() && dead.isSessionOpen) return [];
    dead.isFenced = true;
    const moved = this.#move(deadNodeId, takerId, shards);
    this.crashes.taken(deadNodeId, moved);
    if (!this.#shards.hasAny(deadNodeId)) this.leave(deadNodeId);
    return moved;
  }

  /** False: one of the two may not go on; nothing was moved. */
  handOver(nodeId: string, toNodeId: string, shards: readonly number[]): boolean {
    const to = this.nodes.get(toNodeId);
    if (!this.isUnfenced(nodeId) || to === undefined || to.isFenced) return false;
    if (to.leaseUntilUs <= this.#options.nowUs()) return false;
    this.#move(nodeId, toNodeId, shards);
    return true;
  }

  leave(nodeId: string): void {
    this.nodes.delete(nodeId);
    this.#shards.nodesChanged();
  }

  /** What others see once the process of this node was killed. */
  closeSession(nodeId: string): void {
    const node = this.nodes.get(nodeId);
    if (node !== undefined) node.isSessionOpen = false;
  }

  /** Node that owns the shard; null when nobody does. */
  ownerOf(shard: number): string | null {
    const owner = this.#shards.ownerOf(shard);
    return owner !== null && this.nodes.has(owner) ? owner : null;
  }

  #move(fromNodeId: string, toNodeId: string, shards: readonly number[]): readonly number[] {
    const moved = shards.filter((shard) => this.#shards.ownerOf(shard) === fromNodeId);
    this.#shards.own(moved, toNodeId);
    return moved.sort((a, b) => a - b);
  }

  /** What would become of a write. Changes nothing. */
  probe(write: TickWrite): TickOutcome {
    if (write.entries.byteLength === 0) return 'written';
    const run = this.runs.get(nameOf(write));
    if (write.seq === 1) {
      const { header, startKey } = write;
      if (run !== undefined || header === null) return 'conflict';
      const isTaken =
        startKey !== null && this.findStart(write.tenantId, header.familySlug, startKey.key) !== undefined;
      return isTaken ? 'key_taken' : 'written';
    }
    if (run === undefined) return 'conflict';
    if (write.needsEmptyBox === true && this.#hasUnread(run.header, write.consumed)) return 'unread';
    return write.seq <= (run.rows.at(-1)?.seq ?? 0) ? 'conflict' : 'written';
  }

  /** Lets nobody put anything into the box of a run for a while. */
  seal(key: RunKey): void {
    const run = this.runs.get(nameOf(key));
    if (run !== undefined) run.sealedUntilUs = this.nowUs() + BOX_SEALED_MS * 1000;
  }

  #write(name: string, write: TickWrite): TickOutcome {
    if (write.entries.byteLength === 0) {
      for (const id of write.consumed) this.inbox.delete(id);
      for (const message of write.messages ?? []) this.put(message);
      return 'written';
    }
    const run = this.runs.get(name);
    const outcome = this.probe(write);
    if (outcome === 'unread') this.seal(write);
    if (write.seq === 1 && write.header === null) this.violations.push(`start of ${name} without a header`);
    if (outcome !== 'written') return outcome;
    if (run === undefined) return this.#start(name, write);
    if (write.seq !== (run.rows.at(-1)?.seq ?? 0) + 1) this.violations.push(`row ${write.seq} of ${name} leaves a gap`);
    if (run.header.closedAtUs !== null) this.violations.push(`row ${write.seq} of ${name} after its end`);
    this.#append(run, write);
    return 'written';
  }

  #isFull(name: string): boolean {
    const box = [...this.inbox.values()].filter((message) => nameOf(message) === name);
    const bytes = box.reduce((sum, { body }) => sum + body.byteLength, 0);
    return box.length >= BOX_MESSAGES_MAX || bytes >= BOX_BYTES_MAX;
  }

  #hasUnread(header: RunHeader, consumed: readonly number[]): boolean {
    const chain = nameOf({ tenantId: header.tenantId, runId: chainIdOf(header) });
    return [...this.inbox.values()].some((message) => nameOf(message) === chain && !consumed.includes(message.id));
  }

  #start(name: string, write: TickWrite): TickOutcome {
    const { header, startKey } = write;
    if (header === null) return 'conflict';
    if (startKey !== null) {
      const { fingerprint, untilEnd = false } = startKey;
      const lifeUs = header.closedAtUs === null ? Number.POSITIVE_INFINITY : 0;
      const untilUs = this.#options.nowUs() + (untilEnd ? lifeUs : KEY_LIFE_US);
      const id = JSON.stringify([write.tenantId, header.familySlug, startKey.key]);
      this.#keys.set(id, { runId: write.runId, version: header.version, fingerprint, untilUs });
    }
    const run = newMemoryRun(header);
    this.runs.set(name, run);
    this.#append(run, write);
    return 'written';
  }

  #append(run: MemoryRun, write: TickWrite): void {
    run.rows.push({ seq: write.seq, atUs: write.atUs, entries: write.entries });
    if (write.header !== null) run.header = write.header;
    if (write.snapshot !== null) run.snapshot = { seq: write.seq, data: write.snapshot };
    for (const { digest, data } of write.payloads ?? []) run.payloads.set(Buffer.from(digest).toString('hex'), data);
    for (const id of write.consumed) this.inbox.delete(id);
    for (const message of write.messages ?? []) this.put(message);
    if (write.frees !== undefined) this.#free(run.header, write.frees);
    if (write.successor !== undefined) this.#succeed(write, write.successor);
  }

  #free(header: RunHeader, key: string): void {
    const id = JSON.stringify([header.tenantId, header.familySlug, key]);
    if (this.#keys.get(id)?.runId === chainIdOf(header)) this.#keys.delete(id);
  }

  #succeed(before: TickWrite, { runId, entries, header, payloads }: Successor): void {
    const { tenantId, atUs } = before;
    const name = nameOf({ tenantId, runId });
    const { chain } = header;
    if (this.runs.has(name)) this.violations.push(`run ${name} continues a run and was there before`);
    if (chain === null || shardOf(runId) !== shardOf(before.runId)) {
      this.violations.push(`run ${name} continues ${before.runId} without its chain or in another shard`);
      return;
    }
    const of = nameOf({ tenantId, runId: chain.chainId });
    const last = this.#lastOf({ tenantId, runId: chain.chainId });
    if ((last?.header.chain?.no ?? 1) + 1 !== chain.no) this.violations.push(`run ${name} has no place in its chain`);
    this.#chains.set(of, runId);
    const run = newMemoryRun(header);
    this.runs.set(name, run);
    run.rows.push({ seq: 1, atUs, entries });
    for (const { digest, data } of payloads) run.payloads.set(Buffer.from(digest).toString('hex'), data);
  }

  /** Puts a message into a box, whatever its run is. */
  put(message: Omit<InboxMessage, 'id'>): void {
    this.#lastInboxId += 1;
    this.inbox.set(this.#lastInboxId, { ...message, id: this.#lastInboxId });
  }
}
