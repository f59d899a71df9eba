/**
 * The sub-steps of one attempt: what its body does by `ctx.run`. A name is done by an earlier attempt (its output is
 * given back), or the body does it now; then its output goes to the engine, and the body goes on once it is recorded.
 *
 * A name: unused -> done (kept by the engine already) | doing -> recording -> done; doing -> failed (it threw)
 * Invariants
 *   P1 each name is used once in an attempt.
 *   P2 what `run` gives back is what a later attempt would get: the value after its way over the wire.
 */
import type { Task } from '../gen/ductor/v1/bridge.js';
import { DuctorError, NonRetryableError } from '../errors.js';
import type { ValueCoder, WirePayload } from '../values/payload-codec.js';

/** Most sub-steps of one step. */
const MAX_SUB_STEPS = 1_000;
/** Most bytes of the outputs of all of them. */
const MAX_BYTES = 1024 * 1024;
const MAX_NAME_CHARS = 128;

/** Hands an output to the engine; resolves when it is recorded. Rejects with what was refused. */
export type RecordSubStep = (task: Task, name: string, output: WirePayload) => Promise<void>;

/** What the sub-steps of an attempt need. */
export interface SubStepsDeps {
  readonly task: Task;
  readonly values: ValueCoder;
  readonly signal: AbortSignal;
  readonly record: RecordSubStep;
}

/** The promise, or the reason of the signal as soon as it aborts. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** See above. */
export class SubSteps {
  readonly #deps: SubStepsDeps;
  readonly #kept: Map<string, WirePayload | undefined>;
  readonly #used = new Set<string>();
  #bytes: number;

  constructor(deps: SubStepsDeps) {
    this.#deps = deps;
    const { subSteps } = deps.task;
    this.#kept = new Map(subSteps.map(({ name, output }) => [name, output]));
    this.#bytes = subSteps.reduce((sum, { output }) => sum + (output?.data.length ?? 0), 0);
  }

  /** See StepContext.run. */
  async run(name: string, work: () => unknown): Promise<unknown> {
    this.#checkName(name);
    const { task, values, signal, record } = this.#deps;
    if (this.#kept.has(name)) return values.fromPayload(this.#kept.get(name));
    signal.throwIfAborted();
    if (this.#kept.size >= MAX_SUB_STEPS) {
      const message = `step ${task.path} has ${this.#kept.size} sub-steps, ${name} is one too many`;
      throw new DuctorError('limit_exceeded', message, { remedy: 'do several things in one sub-step' });
    }
    const output = values.toPayload(await work(), `output of sub-step ${name} of step ${task.path}`);
    const total = this.#bytes + output.data.length;
    if (total > MAX_BYTES) {
      const message = `with sub-step ${name} step ${task.path} keeps ${total} bytes; the limit is ${MAX_BYTES}`;
      throw new DuctorError('value_too_large', message, { remedy: 'store it elsewhere and give back a reference' });
    }
    this.#kept.set(name, output);
    this.#bytes = total;
    await orAborted(record(task, name, output), signal);
    return values.fromPayload(output);
  }

  #checkName(name: string): void {
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME_CHARS) {
      const shown = JSON.stringify(name)?.slice(0, 200) ?? String(name);
      throw new NonRetryableError(`ctx.run: name is ${shown}; give a text of 1 to ${MAX_NAME_CHARS} characters`);
    }
    if (this.#used.has(name)) {
      const problem = `ctx.run: the name ${JSON.stringify(name)} is used twice in step ${this.#deps.task.path}`;
      throw new NonRetryableError(`${problem}; give each sub-step its own, such as \`page-\${n}\``);
    }
    this.#used.add(name);
  }
}
