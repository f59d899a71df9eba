/**
 * The step bodies of an app that the engine calls: runs attempts, whatever form the calls have.
 *
 * A call is answered by the outcome, or by sub-steps that the body has done: then the body waits, the engine records
 * them and calls again. A call for an attempt that runs here starts no second body: the body goes on as far as the call
 * says that its sub-steps are recorded. Elsewhere, or after a restart, a new body does not do again what is recorded.
 *
 * An attempt: called (somebody waits) <-> left (nobody does) -> ended
 *   called -> left: every caller has gone, and the body is told to stop; or all were answered by sub-steps, and it is
 *   told to when no call comes within LINGER_MS
 */
import type { Task, TaskHeartbeat } from '../gen/ductor/v1/bridge.js';
import type { InvokeResponse } from '../gen/ductor/v1/callback.js';
import { tracerOf, type OpenTelemetryApi } from '../connection/open-telemetry.js';
import { machine, type System, type SystemTimer } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import { SDK_VERSION } from '../version.js';
import { type PayloadCodec, type WirePayload, valueCoder } from '../values/payload-codec.js';
import type { AppStrategy } from '../strategy/define-strategy.js';
import { StrategyRunner } from '../strategy/strategy-runner.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import type { Outcome } from '../worker/attempt-outcome.js';
import { bodiesOf } from '../worker/bodies.js';
import { Heartbeats } from '../worker/heartbeats.js';
import { consoleSink, type LogSink } from '../worker/log.js';
import { attemptKey } from '../worker/result-outbox.js';
import { TaskRunner } from '../worker/task-runner.js';
import type { VerifiedCall } from './verify.js';

/** What an app of either form takes. */
export interface CallbackAppOptions {
  /** Workflows whose steps this app runs. Default: none. */
  readonly workflows?: readonly AnyWorkflow[];
  /** Routing strategies that it answers for. Default: none. */
  readonly strategies?: readonly AppStrategy[];
  /** Step bodies that run at once; more are refused and come again. Default 1,000. */
  readonly capacity?: number;
  /** Where lines go. Default: JSON on standard error from info on. */
  readonly log?: LogSink;
  /** The app's OpenTelemetry: step bodies become spans. Default: none. */
  readonly openTelemetry?: OpenTelemetryApi;
  /** Codes the bytes of values, as in the clients that start the runs. Default: none. */
  readonly payloadCodec?: PayloadCodec;
  /** For tests. */
  readonly system?: System;
}

/** Who waits for an attempt. */
export interface Caller {
  /** Says that nobody waits any more. */
  readonly signal: AbortSignal;
  /** Takes signs of life, where the form carries them. */
  readonly beat?: (beat: TaskHeartbeat) => void;
}

/** What a call is answered by. */
export type Answer = NonNullable<InvokeResponse['event']>;

interface Unrecorded {
  readonly output: WirePayload;
  readonly recorded: () => void;
}

interface Running {
  readonly callers: Set<Caller>;
  /** Sub-steps that are done and not known to be recorded, by name. */
  readonly unrecorded: Map<string, Unrecorded>;
  outcome: Outcome | undefined;
  /** Wakes those who wait for an outcome or sub-steps. */
  wake: () => void;
  /** Resolves with the next wake. */
  change: Promise<void>;
  linger: SystemTimer | undefined;
}

const CAPACITY = 1_000;
/** How long a body waits for the call that says that its sub-steps are recorded. */
const LINGER_MS = 60_000;

/** Runs attempts. */
export class CallbackApp {
  readonly log: LogSink;
  readonly system: System;
  readonly #capacity: number;
  readonly #runner: TaskRunner;
  readonly #heartbeats: Heartbeats;
  readonly #strategies: StrategyRunner;
  readonly #running = new Map<string, Running>();

  /** Throws DuctorError invalid_argument when two workflows have one slug, or for a codec's name. */
  constructor(options: CallbackAppOptions) {
    const { workflows = [], strategies = [], capacity = CAPACITY, log = consoleSink, system = machine } = options;
    const bodies = bodiesOf(workflows);
    const values = valueCoder(options.payloadCodec);
    this.log = log;
    this.system = system;
    this.#capacity = capacity;
    this.#strategies = new StrategyRunner(strategies, system, log);
    this.#heartbeats = new Heartbeats(system, (beat) => this.#sendBeat(beat), values);
    this.#runner = new TaskRunner({
      ...{ system, log, values, tracer: tracerOf(options.openTelemetry, SDK_VERSION) },
      bodyOf: (workflow, handler) => bodies.get(workflow)?.get(handler),
      heartbeat: (task, progress) => this.#heartbeats.beat(task, progress),
      record: (task, name, output) => this.#record(task, name, output),
    });
  }

  /** Does what the call asks for; resolves with what there is to answer. Throws DuctorError limit_exceeded. */
  async handle(call: VerifiedCall, caller: Caller): Promise<Answer> {
    if ('task' in call) return this.run(call.task, caller);
    return { $case: 'strategyAnswer', value: await this.#strategies.answer(call.question) };
  }

  /** Runs the attempt, or goes on with it; resolves with what there is to answer. Throws DuctorError limit_exceeded. */
  async run(task: Task, caller: Caller): Promise<Answer> {
    const key = attemptKey(task);
    const running = this.#running.get(key) ?? this.#start(key, task);
    running.linger?.cancel();
    running.callers.add(caller);
    const gone = (): void => {
      running.callers.delete(caller);
      if (running.callers.size === 0) this.#runner.abort(key, 'cancelled');
    };
    if (caller.signal.aborted) gone();
    caller.signal.addEventListener('abort', gone);
    try {
      return await this.#answer(task, running);
    } finally {
      caller.signal.removeEventListener('abort', gone);
      running.callers.delete(caller);
      if (running.callers.size === 0 && running.outcome === undefined) this.#leave(key, running);
    }
  }

  /** Tells every body to stop. */
  abortAll(): void {
    this.#runner.abortAll('worker_stopping');
  }

  async #answer(task: Task, running: Running): Promise<Answer> {
    const { runId, path, attempt, token, subSteps } = task;
    for (const { name } of subSteps) {
      running.unrecorded.get(name)?.recorded();
      running.unrecorded.delete(name);
    }
    for (;;) {
      const { outcome, unrecorded } = running;
      if (outcome !== undefined)
        return { $case: 'result', value: { resultId: 0n, runId, path, attempt, token, outcome } };
      const parts = [...unrecorded].map(([name, { output }]) => ({
        ...{ resultId: 0n, runId, path, attempt, token, name, output },
      }));
      if (parts.length > 0) return { $case: 'subResults', value: { results: parts } };
      await running.change;
    }
  }

  #start(key: string, task: Task): Running {
    if (this.#running.size >= this.#capacity) {
      throw new DuctorError('limit_exceeded', `${this.#capacity} step bodies run already`, { retryable: true });
    }
    const none = { callers: new Set<Caller>(), unrecorded: new Map<string, Unrecorded>() };
    const running: Running = { ...none, outcome: undefined, linger: undefined, ...nextChange() };
    this.#running.set(key, running);
    this.#runner.start(task, (done, ended) => {
      this.#heartbeats.end(done);
      this.#running.delete(key);
      running.linger?.cancel();
      running.outcome = ended;
      running.wake();
    });
    return running;
  }

  #record(task: Task, name: string, output: WirePayload): Promise<void> {
    const running = this.#running.get(attemptKey(task));
    return new Promise((resolve) => {
      if (running === undefined) return;
      running.unrecorded.set(name, { output, recorded: resolve });
      // Those of one turn go together.
      this.system.nextTurn(() => {
        const { wake } = running;
        Object.assign(running, nextChange());
        wake();
      });
    });
  }

  #leave(key: string, running: Running): void {
    running.linger?.cancel();
    running.linger = this.system.after(LINGER_MS, () => this.#runner.abort(key, 'superseded'));
  }

  #sendBeat(beat: TaskHeartbeat): void {
    for (const { beat: send } of this.#running.get(attemptKey(beat))?.callers ?? []) send?.(beat);
  }
}

function nextChange(): Pick<Running, 'wake' | 'change'> {
  let wake = (): void => undefined;
  const change = new Promise<void>((resolve) => {
    wake = resolve;
  });
  return { wake, change };
}
