/**
 * Sends messages to runs through the mailbox: many in one transaction, whatever comes meanwhile in the next.
 *
 *   idle -> scheduled -> sending -> scheduled | idle
 * Invariants:
 * 1. One transaction is under way at a time.
 * 2. Results are sent until they are in: their workers wait. A cancel that fails is answered to its caller.
 * 3. A message may be sent twice when an answer was lost; the machine ignores the second.
 * 4. What meets a sealed box waits a moment and is sent again; its caller learns nothing of it.
 */
import { DuctorError, shardOf, type Clock } from '../../kernel/index.js';
import { backoffMs } from './backoff.js';
import type { CoordinatorHooks } from './hooks.js';
import { Fifo } from './fifo.js';
import type { InboxMessage, InboxStore } from './ports.js';

/** A message and who waits for it. */
export interface Letter {
  readonly message: Omit<InboxMessage, 'id'>;
  /** Told once it is in the box of an open run (true), or that there is no open run (false). */
  readonly sent: (isOpen: boolean) => void;
  /** Told when the store failed; null: tried again until it works. */
  readonly failed: ((error: DuctorError) => void) | null;
}

/** What the sender needs. */
export interface MailSenderOptions {
  readonly clock: Clock;
  readonly inbox: InboxStore;
  readonly hooks: CoordinatorHooks;
  /** Shards that have new messages. */
  readonly hint: (shards: readonly number[]) => void;
}

const PAGE = 1_000;
/** What met a sealed box is sent again after this. */
const SEALED_WAIT_MS = 10;

/** The sender of a node. */
export class MailSender {
  readonly #letters = new Fifo<Letter>();
  #isBusy = false;
  #isStopped = false;
  #tries = 0;

  constructor(readonly options: MailSenderOptions) {}

  send(letter: Letter): void {
    if (this.#isStopped) {
      letter.failed?.(new DuctorError('node_starting', 'this node is shutting down'));
      return;
    }
    this.#letters.push(letter);
    this.#schedule();
  }

  /** Sends nothing more; results that wait are dropped (their workers send them again), cancels are answered. */
  stop(): void {
    this.#isStopped = true;
    for (let letter = this.#letters.shift(); letter !== undefined; letter = this.#letters.shift()) {
      letter.failed?.(new DuctorError('node_starting', 'this node is shutting down'));
    }
  }

  #schedule(): void {
    if (this.#isBusy || this.#letters.size === 0) return;
    this.#isBusy = true;
    this.options.clock.defer(() => void this.#turn());
  }

  /** The only place where the sender waits. */
  async #turn(): Promise<void> {
    const page: Letter[] = [];
    while (page.length < PAGE) {
      const letter = this.#letters.shift();
      if (letter === undefined) break;
      page.push(letter);
    }
    try {
      if (page.length > 0) await this.#send(page);
      this.#tries = 0;
    } catch (error) {
      this.#failed(page, error);
      await new Promise<void>((resolve) => this.options.clock.setTimer(backoffMs((this.#tries += 1)), resolve));
    }
    this.#isBusy = false;
    this.#schedule();
  }

  async #send(page: readonly Letter[]): Promise<void> {
    const answers = await this.options.inbox.send(page.map((letter) => letter.message));
    const shards = new Set<number>();
    for (const [index, letter] of page.entries()) {
      const answer = answers[index] ?? 'not_open';
      if (answer === 'busy') {
        this.options.clock.setTimer(SEALED_WAIT_MS, () => this.send(letter));
        continue;
      }
      if (answer === 'full') {
        letter.failed?.(new DuctorError('mailbox_full', `run ${letter.message.runId} has too many unread messages`));
        continue;
      }
      const isOpen = answer === 'sent';
      if (isOpen) shards.add(shardOf(letter.message.runId));
      try {
        letter.sent(isOpen);
      } catch (error) {
        this.options.hooks.log('error', 'a caller failed on its answer', { error });
      }
    }
    if (shards.size > 0) this.options.hint([...shards].sort((a, b) => a - b));
  }

  #failed(page: readonly Letter[], error: unknown): void {
    this.options.hooks.log('warn', 'sending to the mailbox failed', { error, messages: page.length });
    for (const letter of page) {
      if (letter.failed !== null) letter.failed(DuctorError.from(error));
      else if (!this.#isStopped) this.#letters.push(letter);
    }
  }
}
