/** What a run is asked and answers: updates and queries. */
import { randomUUID } from 'node:crypto';
import { DuctorError } from '../errors.js';
import {
  type QueryRunResponse,
  type RunServiceClient,
  type RunUpdate,
  UpdateRunRequest,
  type UpdateRunResponse,
  UpdateState,
} from '../gen/ductor/v1/run.js';
import { checkRunCall } from './request-checks.js';
import type { CallSetup } from './run-controls.js';
import { present, unary } from './unary.js';

/** Questions to a run. */
export interface RunQuestions {
  /**
   * Asks something of it and waits for the answer: what the step that takes it puts out. Asking again with the same id
   * asks for the same answer. Throws update_unknown, update_refused, invalid_argument for an input that its schema
   * refuses, run_closed, deadline_exceeded, and the code of the step's error when that failed.
   */
  update<Out = unknown>(name: string, input?: unknown, options?: UpdateRunOptions): Promise<Out>;
  /** What it tells of itself under a name, as it stands, open or closed. Throws query_unknown, expression_failed. */
  query<Out = unknown>(name: string): Promise<Out>;
}

/** How an update is sent, and how long its answer is waited for. */
export interface UpdateRunOptions {
  /** The same id is taken once, within 24 hours: sending it again is safe. Default: one that is drawn. */
  readonly id?: string;
  /** Stops waiting after so many ms with deadline_exceeded; the update stays with the run. Default: never. */
  readonly timeoutMs?: number;
}

/** How long one call waits; the next one goes on. */
const CALL_WAIT_MS = 20_000;

function failed(runId: string, { name, error }: RunUpdate): DuctorError {
  const { code = 'internal', message = 'no reason was recorded' } = error ?? {};
  return new DuctorError(code, `update ${name} of run ${runId} failed: ${message}`);
}

/** The questions of one run. */
export function runQuestions(runs: RunServiceClient, runId: string, setup: () => CallSetup): RunQuestions {
  const ask = async (request: UpdateRunRequest): Promise<RunUpdate> => {
    const { metadata, options } = setup();
    const { data } = await unary<UpdateRunResponse>((done) => runs.updateRun(request, metadata, options, done));
    return present(data);
  };
  return {
    async update<Out>(name: string, input?: unknown, options: UpdateRunOptions = {}): Promise<Out> {
      checkRunCall(runId);
      const { id: updateId = randomUUID(), timeoutMs = Number.POSITIVE_INFINITY } = options;
      const { values } = setup();
      const inputBytes = values.toPayload(input, `input of update ${name}`);
      for (let leftMs = timeoutMs; ; leftMs -= CALL_WAIT_MS) {
        const wait = `${Math.floor(Math.max(0, Math.min(CALL_WAIT_MS, leftMs)))}ms`;
        const answer = await ask(UpdateRunRequest.fromPartial({ runId, name, updateId, inputBytes, wait }));
        if (answer.state === UpdateState.UPDATE_STATE_COMPLETED) {
          const { output, outputBytes } = answer;
          return (outputBytes === undefined ? output : values.fromPayload(outputBytes)) as Out;
        }
        if (answer.state === UpdateState.UPDATE_STATE_FAILED) throw failed(runId, answer);
        if (leftMs > CALL_WAIT_MS) continue;
        const message = `run ${runId} has not answered update ${name} ${updateId} within ${timeoutMs} ms`;
        throw new DuctorError('deadline_exceeded', message, { remedy: 'ask again with the same id', retryable: true });
      }
    },
    async query<Out>(name: string): Promise<Out> {
      checkRunCall(runId);
      const { metadata, options, values } = setup();
      const request = { runId, name };
      const { data } = await unary<QueryRunResponse>((done) => runs.queryRun(request, metadata, options, done));
      const { value, valueBytes } = present(data);
      return (valueBytes === undefined ? value : values.fromPayload(valueBytes)) as Out;
    },
  };
}
