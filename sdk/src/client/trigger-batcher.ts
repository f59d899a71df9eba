/**
 * Gathers the triggers of one turn of the event loop into one call, so that a thousand concurrent starts share a
 * commit.
 * At most CALLS_MAX calls are out; what comes meanwhile gathers for the next.
 */
import type { Failure } from '../gen/ductor/v1/common.js';
import type { TriggerOutcome, TriggerRunRequest } from '../gen/ductor/v1/run.js';
import { DuctorError } from '../errors.js';
import { retryAfterMs } from './call-error.js';

const ITEMS_MAX = 500;
const BYTES_MAX = 2 * 1024 * 1024;
const CALLS_MAX = 4;

interface Waiting {
  readonly item: TriggerRunRequest;
  readonly resolve: (outcome: TriggerOutcome) => void;
  readonly reject: (error: Error) => void;
}

/** Sends the items of one call; one outcome each, in order. */
export type TriggerCall = (items: TriggerRunRequest[]) => Promise<readonly TriggerOutcome[]>;

/** Batches triggers. */
export class TriggerBatcher {
  readonly #call: TriggerCall;
  readonly #nextTurn: (callback: () => void) => void;
  #waiting: Waiting[] = [];
  #out = 0;
  #scheduled = false;

  constructor(call: TriggerCall, nextTurn: (callback: () => void) => void) {
    this.#call = call;
    this.#nextTurn = nextTurn;
  }

  /** Resolves with the started run. Throws DuctorError when this item was refused or the call failed. */
  async trigger(item: TriggerRunRequest): Promise<TriggerOutcome> {
    const outcome = await new Promise<TriggerOutcome>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
    if (outcome.error === undefined) return outcome;
    throw refused(outcome.error, outcome);
  }

  #schedule(): void {
    if (this.#scheduled || this.#out >= CALLS_MAX || this.#waiting.length === 0) return;
    this.#scheduled = true;
    this.#nextTurn(() => {
      this.#scheduled = false;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    const batch = this.#take();
    this.#out += 1;
    this.#schedule();
    try {
      const outcomes = await this.#call(batch.map((waiting) => waiting.item));
      batch.forEach((waiting, index) => {
        const outcome = outcomes[index];
        if (outcome === undefined)
          waiting.reject(new DuctorError('internal', 'the engine answered fewer outcomes than it was sent items'));
        else waiting.resolve(outcome);
      });
    } catch (error) {
      const reason = error instanceof Error ? error : new DuctorError('internal', String(error));
      for (const waiting of batch) waiting.reject(reason);
    } finally {
      this.#out -= 1;
      this.#schedule();
    }
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { item } of this.#waiting) {
      bytes += (item.inputPayload?.data.byteLength ?? 0) + 200;
      if (count > 0 && (bytes > BYTES_MAX || count >= ITEMS_MAX)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }
}

function refused(error: Failure, { problems, retryAfter }: TriggerOutcome): DuctorError {
  return new DuctorError(error.code, error.message, {
    details: problems,
    retryable: error.retryable,
    ...(retryAfter !== '' && { retryAfterMs: retryAfterMs(retryAfter) }),
  });
}
