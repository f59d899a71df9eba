/**
 * Runs step bodies: one AbortController and one deadline per attempt.
 *
 * An attempt is RUNNING from `start` until its body settled; then its outcome is handed on and it is forgotten.
 * Invariants
 *   T1 an attempt runs at most once at a time in this process.
 *   T2 the outcome of every started body is handed on exactly once.
 */
import type { Task } from '../gen/ductor/v1/bridge.js';
import type { Tracer } from '../connection/open-telemetry.js';
import type { ValueCoder } from '../values/payload-codec.js';
import type { System } from '../connection/system.js';
import { NonRetryableError } from '../errors.js';
import type { StepBody, StepContext } from '../workflow/step-context.js';
import { type Outcome, outcomeOfError, outcomeOfValue } from './attempt-outcome.js';
import { type LogSink, stepLogger } from './log.js';
import { attemptKey } from './result-outbox.js';
import { type RecordSubStep, SubSteps } from './sub-steps.js';

/** Why a signal aborted. */
export type AbortReason = 'cancelled' | 'timed_out' | 'superseded' | 'worker_stopping';

/** What the runner needs. */
export interface RunnerDeps {
  readonly system: System;
  readonly log: LogSink;
  /** Body of a handler, undefined when this worker has none. */
  readonly bodyOf: (workflow: string, handler: string) => StepBody<never, unknown> | undefined;
  /** Takes a sign of life. */
  readonly heartbeat: (task: Task, progress: unknown) => void;
  /** Takes the output of a sub-step. */
  readonly record: RecordSubStep;
  readonly tracer: Tracer;
  readonly values: ValueCoder;
}

interface Running {
  readonly task: Task;
  readonly controller: AbortController;
  reason: AbortReason | undefined;
}

/** Runs attempts. */
export class TaskRunner {
  readonly #deps: RunnerDeps;
  readonly #running = new Map<string, Running>();

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
  }

  has(key: string): boolean {
    return this.#running.has(key);
  }

  /** Tasks whose bodies run now. */
  running(): Task[] {
    return [...this.#running.values()].map((entry) => entry.task);
  }

  /**
   * Starts the body of a task and hands its outcome to `settled`. The caller has checked that this attempt does not
   * run already.
   */
  start(task: Task, settled: (task: Task, outcome: Outcome) => void): void {
    const entry: Running = { task, controller: new AbortController(), reason: undefined };
    this.#running.set(attemptKey(task), entry);
    const deadline = this.#deps.system.after(task.timeoutMs, () => this.#abort(entry, 'timed_out'));
    void this.#run(entry).then((outcome) => {
      deadline.cancel();
      this.#running.delete(attemptKey(task));
      settled(task, outcome);
    });
  }

  /** Tells an attempt to stop. Its body decides when it ends. */
  abort(key: string, reason: AbortReason): void {
    const entry = this.#running.get(key);
    if (entry !== undefined) this.#abort(entry, reason);
  }

  /** Tells every attempt to stop. */
  abortAll(reason: AbortReason): void {
    for (const entry of this.#running.values()) this.#abort(entry, reason);
  }

  #abort(entry: Running, reason: AbortReason): void {
    if (entry.reason !== undefined) return;
    entry.reason = reason;
    entry.controller.abort(
      new DOMException(`attempt ${entry.task.attempt} of ${entry.task.path}: ${reason}`, 'AbortError'),
    );
  }

  async #run(entry: Running): Promise<Outcome> {
    const { task } = entry;
    try {
      const body = this.#deps.bodyOf(task.familySlug, task.handler);
      if (body === undefined)
        throw new NonRetryableError(`this worker has no handler ${task.handler} of ${task.familySlug}`);
      // The engine checked the input against the step's definition; its type is what the definition says.
      const input = this.#deps.values.fromPayload(task.input) as never;
      const value = await this.#deps.tracer.attempt(task, () => body(input, this.#context(entry)));
      return outcomeOfValue(this.#deps.values, value, task.path);
    } catch (error) {
      return outcomeOfError(error, entry.reason);
    }
  }

  #context(entry: Running): StepContext {
    const { task } = entry;
    const { system, log, heartbeat, values, record } = this.#deps;
    const { signal } = entry.controller;
    const subSteps = new SubSteps({ task, values, signal, record });
    // What comes back has the type that its way over the wire makes of it.
    const run: StepContext['run'] = (name, work) => subSteps.run(name, work) as never;
    return {
      ...{ signal, run },
      runId: task.runId,
      workflow: task.familySlug,
      version: task.version,
      path: task.path,
      attempt: task.attempt,
      idempotencyKey: task.idempotencyKey,
      deadline: new Date(system.now() + task.timeoutMs),
      log: stepLogger(log, { run_id: task.runId, workflow: task.familySlug, step: task.path, attempt: task.attempt }),
      heartbeat: (progress) => heartbeat(task, progress),
      lastProgress: values.fromPayload(task.lastProgress),
    };
  }
}
