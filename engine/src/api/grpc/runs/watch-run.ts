/**
 * WatchRun: the run now, and again whenever it has changed, until it is closed. A slow reader skips states. A run that
 * is continued is followed by the last one of its chain.
 */
import { DuctorError } from '../../../kernel/index.js';
import type { WatchRunRequest, WatchRunResponse } from '../../../gen/ductor/v1/run.js';
import type { Answers, AnswerEvents, ServerStream } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import { isClosed, type PlanSource, type RunKey, type RunReader } from '../ports.js';
import { runOf } from '../wire/run.js';
import type { RunFeed } from './run-feed.js';
import type { RunLoader } from './run-loader.js';

/** What it needs. */
export interface WatchRunOptions {
  readonly feed: RunFeed;
  readonly load: RunLoader;
  readonly reader: Pick<RunReader, 'lastOfChain'>;
  readonly plans: PlanSource;
}

/**
 * One stream: looks at the run when it may have changed, one look at a time, and sends it when its journal has grown.
 *
 *   idle -> looking -> idle;  a hint while looking: looks once more
 */
class WatchStream implements AnswerEvents {
  #sentSeq = 0;
  #isLooking = false;
  #isStale = false;
  #isFull = false;
  #isOver = false;
  #key: RunKey;
  #stop: () => void;

  constructor(
    key: RunKey,
    readonly answers: Answers<WatchRunResponse>,
    readonly options: WatchRunOptions,
  ) {
    // Before the first look, so that no change falls between the two.
    this.#key = key;
    this.#stop = options.feed.watch(key, () => this.#hint());
    this.#hint();
  }

  /** Goes on with the last run of the chain. */
  #follow(last: RunKey): void {
    this.#stop();
    if (this.#isOver) return;
    this.#key = last;
    this.#sentSeq = 0;
    this.#stop = this.options.feed.watch(this.#key, () => this.#hint());
    this.#isStale = true;
  }

  drained(): void {
    this.#isFull = false;
    this.#hint();
  }

  gone(): void {
    this.#isOver = true;
    this.#stop();
  }

  #hint(): void {
    this.#isStale = true;
    if (this.#isLooking || this.#isFull || this.#isOver) return;
    this.#isLooking = true;
    void this.#look();
  }

  async #look(): Promise<void> {
    try {
      while (this.#isStale && !this.#isFull && !this.#isOver) {
        this.#isStale = false;
        await this.#lookOnce();
      }
    } catch (error) {
      this.answers.end(error);
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookOnce(): Promise<void> {
    const { load, plans, reader } = this.options;
    const state = await load(this.#key);
    if (state === undefined) throw new DuctorError('not_found', `there is no run ${this.#key.runId}`);
    if (state.seq <= this.#sentSeq || this.#isOver) return;
    this.#sentSeq = state.seq;
    const { tenantId, familySlug, version } = state;
    const plan = plans.peek(tenantId, familySlug, version) ?? (await plans.load(tenantId, familySlug, version));
    this.#isFull = !this.answers.write({ data: runOf(state, plan) });
    if (state.continuedAs !== null) this.#follow(await reader.lastOfChain(this.#key));
    else if (isClosed(state)) this.answers.end(null);
  }
}

/** The handler. */
export function watchRun(options: WatchRunOptions): ServerStream<WatchRunRequest, WatchRunResponse> {
  return ({ runId }, { tenantId }, answers) => {
    const checks = new FieldChecks();
    checks.uuid('run_id', runId);
    checks.done();
    return new WatchStream({ tenantId, runId }, answers, options);
  };
}
