/**
 * AwaitRuns: the caller names runs, each is answered once, when it has ended; one that is named again after its answer
 * is answered again. Answers of one turn go as one message.
 */
import { DuctorError, isUuid, type Clock } from '../../../kernel/index.js';
import { RunState, type AwaitRunsRequest, type AwaitRunsResponse, type RunResult } from '../../../gen/ductor/v1/run.js';
import type { Answers, BidiStream, StreamEvents } from '../call.js';
import { RUN_STATES } from '../wire/enums.js';
import { failureOf } from '../wire/run.js';
import { payloadOf } from '../wire/value.js';
import type { RunEnd } from './closed-runs.js';
import type { RecentStarts } from './recent-starts.js';
import type { RunFeed } from './run-feed.js';

/** What it needs. */
export interface AwaitRunsOptions {
  readonly feed: RunFeed;
  readonly starts: RecentStarts;
  readonly clock: Clock;
}

/** Runs one stream may wait for at a time. */
const MAX_AWAITED = 100_000;
/** Where a message is cut, bytes of outputs. */
const CUT_BYTES = 1024 * 1024;

function resultOf(runId: string, end: RunEnd): RunResult {
  if (end !== null) {
    const output = end.output === null ? undefined : payloadOf(end.output);
    const error = end.error === null ? undefined : failureOf(end.error);
    return { runId, state: RUN_STATES[end.status], output, error };
  }
  const message = `there is no run ${runId}`;
  const error = { code: 'not_found', message, step: '', attempt: 0, retryable: false, stack: '', causes: [] };
  return { runId, state: RunState.RUN_STATE_UNSPECIFIED, output: undefined, error };
}

/** One stream. */
class AwaitStream implements StreamEvents<AwaitRunsRequest> {
  readonly #awaited = new Map<string, () => void>();
  #results: RunResult[] = [];
  #isFull = false;
  #isFlushDue = false;
  #isFinished = false;

  constructor(
    readonly tenantId: string,
    readonly answers: Answers<AwaitRunsResponse>,
    readonly options: AwaitRunsOptions,
  ) {}

  received({ runIds }: AwaitRunsRequest): void {
    const wrong = runIds.find((runId) => !isUuid(runId));
    if (wrong !== undefined) {
      throw new DuctorError('invalid_argument', `run id ${JSON.stringify(wrong.slice(0, 200))} is not a UUID`);
    }
    if (this.#awaited.size + runIds.length > MAX_AWAITED) {
      throw new DuctorError('limit_exceeded', `one stream waits for at most ${MAX_AWAITED} runs`);
    }
    for (const runId of new Set(runIds)) this.#await(runId);
  }

  drained(): void {
    this.#isFull = false;
    this.#flush();
  }

  finished(): void {
    this.#isFinished = true;
    this.#flush();
  }

  gone(): void {
    for (const stop of this.#awaited.values()) stop();
    this.#awaited.clear();
    this.#results = [];
  }

  #await(runId: string): void {
    if (this.#awaited.has(runId)) return;
    const { feed, starts } = this.options;
    const key = { tenantId: this.tenantId, runId };
    // Named first: the feed may call back before it returns.
    this.#awaited.set(runId, () => undefined);
    const stop = feed.awaitEnd(key, starts.has(key), (end) => {
      this.#awaited.delete(runId);
      this.#results.push(resultOf(runId, end));
      this.#scheduleFlush();
    });
    if (this.#awaited.has(runId)) this.#awaited.set(runId, stop);
  }

  #scheduleFlush(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    // After all news of the commit that brought this one, and before anything of less hurry that waits for the turn.
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (!this.#isFull && this.#results.length > 0) {
      let bytes = 0;
      const size = this.#results.findIndex(({ output }) => (bytes += 200 + (output?.data.length ?? 0)) > CUT_BYTES);
      const results = this.#results.splice(0, size === -1 ? this.#results.length : Math.max(1, size));
      this.#isFull = !this.answers.write({ results });
    }
    if (this.#isFinished && this.#awaited.size === 0 && this.#results.length === 0) this.answers.end(null);
  }
}

/** The handler. */
export function awaitRuns(options: AwaitRunsOptions): BidiStream<AwaitRunsRequest, AwaitRunsResponse> {
  return ({ tenantId }, answers) => new AwaitStream(tenantId, answers, options);
}
