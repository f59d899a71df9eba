/**
 * A loop that claims for one recipient.
 *
 *   asks -> claims -> handles -> completes | releases -> claims the next ... -> rests -> asks
 *
 * Invariants: 1. it has one item at a time; 2. what it has claimed it completes or tries to release before it takes
 * another one; 3. once it is aborted it claims nothing more.
 */
import { checkNames, shown } from '../connection/field-checks.js';
import type { System } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import type { ClaimItemView } from './claim-view.js';

/** Does the work of an item. `signal` aborts with the loop: an item that is given up then is released. */
export type ClaimHandler = (item: ClaimItemView, context: { readonly signal: AbortSignal }) => Promise<void> | void;

/** Options of the loop. */
export interface ClaimWorkOptions {
  /** Ends it. Default: it goes on until a call fails for good. */
  readonly signal?: AbortSignal;
  /** How long it rests while there is nothing to claim, ms. Default 1,000. */
  readonly pollMs?: number;
  /** Told of what a handler threw, and of calls that are made again. Default: nobody. */
  readonly onError?: (error: unknown, item: ClaimItemView | undefined) => void;
}

/** What it is to do. */
export interface ClaimWork {
  readonly queueId: string;
  readonly recipientId: string;
  readonly handler: ClaimHandler;
  readonly options: ClaimWorkOptions;
}

/** The calls that it makes. */
export interface ClaimWorkCalls {
  list(
    queueId: string,
    options: { readonly state: 'OPEN' | 'CLAIMED'; readonly recipientId: string; readonly pageSize: number },
  ): Promise<{ readonly items: readonly ClaimItemView[] }>;
  claim(itemId: string, recipientId: string): Promise<ClaimItemView>;
  release(itemId: string, recipientId: string, options: { readonly reason: string }): Promise<ClaimItemView>;
  complete(itemId: string, recipientId: string): Promise<ClaimItemView>;
}

const OPTIONS: Readonly<Record<keyof ClaimWorkOptions, true>> = { signal: true, pollMs: true, onError: true };
const POLL_MS = 1_000;
/** Items that are looked at in one round. */
const PAGE_SIZE = 50;
/** Somebody else has the item, or it is over: the next one may be had. */
const PASSED_OVER: ReadonlySet<string> = new Set(['claim_rescinded', 'claim_not_offered', 'claim_state_conflict']);
/** Nothing can be had now, but later. */
const FULL: ReadonlySet<string> = new Set(['claim_budget_exhausted', 'recipient_capacity_exhausted']);

const codeOf = (error: unknown): string => (error instanceof DuctorError ? error.code : '');
const isPassing = (error: unknown): boolean => error instanceof DuctorError && error.retryable;

/** Resolves after so many ms, or when the loop ends. */
function rest(system: System, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const awake = system.keepAlive();
    const end = (): void => {
      timer.cancel();
      awake.cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = system.after(ms, end);
    signal.addEventListener('abort', end);
  });
}

class Loop {
  readonly #signal: AbortSignal;
  readonly #pollMs: number;
  /** Items that are not claimed again: their handler failed here. */
  #failed = new Set<string>();

  constructor(
    readonly items: ClaimWorkCalls,
    readonly system: System,
    readonly work: ClaimWork,
  ) {
    this.#signal = work.options.signal ?? new AbortController().signal;
    this.#pollMs = work.options.pollMs ?? POLL_MS;
  }

  async run(): Promise<void> {
    const { queueId, recipientId } = this.work;
    const had = await this.#surely(() => this.items.list(queueId, { state: 'CLAIMED', recipientId, pageSize: 200 }));
    for (const item of had?.items ?? []) await this.#handle(item);
    while (!this.#signal.aborted) {
      const restMs = await this.#round();
      if (restMs > 0) await rest(this.system, restMs, this.#signal);
    }
  }

  /** Claims what is offered; how long to rest then, ms. */
  async #round(): Promise<number> {
    const { queueId, recipientId } = this.work;
    const found = await this.#surely(() =>
      this.items.list(queueId, { state: 'OPEN', recipientId, pageSize: PAGE_SIZE }),
    );
    const open = found?.items ?? [];
    this.#failed = new Set(open.flatMap(({ id }) => (this.#failed.has(id) ? [id] : [])));
    let claimed = 0;
    for (const id of this.#shuffled(open.map((item) => item.id))) {
      if (this.#failed.has(id)) continue;
      if (this.#signal.aborted) return 0;
      try {
        const item = await this.#surely(() => this.items.claim(id, recipientId));
        if (item === undefined) return 0;
        claimed += 1;
        await this.#handle(item);
      } catch (error) {
        if (FULL.has(codeOf(error))) return this.#restOf(error);
        if (!PASSED_OVER.has(codeOf(error))) throw error;
      }
    }
    return claimed > 0 ? 0 : this.#pollMs;
  }

  /** Loops that went through the same items in the same order would all want the same one each time. */
  #shuffled(ids: readonly string[]): readonly string[] {
    const drawn = ids.map((id) => [this.system.random(), id] as const);
    return drawn.toSorted(([a], [b]) => a - b).map(([, id]) => id);
  }

  /** No longer than a poll: a limit may be raised, and other work of the recipient may end. */
  #restOf(error: unknown): number {
    const afterMs = error instanceof DuctorError ? error.retryAfterMs : undefined;
    return Math.min(this.#pollMs, Math.max(1, afterMs ?? this.#pollMs));
  }

  async #handle(item: ClaimItemView): Promise<void> {
    const { handler, recipientId, options } = this.work;
    try {
      if (this.#signal.aborted) return await this.#release(item, 'the loop has ended');
      await handler(item, { signal: this.#signal });
    } catch (error) {
      if (!this.#signal.aborted) options.onError?.(error, item);
      return this.#release(item, error instanceof Error ? error.message : String(error));
    }
    await this.#end(item, () => this.items.complete(item.id, recipientId));
  }

  async #release(item: ClaimItemView, why: string): Promise<void> {
    this.#failed.add(item.id);
    const reason = shown(why);
    await this.#end(item, () => this.items.release(item.id, this.work.recipientId, { reason }));
  }

  /** Ends what it has, whether or not the loop has ended. What was taken away from it meanwhile is over anyway. */
  async #end(item: ClaimItemView, call: () => Promise<ClaimItemView>): Promise<void> {
    for (;;) {
      try {
        await call();
        return;
      } catch (error) {
        this.work.options.onError?.(error, item);
        if (PASSED_OVER.has(codeOf(error)) || codeOf(error) === 'not_found') return;
        if (!isPassing(error)) throw error;
        if (this.#signal.aborted) return;
        await rest(this.system, this.#pollMs, this.#signal);
      }
    }
  }

  /** Calls until it is answered; undefined: the loop has ended meanwhile. */
  async #surely<T>(call: () => Promise<T>): Promise<T | undefined> {
    while (!this.#signal.aborted) {
      try {
        return await call();
      } catch (error) {
        if (!isPassing(error) || FULL.has(codeOf(error))) throw error;
        this.work.options.onError?.(error, undefined);
        await rest(this.system, this.#pollMs, this.#signal);
      }
    }
    return undefined;
  }
}

/** Runs the loop. */
export async function workClaims(items: ClaimWorkCalls, system: System, work: ClaimWork): Promise<void> {
  checkNames('claim work', work.options, OPTIONS);
  await new Loop(items, system, work).run();
}
