/** What can be asked of a run once it is started: to end, to wait, to go on, to say why it waits. */
import { randomUUID } from 'node:crypto';
import type { CallOptions, ClientUnaryCall, Metadata, ServiceError } from '@grpc/grpc-js';
import {
  type ExplainRunResponse,
  type ForkRunResponse,
  type Run,
  type RunServiceClient,
  SignalRunRequest,
} from '../gen/ductor/v1/run.js';
import type { Connection } from '../connection/connection.js';
import { checkRunCall } from './request-checks.js';
import { type RunExplanationView, type RunView, explanationView, runView } from './run-view.js';
import { present, unary } from './unary.js';

/** Requests to a run. All resolve once the request is durable; the run as it is then may still have to follow it. */
export interface RunControls {
  /** Asks it to end: running steps are told to stop and are waited for. */
  cancel(reason?: string): Promise<RunView>;
  /** Ends it at once, whatever runs. */
  terminate(reason?: string): Promise<RunView>;
  /** Holds it: nothing new begins, what runs may end. */
  pause(reason?: string): Promise<RunView>;
  /** Lets it go on after a pause, or after it was parked. */
  resume(): Promise<RunView>;
  /**
   * Tries again what went wrong: a parked run goes on in place; of one that has ended a new run is started, which keeps
   * what ended well, and is answered. Throws run_not_parked, invalid_argument, idempotency_conflict, run_key_taken.
   */
  retry(options?: RetryRunOptions): Promise<RunView>;
  /**
   * Says something to it. Resolves once the run is sure to hear it, exactly once. Throws signal_unknown, run_closed,
   * mailbox_full, invalid_argument for a payload that the step's schema refuses.
   */
  signal(name: string, payload?: unknown, options?: SendOptions): Promise<RunView>;
  /** Decides an approval. Throws approval_not_open, not_assignee, invalid_argument, run_closed. */
  decide(approval: string, option: string, decision?: DecisionOptions): Promise<RunView>;
  /**
   * Starts a run that takes over what this one came to, open or closed, up to a step of the definition: that step runs
   * again, with all that follow from it. Throws invalid_argument for a step that is not there, not_found.
   */
  fork(from: string, options?: ForkOptions): Promise<RunView>;
  /** What a fork would be: which steps it would keep, and what differs between the definitions. Starts nothing. */
  previewFork(from: string, options?: Pick<ForkOptions, 'version'>): Promise<ForkPreview>;
  /** The one reason it waits for. */
  explain(): Promise<RunExplanationView>;
}

/** How a signal is sent. */
export interface SendOptions {
  /** The same id is heard once, within 24 hours: sending it again is safe. Default: one that is drawn. */
  readonly id?: string;
}

/** How a run that has ended is tried again. */
export interface RetryRunOptions {
  /** Ref of a step that runs again, with all that follow from it. Default: what has not ended well. */
  readonly from?: string;
  /** The same key answers the run that was started first. */
  readonly idempotencyKey?: string;
  /** Why, for the audit trail. */
  readonly reason?: string;
}

/** How a run is forked. */
export interface ForkOptions {
  /** Version that the fork executes. Default: that of the run. */
  readonly version?: number;
  /** The same key answers the fork that was started first. */
  readonly idempotencyKey?: string;
  /** Why, for the audit trail. */
  readonly reason?: string;
}

/** What a fork would be. */
export interface ForkPreview {
  /** Steps of the definition in its order. */
  readonly steps: readonly {
    readonly ref: string;
    /** It is taken over as it ended; otherwise it runs again. */
    readonly isKept: boolean;
  }[];
  /** What differs between the definition of the run and that of the fork; undefined: it is not there on that side. */
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[];
}

/** What goes with a decision. */
export interface DecisionOptions extends SendOptions {
  /** Who decided, one of the assignees. Default: the caller's key. */
  readonly by?: string;
  readonly comment?: string;
  readonly form?: unknown;
}

/** Credentials and deadline of the next call, and how values travel. */
export interface CallSetup {
  readonly values: Connection['values'];
  readonly metadata: Metadata;
  readonly options: CallOptions;
}

type Answer = (error: ServiceError | null, response: { data?: Run | undefined }) => void;

/** The requests of one run. */
export function runControls(runs: RunServiceClient, runId: string, setup: () => CallSetup): RunControls {
  const ask = async (call: (next: CallSetup, done: Answer) => ClientUnaryCall, reason?: string): Promise<RunView> => {
    checkRunCall(runId, reason);
    const { data } = await unary<{ data?: Run | undefined }>((done) => call(setup(), done));
    return runView(present(data));
  };
  return {
    cancel: (reason = '') =>
      ask(({ metadata, options }, done) => runs.cancelRun({ runId, reason }, metadata, options, done), reason),
    terminate: (reason = '') =>
      ask(({ metadata, options }, done) => runs.terminateRun({ runId, reason }, metadata, options, done), reason),
    pause: (reason = '') =>
      ask(({ metadata, options }, done) => runs.pauseRun({ runId, reason }, metadata, options, done), reason),
    fork: (from, { version = 0, idempotencyKey = '', reason = '' } = {}) =>
      ask(({ metadata, options }, done) => {
        const request = { runId, from, version, dryRun: false, idempotencyKey, reason };
        return runs.forkRun(request, metadata, options, done);
      }, reason),
    async previewFork(from, { version = 0 } = {}) {
      checkRunCall(runId);
      const { metadata, options } = setup();
      const request = { runId, from, version, dryRun: true, idempotencyKey: '', reason: '' };
      const { steps, changes } = await unary<ForkRunResponse>((done) => runs.forkRun(request, metadata, options, done));
      return {
        steps: steps.map(({ ref, kept: isKept }) => ({ ref, isKept })),
        changes: changes.map(({ path, before, after }) => ({ path, before, after })),
      };
    },
    resume: () => ask(({ metadata, options }, done) => runs.resumeRun({ runId }, metadata, options, done)),
    retry: ({ from = '', idempotencyKey = '', reason = '' } = {}) =>
      ask(({ metadata, options }, done) => {
        return runs.retryRun({ runId, from, idempotencyKey, reason }, metadata, options, done);
      }, reason),
    async signal(name, payload, { id } = {}) {
      const request = SignalRunRequest.fromPartial({
        ...{ runId, name, signalId: id ?? randomUUID() },
        payloadBytes: setup().values.toPayload(payload, `payload of signal ${name}`),
      });
      return ask(({ metadata, options }, done) => runs.signalRun(request, metadata, options, done));
    },
    async decide(name, option, { id, by = '', comment = '', form } = {}) {
      const what = `form of decision ${name}`;
      const formBytes = form === undefined ? undefined : setup().values.toPayload(form, what);
      const decision = { option, by, comment, formBytes };
      const request = SignalRunRequest.fromPartial({ runId, name, signalId: id ?? randomUUID(), decision });
      return ask(({ metadata, options }, done) => runs.signalRun(request, metadata, options, done));
    },
    async explain() {
      checkRunCall(runId);
      const { metadata, options } = setup();
      const { data } = await unary<ExplainRunResponse>((done) => runs.explainRun({ runId }, metadata, options, done));
      return explanationView(present(data));
    },
  };
}
