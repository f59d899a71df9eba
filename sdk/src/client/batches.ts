/** Many runs at once: previewed, then carried out page by page; and parked runs by what parked them. */
import type { CallOptions, Metadata } from '@grpc/grpc-js';
import {
  BatchAction,
  type BatchRunsRequest,
  type BatchRunsResponse,
  type DeadLetterGroup,
  type ListDeadLettersResponse,
  RunFilter,
  type RunServiceClient,
  RunState,
} from '../gen/ductor/v1/run.js';
import { checkBatch, checkDeadLetters } from './request-checks.js';
import type { BatchActionName, BatchFilter, BatchRunOptions } from './request-options.js';
import { dateOf, type RunView, runStateNumber, runView, timestampOf } from './run-view.js';
import { present, unary } from './unary.js';

/** What a batch would change. */
export interface BatchPreview {
  /** Runs found; at most 1,000 are counted. */
  readonly matched: number;
  /** There are more than were counted. */
  readonly isMore: boolean;
  /** The first 10, newest first, without steps and values. */
  readonly sample: readonly RunView[];
  /** For `run`: it carries out what was previewed, and nothing else. */
  readonly confirmation: string;
}

/** What a page of a batch changed. */
export interface BatchProgress {
  /** Runs that were asked. */
  readonly done: number;
  /** Runs that had ended meanwhile, were not parked any more, or had been tried again by a batch before. */
  readonly skipped: number;
  /** Runs that refused for another reason; at most 20 a page. */
  readonly failures: readonly { readonly runId: string; readonly code: string; readonly message: string }[];
  /** For `run`, to go on after this page; undefined: it was the last. */
  readonly nextCursor: string | undefined;
}

/** Parked runs that were parked by the same thing. */
export interface DeadLetterView {
  /** For the filter of a batch. */
  readonly fingerprint: string;
  readonly workflow: string;
  /** Step whose attempts parked them, without the numbers of items and iterations; empty: none did. */
  readonly step: string;
  /** Why they were parked: attempts_exhausted, poison_commit, ... */
  readonly reason: string;
  /** Code of the step's last error; empty: it has none. */
  readonly errorCode: string;
  /** Of the run that was parked last. */
  readonly message: string;
  readonly count: number;
  readonly firstParkedAt: Date | undefined;
  readonly lastParkedAt: Date | undefined;
  /** The run that was parked last. */
  readonly exampleRunId: string;
}

/** Calls about many runs. All throw DuctorError. */
export interface BatchCalls {
  /** Says what a batch would change, and changes nothing. */
  preview(action: BatchActionName, filter?: BatchFilter): Promise<BatchPreview>;
  /**
   * Carries out what was previewed, page by page, as far as it is iterated: `for await (const page of …)`. After a
   * failure it goes on from the `nextCursor` of the last page. Runs that started after the preview are left alone.
   */
  run(action: BatchActionName, filter: BatchFilter, options: BatchRunOptions): AsyncIterable<BatchProgress>;
  /** Parked runs by what parked them, the largest group first. */
  deadLetters(options?: { readonly workflow?: string }): Promise<readonly DeadLetterView[]>;
}

type Setup = () => { readonly metadata: Metadata; readonly options: CallOptions };

function filterMessage(filter: BatchFilter): RunFilter {
  const { state, workflow, startedAfter, startedBefore, attributes, root, parent, fingerprint } = filter;
  return RunFilter.fromPartial({
    state: state === undefined ? RunState.RUN_STATE_UNSPECIFIED : runStateNumber(state),
    ...{ familySlug: workflow ?? '', attributes: { ...attributes }, rootRunId: root ?? '', parentRunId: parent ?? '' },
    fingerprint: fingerprint ?? '',
    ...(startedAfter !== undefined && { startedAfter: timestampOf(startedAfter) }),
    ...(startedBefore !== undefined && { startedBefore: timestampOf(startedBefore) }),
  });
}

function deadLetterView(group: DeadLetterGroup): DeadLetterView {
  const { familySlug, firstParkedAt, lastParkedAt, ...same } = group;
  return {
    ...same,
    workflow: familySlug,
    firstParkedAt: dateOf(firstParkedAt),
    lastParkedAt: dateOf(lastParkedAt),
  };
}

/** Two groups of one fingerprint, of two calls, as one. */
function joined(one: DeadLetterView | undefined, two: DeadLetterView): DeadLetterView {
  if (one === undefined) return two;
  const time = (date: Date | undefined): number => date?.getTime() ?? 0;
  const later = time(one.lastParkedAt) > time(two.lastParkedAt) ? one : two;
  const first = time(one.firstParkedAt) < time(two.firstParkedAt) ? one : two;
  return { ...later, count: one.count + two.count, firstParkedAt: first.firstParkedAt };
}

/** The calls of a client. */
export function batchCalls(runs: RunServiceClient, setup: Setup): BatchCalls {
  const ask = async (request: Partial<BatchRunsRequest>): Promise<NonNullable<BatchRunsResponse['data']>> => {
    const { metadata, options } = setup();
    const whole: BatchRunsRequest = {
      ...{ action: BatchAction.BATCH_ACTION_UNSPECIFIED, filter: undefined, reason: '', pageSize: 0 },
      ...{ confirmation: '', cursor: '', ...request },
    };
    const { data } = await unary<BatchRunsResponse>((done) => runs.batchRuns(whole, metadata, options, done));
    return present(data);
  };
  return {
    async preview(action, filter = {}) {
      checkBatch(action, filter, {});
      const request = { action: BatchAction[`BATCH_ACTION_${action}`], filter: filterMessage(filter) };
      const { matched, isMore, sample, confirmation } = await ask(request);
      return { matched, isMore, sample: sample.map(runView), confirmation };
    },
    async *run(action, filter, options) {
      checkBatch(action, filter, options);
      const { confirmation, reason = '', pageSize = 0 } = options;
      let cursor: string | undefined = options.cursor ?? '';
      while (cursor !== undefined) {
        const request = { action: BatchAction[`BATCH_ACTION_${action}`], filter: filterMessage(filter) };
        const report = await ask({ ...request, reason, pageSize, confirmation, cursor });
        cursor = report.nextCursor === '' ? undefined : report.nextCursor;
        const { done, skipped, failures } = report;
        yield { done, skipped, failures, nextCursor: cursor };
      }
    },
    async deadLetters({ workflow = '' } = {}) {
      checkDeadLetters(workflow);
      const groups = new Map<string, DeadLetterView>();
      let cursor = '';
      do {
        const { metadata, options } = setup();
        const request = { familySlug: workflow, cursor };
        const { data, pagination } = await unary<ListDeadLettersResponse>((done) =>
          runs.listDeadLetters(request, metadata, options, done),
        );
        for (const group of data.map(deadLetterView)) {
          groups.set(group.fingerprint, joined(groups.get(group.fingerprint), group));
        }
        cursor = pagination?.nextCursor ?? '';
      } while (cursor !== '');
      return [...groups.values()].sort((a, b) => b.count - a.count);
    },
  };
}
