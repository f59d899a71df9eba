/** What can be asked of a run once it is started: to end, to wait, to go on, to say why it waits. */
import type { CallOptions, ClientUnaryCall, Metadata, ServiceError } from '@grpc/grpc-js';
import type { ExplainRunResponse, Run, RunServiceClient } from '../gen/ductor/v1/run.js';
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
  /** Lets a parked run go on with a new attempt of the step that parked it. Throws run_not_parked, unimplemented. */
  retry(): Promise<RunView>;
  /** The one reason it waits for. */
  explain(): Promise<RunExplanationView>;
}

/** Credentials and deadline of the next call. */
export interface CallSetup {
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
    resume: () => ask(({ metadata, options }, done) => runs.resumeRun({ runId }, metadata, options, done)),
    retry: () => ask(({ metadata, options }, done) => runs.retryRun({ runId }, metadata, options, done)),
    async explain() {
      checkRunCall(runId);
      const { metadata, options } = setup();
      const { data } = await unary<ExplainRunResponse>((done) => runs.explainRun({ runId }, metadata, options, done));
      return explanationView(present(data));
    },
  };
}
