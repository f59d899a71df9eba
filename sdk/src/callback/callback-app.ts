/**
 * The step bodies of an app that the engine calls: runs attempts, whatever form the calls have.
 *
 * An attempt that is called for again while it runs here (an engine took over) starts no second body: both calls get
 * its outcome. When every caller has gone, the body is told to stop.
 */
import type { Task, TaskHeartbeat, TaskResult } from '../gen/ductor/v1/bridge.js';
import { tracerOf, type OpenTelemetryApi } from '../connection/open-telemetry.js';
import { machine, type System } from '../connection/system.js';
import { DuctorError } from '../errors.js';
import { SDK_VERSION } from '../version.js';
import { type PayloadCodec, valueCoder } from '../values/payload-codec.js';
import type { AnyWorkflow } from '../workflow/define-workflow.js';
import type { Outcome } from '../worker/attempt-outcome.js';
import { bodiesOf } from '../worker/bodies.js';
import { Heartbeats } from '../worker/heartbeats.js';
import { consoleSink, type LogSink } from '../worker/log.js';
import { attemptKey } from '../worker/result-outbox.js';
import { TaskRunner } from '../worker/task-runner.js';

/** What an app of either form takes. */
export interface CallbackAppOptions {
  /** Workflows whose steps this app runs. */
  readonly workflows: readonly AnyWorkflow[];
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

interface Running {
  readonly outcome: Promise<Outcome>;
  readonly callers: Set<Caller>;
}

const CAPACITY = 1_000;

/** Runs attempts. */
export class CallbackApp {
  readonly log: LogSink;
  readonly system: System;
  readonly #capacity: number;
  readonly #runner: TaskRunner;
  readonly #heartbeats: Heartbeats;
  readonly #running = new Map<string, Running>();

  /** Throws DuctorError invalid_argument when two workflows have one slug, or for a codec's name. */
  constructor(options: CallbackAppOptions) {
    const { workflows, capacity = CAPACITY, log = consoleSink, system = machine } = options;
    const bodies = bodiesOf(workflows);
    const values = valueCoder(options.payloadCodec);
    this.log = log;
    this.system = system;
    this.#capacity = capacity;
    this.#heartbeats = new Heartbeats(system, (beat) => this.#sendBeat(beat), values);
    this.#runner = new TaskRunner({
      ...{ system, log, values, tracer: tracerOf(options.openTelemetry, SDK_VERSION) },
      bodyOf: (workflow, handler) => bodies.get(workflow)?.get(handler),
      heartbeat: (task, progress) => this.#heartbeats.beat(task, progress),
    });
  }

  /** Runs the attempt; resolves with its result. Throws DuctorError limit_exceeded. */
  async run(task: Task, caller: Caller): Promise<TaskResult> {
    const key = attemptKey(task);
    const running = this.#running.get(key) ?? this.#start(key, task);
    running.callers.add(caller);
    const gone = (): void => {
      running.callers.delete(caller);
      if (running.callers.size === 0) this.#runner.abort(key, 'cancelled');
    };
    if (caller.signal.aborted) gone();
    caller.signal.addEventListener('abort', gone);
    try {
      const outcome = await running.outcome;
      const { runId, path, attempt, token } = task;
      return { resultId: 0n, runId, path, attempt, token, outcome };
    } finally {
      caller.signal.removeEventListener('abort', gone);
    }
  }

  /** Tells every body to stop. */
  abortAll(): void {
    this.#runner.abortAll('worker_stopping');
  }

  #start(key: string, task: Task): Running {
    if (this.#running.size >= this.#capacity) {
      throw new DuctorError('limit_exceeded', `${this.#capacity} step bodies run already`, { retryable: true });
    }
    const outcome = new Promise<Outcome>((resolve) => {
      this.#runner.start(task, (done, ended) => {
        this.#heartbeats.end(done);
        this.#running.delete(key);
        resolve(ended);
      });
    });
    const running = { outcome, callers: new Set<Caller>() };
    this.#running.set(key, running);
    return running;
  }

  #sendBeat(beat: TaskHeartbeat): void {
    for (const { beat: send } of this.#running.get(attemptKey(beat))?.callers ?? []) send?.(beat);
  }
}
