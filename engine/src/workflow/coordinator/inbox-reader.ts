/**
 * Reads the mailboxes of this node's shards and hands messages in as inputs.
 *
 *   idle -> scheduled (a shard was named) -> reading -> scheduled | idle
 * Invariants:
 * 1. There is no cursor: all rows of a shard are read, those already handed in are skipped by `handed`.
 * 2. A row is deleted only by the commit that consumed it; `released` then forgets it. A row read again by mistake is
 *    harmless: the machine ignores a fact it has.
 */
import { backoffMs } from './backoff.js';
import type { InboxMessage } from './ports.js';
import { decodeInput } from './run-logic.js';
import type { World } from './world.js';

const PAGE = 1_000;
/** A full page is read again after this: its rows have to be consumed first. */
const FULL_PAGE_WAIT_MS = 10;

/** The reader of one incarnation. */
export class InboxReader {
  readonly #named = new Set<number>();
  readonly #handed = new Set<number>();
  /** Rows of a kind this engine does not know; left for a newer one. */
  readonly #foreign = new Set<number>();
  #isBusy = false;
  #tries = 0;

  constructor(readonly world: World) {}

  /** There may be messages for these shards. */
  hint(shards: readonly number[]): void {
    for (const shard of shards) if (this.world.shards.ticks(shard)) this.#named.add(shard);
    this.#schedule();
  }

  /** Reads these shards now; throws what the store throws. */
  async readNow(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return;
    const messages = await this.world.inbox.read(shards, PAGE);
    if (this.world.isEnded()) return;
    for (const message of messages) this.#handIn(message);
    if (messages.length >= PAGE) this.world.clock.setTimer(FULL_PAGE_WAIT_MS, () => this.hint(shards));
  }

  /** This row was consumed, or whoever held it let it go. */
  released(inboxId: number): void {
    this.#handed.delete(inboxId);
  }

  #schedule(): void {
    if (this.#isBusy || this.#named.size === 0 || this.world.isEnded()) return;
    this.#isBusy = true;
    this.world.clock.defer(() => void this.#turn());
  }

  /** The only place where the reader waits. */
  async #turn(): Promise<void> {
    const shards = [...this.#named].filter((shard) => this.world.shards.ticks(shard)).sort((a, b) => a - b);
    this.#named.clear();
    try {
      await this.readNow(shards);
      this.#tries = 0;
    } catch (error) {
      this.world.hooks.log('warn', 'reading the mailbox failed, trying again', { error });
      for (const shard of shards) this.#named.add(shard);
      await new Promise<void>((resolve) => this.world.clock.setTimer(backoffMs((this.#tries += 1)), resolve));
    }
    this.#isBusy = false;
    this.#schedule();
  }

  #handIn(message: InboxMessage): void {
    if (this.#handed.has(message.id) || this.#foreign.has(message.id)) return;
    const { tenantId, runId, id } = message;
    try {
      const input = decodeInput(message.body);
      this.#handed.add(id);
      this.world.deliver({ tenantId, runId }, { input, inboxId: id, settled: null });
    } catch (error) {
      this.#handed.delete(id);
      this.#foreign.add(id);
      this.world.hooks.log('error', 'a message of the mailbox cannot be read', { id, run: runId, error });
    }
  }
}
