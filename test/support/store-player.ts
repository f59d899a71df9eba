/** Plays drawn commands on one implementation of the stores; says what it answered in words that can be compared. */
import { createHash } from 'node:crypto';
import { DuctorError } from '../../engine/src/kernel/index.js';
import type { RunKey, StoredRun } from '../../engine/src/workflow/coordinator/ports.js';
import { ALL_SHARDS, outcomes, tick } from '../../engine/src/workflow/testing/contract/world.js';
import type { ContractProcess } from '../../engine/src/workflow/testing/run-store-contract.js';
import { LONG_LEASE_MS, type CommandBook, type StoreCommand, type WaitingMessage } from './store-commands.js';

const MANY = 10_000;

function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex');
}

function plainRun({ runId, header, snapshot, rows }: StoredRun): unknown {
  return {
    runId,
    header,
    snapshot: snapshot === null ? null : { seq: snapshot.seq, data: hex(snapshot.data) },
    rows: rows.map(({ seq, atUs, entries }) => ({ seq, atUs, entries: hex(entries) })),
  };
}

const byRun = (a: RunKey, b: RunKey): number => (a.runId < b.runId ? -1 : 1);

/** One implementation under the commands of a book. */
export class StorePlayer {
  /** Ids of this store by the order in which messages came. */
  readonly #ids: number[] = [];

  /**
   * @param process its stores
   * @param advance moves database time forward
   */
  constructor(
    readonly process: ContractProcess,
    readonly advance: (ms: number) => Promise<void>,
    readonly book: CommandBook,
  ) {}

  /** What a command comes to. */
  async play(command: StoreCommand): Promise<unknown> {
    try {
      return (await this.#answer(command)) ?? 'done';
    } catch (error) {
      return { refused: DuctorError.from(error).code };
    }
  }

  /** Everything that can be read. */
  async state(): Promise<unknown> {
    const kinds = ['load', 'read', 'listActive', 'findStarts', 'payloads'] as const;
    const parts: unknown[] = [];
    for (const kind of kinds) parts.push(await this.play({ kind }));
    for (const node of this.book.nodes) parts.push(await this.play({ kind: 'heartbeat', node }));
    return parts;
  }

  /** Leaves nothing behind that another book would see: no node, no message. */
  async leave(): Promise<void> {
    const { cluster, runs } = this.process;
    const left = await this.#messages();
    const cleaner = this.book.newNode();
    await cluster.register({ nodeId: cleaner, address: `${cleaner}:1`, leaseMs: LONG_LEASE_MS });
    const drops = left.map((message) => tick(message, 0, { entries: new Uint8Array(0), consumed: [message.id] }));
    for (const drop of drops) await runs.commit(cleaner, [drop]);
    for (const nodeId of [...this.book.nodes, cleaner]) await cluster.leave(nodeId);
  }

  /** Messages that wait, by their order. */
  async waiting(): Promise<readonly WaitingMessage[]> {
    return (await this.#messages()).map(({ id, tenantId, runId }) => ({ n: this.#ids.indexOf(id), tenantId, runId }));
  }

  async #answer(command: StoreCommand): Promise<unknown> {
    const { cluster, runs, inbox } = this.process;
    switch (command.kind) {
      case 'register':
        return cluster.register({ nodeId: command.node, address: `${command.node}:1`, leaseMs: LONG_LEASE_MS });
      case 'leave':
        return cluster.leave(command.node);
      case 'heartbeat':
        return this.#heartbeat(command.node);
      case 'claim':
        return cluster.claim(command.node, command.shards);
      case 'takeOver':
        return cluster.takeOver(command.node, command.other, command.shards);
      case 'handOver':
        return cluster.handOver(command.node, command.other, command.shards);
      case 'advance':
        return this.advance(command.ms);
      case 'commit':
        return this.#commit(command);
      case 'send': {
        const sent = await inbox.send(
          command.messages.map(({ tenantId, runId, of, body }) => ({
            tenantId,
            runId,
            kind: of,
            body: Buffer.from([body]),
          })),
        );
        await this.#messages();
        return sent;
      }
      case 'listDue': {
        const due = await runs.listDue(ALL_SHARDS, command.horizonUs, MANY);
        return due.filter((run) => this.#isOwn(run));
      }
      default:
        return this.#read(command.kind);
    }
  }

  async #read(kind: 'read' | 'load' | 'listActive' | 'findStarts' | 'payloads'): Promise<unknown> {
    const { runs } = this.process;
    const { book } = this;
    switch (kind) {
      case 'read':
        return (await this.#messages()).map(({ id, body, runId, ...rest }) => {
          return { n: this.#ids.indexOf(id), runId, kind: rest.kind, body: hex(body) };
        });
      case 'load':
        return [...(await runs.load(book.runs))].sort(byRun).map(plainRun);
      case 'listActive':
        return (await runs.listActive(ALL_SHARDS, '', MANY)).filter((run) => this.#isOwn(run));
      case 'findStarts': {
        const found = await runs.findStarts(book.startKeys);
        return found.map((one) => one && { ...one, fingerprint: hex(one.fingerprint) });
      }
      case 'payloads': {
        const keys = book.values.map(({ tenantId, runId, text }) => {
          return { tenantId, runId, digest: createHash('sha256').update(text).digest('hex'), size: text.length };
        });
        const found = await runs.payloads(keys);
        return [...new Set(found.map(({ runId, digest, data }) => `${runId} ${digest} ${hex(data)}`))].sort();
      }
    }
  }

  async #commit({ node, ticks }: StoreCommand & { readonly kind: 'commit' }): Promise<unknown> {
    const writes = ticks.map(({ write, consumed }) => ({
      ...write,
      consumed: consumed.flatMap((n) => this.#ids[n] ?? []),
    }));
    return outcomes(await this.process.runs.commit(node, writes));
  }

  async #heartbeat(node: string): Promise<unknown> {
    const { fenced, nodes, unowned, inboxShards } = await this.process.cluster.heartbeat(node, LONG_LEASE_MS);
    const own = nodes.filter(({ nodeId }) => this.book.nodes.includes(nodeId));
    const shown = own.map(({ nodeId, live, shards }) => ({ nodeId, live, shards }));
    return { fenced, nodes: shown.sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)), unowned, inboxShards };
  }

  #isOwn({ tenantId }: RunKey): boolean {
    return this.book.tenants.includes(tenantId);
  }

  /** What waits; who is seen for the first time gets the next number. */
  async #messages() {
    const found = (await this.process.inbox.read(ALL_SHARDS, MANY)).filter((message) => this.#isOwn(message));
    for (const { id } of found) if (!this.#ids.includes(id)) this.#ids.push(id);
    return found;
  }
}
