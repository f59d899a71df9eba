/** DuctorClient: starts runs, waits for their results, watches, cancels and lists them. */
import { randomUUID } from 'node:crypto';
import type { CallOptions, ClientOptions, ClientReadableStream, Metadata, ServiceError } from '@grpc/grpc-js';
import type { Failure } from '../gen/ductor/v1/common.js';
import {
  type GetRunResponse,
  type ListRunsRequest,
  type ListRunsResponse,
  RunKeyConflict,
  RunServiceClient,
  RunState,
  SignalWithStartRequest,
  type SignalWithStartResponse,
  type TriggerOutcome,
  TriggerRunRequest,
  type WatchRunResponse,
} from '../gen/ductor/v1/run.js';
import {
  CHANNEL_OPTIONS,
  type Connection,
  type ConnectionOptions,
  channelTarget,
  resolveConnection,
} from '../connection/connection.js';
import { type Tracer, tracerOf } from '../connection/open-telemetry.js';
import { type System, machine } from '../connection/system.js';
import { DuctorError, RunFailedError } from '../errors.js';
import { SDK_VERSION } from '../version.js';
import type { Workflow } from '../workflow/define-workflow.js';
import { callError } from './call-error.js';
import { type BatchCalls, batchCalls } from './batches.js';
import { pastRefusals } from './past-refusals.js';
import { checkList, checkRunCall, checkTrigger } from './request-checks.js';
import type { ListOptions, SignalWithStartOptions, TriggerOptions } from './request-options.js';
import { ResultStream } from './result-stream.js';
import { type CallSetup, type RunControls, runControls } from './run-controls.js';
import { type RunQuestions, runQuestions } from './run-questions.js';
import { failureView, type RunView, runStateName, runStateNumber, runView, timestampOf } from './run-view.js';
import { bundleCalls, type BundleCalls, type BundleChannel } from './bundles.js';
import { claimCalls, type ClaimCalls, type ClaimChannel } from './claims.js';
import { poolCalls, type PoolCalls, type PoolChannel } from './pools.js';
import { recipientCalls, type RecipientCalls, type RecipientChannel } from './recipients.js';
import { routingCalls, type RoutingCalls, type RoutingChannel } from './routing.js';
import { ruleCalls, type RuleCalls, type RuleChannel } from './rules.js';
import { type ScheduleCalls, type ScheduleChannel, scheduleCalls } from './schedules.js';
import { present, unary } from './unary.js';
import { TriggerBatcher } from './trigger-batcher.js';
import { TriggerStream } from './trigger-stream.js';

/** Calls that may be repeated after UNAVAILABLE without harm; triggers are not among them unless they carry a key. */
const RETRIED_METHODS = ['GetRun', 'ListRuns', 'GetRunHistory', 'ExplainRun', 'CancelRun', 'TerminateRun'].concat([
  'SignalRun',
  'SignalWithStart',
]);
/** How long a call may take, ms. */
const CALL_LIMIT_MS = 30_000;
const CLIENT_OPTIONS: ClientOptions = {
  ...CHANNEL_OPTIONS,
  'grpc.service_config': JSON.stringify({
    methodConfig: [
      {
        name: RETRIED_METHODS.map((method) => ({ service: 'ductor.v1.RunService', method })),
        retryPolicy: {
          maxAttempts: 5,
          initialBackoff: '0.1s',
          maxBackoff: '2s',
          backoffMultiplier: 2,
          retryableStatusCodes: ['UNAVAILABLE'],
        },
      },
    ],
  }),
};

/** How long to wait. */
export interface WaitOptions {
  /** Stops waiting; the run goes on. */
  readonly signal?: AbortSignal;
  /** Stops waiting after so many ms with DuctorError deadline_exceeded; the run goes on. Default: never. */
  readonly timeoutMs?: number;
}

/** One page of runs. */
export interface RunPage {
  readonly runs: readonly RunView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** A started run. */
export interface RunHandle<Out> extends RunControls, RunQuestions {
  readonly id: string;
  readonly version: number;
  /** The idempotency key was known: this is the earlier run. */
  readonly existing: boolean;
  /** What the run answers, or the last one of its chain. Throws RunFailedError when that ended otherwise. */
  result(options?: WaitOptions): Promise<Out>;
  /** The run now and at each change, until it is closed. */
  watch(): AsyncIterable<RunView>;
}

/** A client of the engine. Cheap to share, one per process is enough; close it in the end. */
export class DuctorClient {
  readonly #connection: Connection;
  readonly #system: System;
  readonly #runs: RunServiceClient;
  readonly #stream: TriggerStream;
  readonly #triggers: TriggerBatcher;
  readonly #results: ResultStream;
  readonly #tracer: Tracer;
  readonly #schedules: ScheduleChannel;
  readonly #bundles: BundleChannel;
  readonly #routing: RoutingChannel;
  readonly #pools: PoolChannel;
  readonly #recipients: RecipientChannel;
  readonly #rules: RuleChannel;
  readonly #claims: ClaimChannel;

  /** Throws DuctorError invalid_argument for an address or key that cannot work. Connects on first use. */
  constructor(options: ConnectionOptions & { readonly system?: System } = {}) {
    this.#connection = resolveConnection(options);
    this.#system = options.system ?? machine;
    const { addresses, credentials, values } = this.#connection;
    this.#runs = new RunServiceClient(channelTarget(addresses), credentials, CLIENT_OPTIONS);
    this.#stream = new TriggerStream(this.#runs, this.#connection, this.#system);
    const setup = (): { metadata: Metadata; options: CallOptions } => ({
      metadata: this.#connection.metadata,
      options: { deadline: this.#deadline() },
    });
    this.#schedules = scheduleCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, values, setup);
    this.#bundles = bundleCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, setup);
    this.#routing = routingCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, setup);
    this.#pools = poolCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, setup);
    this.#recipients = recipientCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, setup);
    this.#rules = ruleCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, setup);
    this.#claims = claimCalls(channelTarget(addresses), credentials, CHANNEL_OPTIONS, setup, this.#system);
    this.#triggers = new TriggerBatcher(
      (items) => this.#stream.send(items, CALL_LIMIT_MS),
      (callback) => this.#system.nextTurn(callback),
    );
    this.#results = new ResultStream(this.#runs, this.#connection, this.#system);
    this.#tracer = tracerOf(options.openTelemetry, SDK_VERSION);
  }

  /**
   * Starts a run. Resolves once the start is durable. Concurrent triggers travel together. A start that an engine has
   * no room for at the moment is sent again, for up to 10 s, at the times that the engine says.
   * Throws ZodError for an input the workflow's schema refuses, DuctorError for what the engine refuses.
   */
  async trigger<In, Out>(workflow: Workflow<In, Out>, input: In, options?: TriggerOptions): Promise<RunHandle<Out>>;
  async trigger(workflow: string, input: unknown, options?: TriggerOptions): Promise<RunHandle<unknown>>;
  async trigger(
    workflow: string | Workflow,
    input: unknown,
    options: TriggerOptions = {},
  ): Promise<RunHandle<unknown>> {
    return this.#trigger(workflow, input, options);
  }

  async #trigger(workflow: string | Workflow, input: unknown, options: TriggerOptions): Promise<RunHandle<unknown>> {
    const slug = typeof workflow === 'string' ? workflow : workflow.slug;
    checkTrigger(slug, options);
    const checked = typeof workflow === 'string' ? input : workflow.parseInput(input);
    const item = this.#item(slug, checked, options);
    const outcome = await this.#tracer.trigger(slug, async (traceparent, started) => {
      const start = (): Promise<TriggerOutcome> => this.#triggers.trigger({ ...item, traceparent });
      const given = await pastRefusals(start, this.#system);
      started(given.runId);
      return given;
    });
    return this.#handle(outcome.runId, outcome.version, outcome.existing);
  }

  /**
   * Starts a run and waits for what it answers: `trigger`, then `result`. A run that continues as new is followed to
   * the end of its chain. Throws what the two throw.
   */
  async triggerAndWait<In, Out>(
    workflow: Workflow<In, Out>,
    input: In,
    options?: TriggerOptions & WaitOptions,
  ): Promise<Out>;
  async triggerAndWait(workflow: string, input: unknown, options?: TriggerOptions & WaitOptions): Promise<unknown>;
  async triggerAndWait(
    workflow: string | Workflow,
    input: unknown,
    { signal, timeoutMs, ...options }: TriggerOptions & WaitOptions = {},
  ): Promise<unknown> {
    const run = await this.#trigger(workflow, input, options);
    return run.result({ ...(signal !== undefined && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) });
  }

  /**
   * Signals the open run with this key, or starts one that has received the signal when it begins. Resolves once
   * the run is sure to hear it; `existing` says that it was open. Throws signal_unknown, mailbox_full,
   * approval_not_open, and what trigger throws.
   */
  async signalWithStart<In, Out>(
    workflow: Workflow<In, Out>,
    input: In,
    options: SignalWithStartOptions,
  ): Promise<RunHandle<Out>>;
  async signalWithStart(workflow: string, input: unknown, options: SignalWithStartOptions): Promise<RunHandle<unknown>>;
  async signalWithStart(
    workflow: string | Workflow,
    input: unknown,
    { signal: name, payload, id = randomUUID(), ...options }: SignalWithStartOptions,
  ): Promise<RunHandle<unknown>> {
    const slug = typeof workflow === 'string' ? workflow : workflow.slug;
    checkTrigger(slug, options);
    const checked = typeof workflow === 'string' ? input : workflow.parseInput(input);
    const request = SignalWithStartRequest.fromPartial({
      ...{ start: this.#item(slug, checked, options), name, signalId: id },
      payloadBytes: this.#connection.values.toPayload(payload, `payload of signal ${name}`),
    });
    const { data, started } = await this.#tracer.trigger(slug, async (traceparent, isStarted) => {
      const start = { ...(request.start ?? TriggerRunRequest.fromPartial({})), traceparent };
      const answer = await unary<SignalWithStartResponse>((done) =>
        this.#runs.signalWithStart(
          { ...request, start },
          this.#connection.metadata,
          { deadline: this.#deadline() },
          done,
        ),
      );
      isStarted(present(answer.data).id);
      return answer;
    });
    const run = present(data);
    return this.#handle(run.id, run.version, !started);
  }

  #item(slug: string, input: unknown, options: TriggerOptions): TriggerRunRequest {
    const { idempotencyKey = '', runKey = '', version = 0, attributes, retention = '' } = options;
    const refuses = options.onOpen === 'refuse';
    return TriggerRunRequest.fromPartial({
      ...{ familySlug: slug, idempotencyKey, runKey, version, retention, attributes: { ...attributes } },
      inputPayload: this.#connection.values.toPayload(input, `input of ${slug}`),
      ...(refuses && { onOpen: RunKeyConflict.RUN_KEY_CONFLICT_REFUSE }),
    });
  }

  /** A handle on a run that was started before. */
  run(runId: string): Omit<RunHandle<unknown>, 'version' | 'existing'> {
    return this.#handle(runId, 0, true);
  }

  /** One run with its steps. Throws DuctorError not_found. */
  async get(runId: string): Promise<RunView> {
    checkRunCall(runId);
    const { data } = await unary<GetRunResponse>((done) =>
      this.#runs.getRun({ runId }, this.#connection.metadata, { deadline: this.#deadline() }, done),
    );
    return runView(present(data));
  }

  /** A page of runs, newest first. */
  async list(options: ListOptions = {}): Promise<RunPage> {
    checkList(options);
    const { startedAfter, startedBefore } = options;
    const request: ListRunsRequest = {
      pagination: { pageSize: options.pageSize ?? 0, cursor: options.cursor ?? '', nextCursor: '' },
      state: options.state === undefined ? RunState.RUN_STATE_UNSPECIFIED : runStateNumber(options.state),
      familySlug: options.workflow ?? '',
      startedAfter: startedAfter === undefined ? undefined : timestampOf(startedAfter),
      startedBefore: startedBefore === undefined ? undefined : timestampOf(startedBefore),
      attributes: { ...options.attributes },
      rootRunId: options.root ?? '',
      parentRunId: options.parent ?? '',
    };
    const { data, pagination } = await unary<ListRunsResponse>((done) =>
      this.#runs.listRuns(request, this.#connection.metadata, { deadline: this.#deadline() }, done),
    );
    const nextCursor = pagination?.nextCursor ?? '';
    return { runs: data.map(runView), nextCursor: nextCursor === '' ? undefined : nextCursor };
  }

  /** Schedules: runs that start by the clock. */
  get schedules(): ScheduleCalls {
    return this.#schedules.calls;
  }

  /** Routing: work finds its recipient, and says how it went. */
  get routing(): RoutingCalls {
    return this.#routing.calls;
  }

  /** Pools, one by one. */
  get pools(): PoolCalls {
    return this.#pools.calls;
  }

  /** Recipients, one by one. */
  get recipients(): RecipientCalls {
    return this.#recipients.calls;
  }

  /** Rules, one by one. */
  get rules(): RuleCalls {
    return this.#rules.calls;
  }

  /** Claim queues, and the work in them that recipients take by themselves. */
  get claims(): ClaimCalls {
    return this.#claims.calls;
  }

  /** Pools, recipients, rules and claim queues as one document. */
  get bundles(): BundleCalls {
    return this.#bundles.calls;
  }

  /** Many runs at once, by a filter: to end, to wait, to go on; and parked runs by what parked them. */
  get batches(): BatchCalls {
    return batchCalls(this.#runs, () => ({
      metadata: this.#connection.metadata,
      options: { deadline: this.#deadline() },
    }));
  }

  /** Ends all calls and waits. */
  close(): void {
    this.#stream.close();
    this.#results.close();
    this.#runs.close();
    this.#schedules.close();
    this.#bundles.close();
    this.#routing.close();
    this.#pools.close();
    this.#recipients.close();
    this.#rules.close();
    this.#claims.close();
  }

  #handle(runId: string, version: number, existing: boolean): RunHandle<unknown> {
    return {
      id: runId,
      version,
      existing,
      result: (options = {}) => this.#result(runId, options),
      watch: () => this.#watch(runId),
      ...runControls(this.#runs, runId, () => this.#setup()),
      ...runQuestions(this.#runs, runId, () => this.#setup()),
    };
  }

  #setup(): CallSetup {
    const { values, metadata } = this.#connection;
    return { values, metadata, options: { deadline: this.#deadline() } };
  }

  async #result(runId: string, options: WaitOptions): Promise<unknown> {
    const result = await this.#results.wait(runId, waitSignal(options));
    if (result.state === RunState.RUN_STATE_COMPLETED) return this.#connection.values.fromPayload(result.output);
    const error: Failure | undefined = result.error;
    if (result.state === RunState.RUN_STATE_UNSPECIFIED)
      throw new DuctorError(error?.code ?? 'not_found', error?.message ?? `there is no run ${runId}`);
    throw new RunFailedError({
      runId,
      state: runStateName(result.state),
      code: error?.code ?? 'cancelled',
      message: error?.message ?? 'no reason was recorded',
      step: error?.step ?? '',
      failure: failureView(error),
    });
  }

  async *#watch(runId: string): AsyncGenerator<RunView> {
    const stream: ClientReadableStream<WatchRunResponse> = this.#runs.watchRun({ runId }, this.#connection.metadata);
    try {
      for await (const message of stream) {
        const { data }: WatchRunResponse = message;
        yield runView(present(data));
      }
    } catch (error) {
      throw error instanceof Error && 'code' in error ? callError(error as ServiceError) : error;
    } finally {
      stream.cancel();
    }
  }

  #deadline(): number {
    return this.#system.now() + CALL_LIMIT_MS;
  }
}

function waitSignal({ signal, timeoutMs }: WaitOptions): AbortSignal | undefined {
  if (timeoutMs === undefined) return signal;
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}
