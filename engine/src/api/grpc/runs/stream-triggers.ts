/**
 * StreamTriggers: the caller sends batches of starts, each is answered once, when the starts of the batch are settled.
 *
 *   open --drain--> ending (what is under way is answered) -> ended;  open --the caller is done--> ending
 * Invariants:
 * 1. A stream has at most MAX_STARTING starts under way but for its last message; beyond, it is not read.
 * 2. A stream that ends by itself ends after the answers of all batches it has read.
 */
import { DuctorError } from '../../../kernel/index.js';
import {
  RunServiceService,
  type StreamTriggersRequest,
  type StreamTriggersResponse,
} from '../../../gen/ductor/v1/run.js';
import { deedOf, type Principal } from '../../../tenancy/index.js';
import type { Answers, BidiStream, StreamEvents } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import type { Cause } from './start-run.js';
import { MAX_ITEMS, triggerAll, type Triggers } from './trigger-runs.js';

/** Starts one stream may have under way. */
const MAX_STARTING = 4_000;
const METHOD = RunServiceService.streamTriggers.path;

/** One stream. */
class TriggerStream implements StreamEvents<StreamTriggersRequest> {
  readonly #cause: Cause;
  #starting = 0;
  #isFull = false;
  #isPaused = false;
  #isEnding = false;

  constructor(
    readonly triggers: Triggers,
    readonly principal: Principal,
    readonly answers: Answers<StreamTriggersResponse>,
    readonly over: () => void,
  ) {
    this.#cause = { deed: deedOf(principal, METHOD), traceparent: undefined };
  }

  received({ batchId, items }: StreamTriggersRequest): void {
    const checks = new FieldChecks();
    checks.count('items', items.length, 1, MAX_ITEMS);
    checks.done();
    this.#starting += items.length;
    this.#readOrNot();
    void triggerAll(this.triggers, this.principal.tenantId, items, this.#cause).then((outcomes) => {
      this.#starting -= items.length;
      if (!this.answers.write({ batchId, outcomes })) this.#isFull = true;
      this.#readOrNot();
      this.#endWhenDone();
    });
  }

  drained(): void {
    this.#isFull = false;
    this.#readOrNot();
  }

  finished(): void {
    this.#isEnding = true;
    this.#endWhenDone();
  }

  gone(): void {
    this.over();
  }

  #readOrNot(): void {
    const isTooMuch = this.#isFull || this.#starting > MAX_STARTING;
    if (isTooMuch === this.#isPaused) return;
    this.#isPaused = isTooMuch;
    if (isTooMuch) this.answers.pause();
    else this.answers.resume();
  }

  #endWhenDone(): void {
    if (this.#isEnding && this.#starting === 0) this.answers.end(null);
  }
}

/** The streams of a node. */
export interface TriggerStreams {
  readonly handler: BidiStream<StreamTriggersRequest, StreamTriggersResponse>;
  /** Ends all streams, so that their callers go to another node; those that come later are refused. */
  drain(): void;
}

/** Starts by streams. */
export function triggerStreams(triggers: Triggers): TriggerStreams {
  const open = new Set<TriggerStream>();
  let isDraining = false;
  return {
    handler(principal, answers) {
      if (isDraining) throw new DuctorError('node_starting', 'this node is stopping');
      const stream: TriggerStream = new TriggerStream(triggers, principal, answers, () => open.delete(stream));
      open.add(stream);
      return stream;
    },
    drain() {
      isDraining = true;
      for (const stream of [...open]) stream.finished();
    },
  };
}
