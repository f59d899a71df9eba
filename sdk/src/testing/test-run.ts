/**
 * A run of a workflow for a test: the engine's compiler, machine and journal in this process, bodies called as a worker
 * calls them, and a clock that stands still while bodies run and jumps when nothing else is left to happen.
 *
 * Invariants
 *   V1 one fact is one commit, and nobody is answered before it.
 *   V2 a crash forgets everything but what was committed: bodies under way are told to stop, their results are lost.
 */
import { createMachine } from '#machine';
import { Task } from '../gen/ductor/v1/bridge.js';
import { tracerOf } from '../connection/open-telemetry.js';
import { DuctorError, RunFailedError } from '../errors.js';
import { type PayloadCodec, type ValueCoder, valueCoder, type WirePayload } from '../values/payload-codec.js';
import { SDK_VERSION } from '../version.js';
import type { Outcome } from '../worker/attempt-outcome.js';
import type { LogSink } from '../worker/log.js';
import { attemptKey } from '../worker/result-outbox.js';
import { type AbortReason, TaskRunner } from '../worker/task-runner.js';
import type { AnyWorkflow, Workflow } from '../workflow/define-workflow.js';
import { type FakeSteps, isUnserved, testBodies, testHandlers } from './bodies.js';
import { fakeChoice, type FakeRouting } from './fake-routing.js';
import { durationMs } from './duration.js';
import type { Machine, MachineFact, MachineOutcome, MachineTask, MachineValue } from './machine-port.js';
import { VirtualSystem } from './virtual-system.js';

/** What a test may say beside the workflow and its input. */
export interface TestOptions {
  /** What stands for bodies, by step. Default: the bodies of the workflow. */
  readonly steps?: FakeSteps;
  /** Whom steps select and route to, by step. Default: they are refused. */
  readonly routing?: FakeRouting;
  /** Workflows that steps start as child runs. Default: none. */
  readonly workflows?: readonly AnyWorkflow[];
  /** Crash after this commit, counted from 1 (the start), or after each of these. Default: never. */
  readonly crashAt?: number | readonly number[];
  /** When the run starts. Default 2026-01-01T00:00:00Z. */
  readonly startAt?: Date;
  readonly attributes?: Readonly<Record<string, string>>;
  /** Of run ids and the jitter of retries. Default 1. */
  readonly seed?: number;
  /** Codes the bytes of values, as in the app. Default: none. */
  readonly payloadCodec?: PayloadCodec;
  /** Where lines of bodies go. Default: nowhere. */
  readonly log?: LogSink;
}

/** A run as the test sees it. */
export interface TestView {
  readonly state: string;
  readonly output: unknown;
  readonly error: { readonly code: string; readonly message: string; readonly step: string } | null;
  readonly steps: readonly {
    readonly path: string;
    readonly state: string;
    readonly attempt: number;
    /** In words; empty when it has ended. */
    readonly waitingFor: string;
  }[];
}

/** A run under test. */
export interface TestRun<Out> {
  readonly id: string;
  /** The test's time. */
  readonly now: Date;
  /** Rows of all journals so far: what `crashAt` counts. */
  readonly commits: number;
  view(): TestView;
  /** Kinds of the journal's entries, with the path of their step: `step_completed charge`. */
  history(): readonly string[];
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** Lets so much time pass (`"90s"`, or ms), and everything happen that comes due. */
  advance(duration: string | number): Promise<void>;
  /** Says something to the run. Throws what the engine refuses: signal_unknown, run_closed, invalid_argument. */
  signal(name: string, payload?: unknown, by?: string): Promise<void>;
  /** Decides an approval. Throws approval_not_open, not_assignee, invalid_argument. */
  decide(name: string, option: string, decision?: { readonly form?: unknown; readonly by?: string }): Promise<void>;
  /**
   * Asks something of the run, and lets time pass until it has answered. Throws what the engine refuses
   * (update_unknown, update_refused, invalid_argument), run_closed when the run ends without an answer,
   * deadline_exceeded when it waits for something else, and the code of the step's error when that failed.
   */
  update(name: string, input?: unknown): Promise<unknown>;
  /** What the run tells of itself. Throws query_unknown, expression_failed. */
  query(name: string): unknown;
  /** Asks the run to end. */
  cancel(): Promise<void>;
  /** Engine and worker die now, and come back. */
  crash(): Promise<void>;
  /**
   * Lets time pass until the run has ended; its output. Throws RunFailedError, and DuctorError deadline_exceeded when
   * nothing will ever happen any more: the run waits for a signal.
   */
  result(): Promise<Out>;
}

const START = Date.UTC(2026, 0, 1);
const NOTHING = (): void => undefined;

/** Starts a run. Throws DuctorError invalid_definition, invalid_argument, and ZodError for its input. */
export async function testRun<In, Out>(
  workflow: Workflow<In, Out>,
  input: In,
  options: TestOptions = {},
): Promise<TestRun<Out>> {
  const run = new RunUnderTest<Out>(workflow, options);
  await run.begin(workflow.parseInput(input), options.attributes ?? {});
  return run;
}

function asOurs(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DuctorError || !('code' in error)) return error;
  return new DuctorError(String(error.code), error.message, { cause: error });
}

/** The outcome as the machine takes it. */
function machineOutcome(outcome: Outcome): MachineOutcome {
  switch (outcome.$case) {
    case 'output':
      return { kind: 'completed', output: valueOf(outcome.value) };
    case 'error': {
      const { code, message, stack, nonRetryable, retryAfterMs, causes } = outcome.value;
      return { kind: 'failed', code, message, stack, causes, nonRetryable, retryAfterMs: retryAfterMs || null };
    }
    case 'cancelled':
      return { kind: 'cancelled' };
  }
}

const valueOf = ({ data, encoding }: WirePayload): MachineValue => ({ data, encoding: encoding || 'json' });
const payloadOf = ({ data, encoding }: MachineValue): WirePayload => ({
  data: Buffer.from(data),
  encoding: encoding === 'json' ? '' : encoding,
});

function wireTask(given: MachineTask): Task {
  const { subSteps = [], lastProgress, heartbeatTimeoutMs, isNoted: _, ...task } = given;
  return Task.fromPartial({
    ...{ ...task, input: payloadOf(task.input), heartbeatTimeoutMs: heartbeatTimeoutMs ?? 0 },
    ...(lastProgress === null ? {} : { lastProgress: payloadOf(lastProgress) }),
    subSteps: subSteps.map(({ name, output }) => ({ name, output: payloadOf(output) })),
  });
}

class RunUnderTest<Out> implements TestRun<Out> {
  readonly #machine: Machine;
  readonly #system: VirtualSystem;
  readonly #values: ValueCoder;
  readonly #crashes: Set<number>;
  readonly #slug: string;
  readonly #fakes: FakeSteps;
  readonly #handlerOf: ReturnType<typeof testHandlers>;
  #runner: TaskRunner;
  readonly #makeRunner: () => TaskRunner;
  /** Attempts out, and whether they hang. */
  #out = new Map<string, { isHanging: boolean }>();
  /** What bodies have said and is not committed yet. */
  #said: { readonly runId: string; readonly fact: MachineFact; readonly told: () => void }[] = [];
  #wake = NOTHING;
  #id = '';
  #signals = 0;

  constructor(workflow: AnyWorkflow, options: TestOptions) {
    const workflows = [workflow, ...(options.workflows ?? [])];
    this.#machine = createMachine(options.seed ?? 1, fakeChoice(options.routing));
    for (const { definition } of workflows) this.#checked(() => this.#machine.publish(definition));
    this.#system = new VirtualSystem(options.startAt?.getTime() ?? START);
    this.#values = valueCoder(options.payloadCodec);
    this.#crashes = new Set([options.crashAt ?? []].flat());
    this.#slug = workflow.slug;
    this.#fakes = options.steps ?? {};
    this.#handlerOf = testHandlers(workflows, this.#fakes);
    const bodyOf = testBodies(workflows, this.#fakes, (runId, path, attempt) => {
      const out = this.#out.get(attemptKey({ runId, path, attempt }));
      if (out !== undefined) out.isHanging = true;
      const startedAtUs = this.#nowUs();
      this.#say(runId, { kind: 'running', path, attempt, worker: 'test', startedAtUs });
    });
    const shared = { system: this.#system, values: this.#values, bodyOf, log: options.log ?? NOTHING };
    this.#makeRunner = () => {
      const runner: TaskRunner = new TaskRunner({
        ...{ ...shared, tracer: tracerOf(undefined, SDK_VERSION) },
        heartbeat: ({ runId, path, attempt }, progress) => {
          if (progress === undefined || runner !== this.#runner) return;
          this.#machine.report(runId, path, attempt, valueOf(this.#values.toPayload(progress, 'progress')));
        },
        record: ({ runId, path, attempt }, name, output) =>
          new Promise((resolve) => {
            const fact = { kind: 'sub_step', path, attempt, name, output: valueOf(output) } as const;
            // A worker that crashed says nothing any more.
            if (runner === this.#runner) this.#say(runId, fact, resolve);
          }),
      });
      return runner;
    };
    this.#runner = this.#makeRunner();
  }

  get id(): string {
    return this.#id;
  }

  get now(): Date {
    return new Date(this.#system.now());
  }

  get commits(): number {
    return this.#machine.commits;
  }

  async begin(input: unknown, attributes: Readonly<Record<string, string>>): Promise<void> {
    const value = valueOf(this.#values.toPayload(input, 'input'));
    this.#id = this.#checked(() => this.#machine.start(this.#slug, value, attributes, this.#nowUs()));
    this.#committed();
    await this.settle();
  }

  view(): TestView {
    const { state, output, error, steps } = this.#machine.view(this.#id);
    return {
      state,
      output: output === null ? undefined : this.#values.fromPayload(payloadOf(output)),
      error: error && { code: error.code, message: error.message, step: error.step },
      steps: steps.map(({ path, state: at, attempt, waitingFor }) => ({ path, state: at, attempt, waitingFor })),
    };
  }

  history(): readonly string[] {
    return this.#machine.history(this.#id).map(({ kind, path }) => (path === '' ? kind : `${kind} ${path}`));
  }

  async settle(): Promise<void> {
    for (;;) {
      if (this.#checked(() => this.#machine.deliver(this.#nowUs()))) {
        this.#committed();
        continue;
      }
      this.#startBodies();
      for (const order of this.#machine.takeAborts())
        this.#runner.abort(attemptKey(order), order.reason as AbortReason);
      const said = this.#said.shift();
      if (said !== undefined) this.#commit(said);
      else if ([...this.#out.values()].some(({ isHanging }) => !isHanging)) await this.#bodiesSpeak();
      else {
        // Those that hang may have been told to stop just now, which takes a turn.
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (this.#said.length === 0) return;
      }
    }
  }

  async advance(duration: string | number): Promise<void> {
    const untilMs = this.#system.now() + durationMs(duration);
    await this.settle();
    while (await this.#passTo(untilMs));
    this.#system.moveTo(untilMs);
    await this.settle();
  }

  async signal(name: string, payload?: unknown, by = ''): Promise<void> {
    const value = valueOf(this.#values.toPayload(payload, `payload of signal ${name}`));
    const id = `test-${(this.#signals += 1)}`;
    this.#checked(() => this.#machine.signal(this.#id, { name, id, payload: value, by }, this.#nowUs()));
    this.#committed();
    await this.settle();
  }

  decide(name: string, option: string, { form, by = '' }: { form?: unknown; by?: string } = {}): Promise<void> {
    return this.signal(name, { option, ...(form === undefined ? {} : { form }) }, by);
  }

  async update(name: string, input?: unknown): Promise<unknown> {
    const payload = valueOf(this.#values.toPayload(input, `input of update ${name}`));
    const id = `test-${(this.#signals += 1)}`;
    this.#checked(() => this.#machine.update(this.#id, { name, id, payload, by: '' }, this.#nowUs()));
    this.#committed();
    await this.settle();
    for (;;) {
      const answer = this.#machine.answer(this.#id, name, id);
      if (answer?.error) throw new DuctorError(answer.error.code, answer.error.message);
      if (answer !== undefined) return answer.output && this.#values.fromPayload(payloadOf(answer.output));
      const { isClosed, state } = this.#machine.view(this.#id);
      if (isClosed) throw new DuctorError('run_closed', `the run ended ${state} before it answered update ${name}`);
      if (!(await this.#passTo(Number.POSITIVE_INFINITY))) throw this.#stuck();
    }
  }

  query(name: string): unknown {
    return this.#values.fromPayload(payloadOf(this.#checked(() => this.#machine.query(this.#id, name))));
  }

  async cancel(): Promise<void> {
    this.#give(this.#id, { kind: 'cancel', reason: '', requestedBy: 'test' });
    await this.settle();
  }

  async crash(): Promise<void> {
    this.#crash();
    await this.settle();
  }

  async result(): Promise<Out> {
    await this.settle();
    while (!this.#machine.view(this.#id).isClosed) {
      if (await this.#passTo(Number.POSITIVE_INFINITY)) continue;
      throw this.#stuck();
    }
    const { state, output } = this.view();
    if (state === 'COMPLETED') return output as Out;
    const { error } = this.#machine.view(this.#id);
    const known = error ?? { code: state === 'TERMINATED' ? 'terminated' : 'cancelled', message: '', step: '' };
    const failure = error === null ? undefined : { ...error, causes: error.causes ?? [] };
    throw new RunFailedError({ runId: this.#id, state, ...known, failure });
  }

  /** Nothing will happen any more. */
  #stuck(): DuctorError {
    const waiting = this.view().steps.filter((step) => step.waitingFor !== '');
    const what = waiting.map(({ path, waitingFor }) => `${path} for ${waitingFor}`).join('; ');
    return new DuctorError('deadline_exceeded', `nothing will happen any more: the run waits, ${what}`, {
      remedy: 'say it by signal(), decide() or cancel() before',
    });
  }

  /** Goes to what is due first, if that is not later; false when nothing is. */
  async #passTo(untilMs: number): Promise<boolean> {
    const due = this.#machine.nextDue();
    if (due === null || due.atUs > untilMs * 1000) return false;
    this.#system.moveTo(Math.ceil(due.atUs / 1000));
    for (const runId of due.runIds) this.#give(runId, { kind: 'wake' });
    await this.settle();
    return true;
  }

  #nowUs(): number {
    return this.#system.now() * 1000;
  }

  #checked<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw asOurs(error);
    }
  }

  #give(runId: string, fact: MachineFact): void {
    if (this.#checked(() => this.#machine.give(runId, fact, this.#nowUs()))) this.#committed();
  }

  #commit({ runId, fact, told }: { runId: string; fact: MachineFact; told: () => void }): void {
    const crashesBefore = this.#crashes.size;
    this.#give(runId, fact);
    // Whoever is not there any more is told nothing.
    if (this.#crashes.size === crashesBefore) told();
  }

  #committed(): void {
    if (this.#crashes.delete(this.#machine.commits)) this.#crash();
  }

  #crash(): void {
    this.#runner.abortAll('worker_stopping');
    this.#runner = this.#makeRunner();
    this.#out = new Map();
    this.#said = [];
    this.#machine.crash();
    // Their worker does not come back.
    for (const { runId, path, attempt, isNoted } of this.#machine.tasks())
      if (isNoted) this.#give(runId, { kind: 'lost', path, attempt });
  }

  #startBodies(): void {
    for (const task of this.#machine.tasks()) {
      const key = attemptKey(task);
      const handler = this.#handlerOf(task);
      if (this.#out.has(key) || isUnserved(this.#fakes, task.familySlug, handler)) continue;
      const [out, runner] = [this.#out, this.#runner];
      out.set(key, { isHanging: false });
      runner.start(wireTask({ ...task, handler }), ({ runId, path, attempt }, outcome) => {
        // Of a time before a crash.
        if (runner !== this.#runner) return;
        this.#say(runId, { kind: 'result', path, attempt, outcome: machineOutcome(outcome) }, () => out.delete(key));
      });
    }
  }

  #say(runId: string, fact: MachineFact, told: () => void = NOTHING): void {
    this.#said.push({ runId, fact, told });
    this.#wake();
  }

  #bodiesSpeak(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
