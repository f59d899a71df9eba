/**
 * Runs of workflows in one process: the real compiler, machine and journal, and nothing around them. What the testing
 * part of the SDK is built on; it must import nothing that asks a machine or a database.
 *
 * A row of a journal is kept as its bytes, and a message with the row that says it: whatever is in memory can be
 * forgotten at any moment and comes back from them.
 */
import { createCelCompiler, type CelCompiler } from '../../expressions/index.js';
import { DuctorError, seededRandom, uuidV7 } from '../../kernel/index.js';
import { compilePlan, validateDefinition } from '../definition/index.js';
import { decodeEntries, encodeEntries, loadRun, type JournalRow } from '../journal/index.js';
import type { Gate } from '../machine/inputs.js';
import { chosenGate, NOBODY_CHOOSES, type Choose } from './chosen-gate.js';
import { admitSignal } from '../machine/admit-signal.js';
import { admitUpdate, answerQuery } from '../machine/admit-update.js';
import { isUnbegun } from '../machine/queries.js';
import { answerIn } from '../machine/signal-box.js';
import {
  advance,
  dispatchesOf,
  emptyRun,
  explainStep,
  isClosed,
  runOutput,
  taskOf,
  wakeAtUs,
  type AttemptOutcome,
  type Plan,
  type RunInput,
  type RunMessage,
  type RunState,
  type Value,
} from '../machine/index.js';

const TENANT = 'test';
const VERSION = 1;

interface Run {
  readonly plan: Plan;
  readonly rows: JournalRow[];
  state: RunState;
}

/** A fact that the test brings. */
export type InProcessFact =
  | { readonly kind: 'result'; readonly path: string; readonly attempt: number; readonly outcome: AttemptOutcome }
  | {
      readonly kind: 'sub_step';
      readonly path: string;
      readonly attempt: number;
      readonly name: string;
      readonly output: Value;
    }
  | {
      readonly kind: 'running';
      readonly path: string;
      readonly attempt: number;
      readonly worker: string;
      readonly startedAtUs: number;
    }
  | { readonly kind: 'lost'; readonly path: string; readonly attempt: number }
  | { readonly kind: 'wake' }
  | { readonly kind: 'cancel'; readonly reason: string; readonly requestedBy: string };

/** Attempt that must be with a worker. */
export type InProcessTask = NonNullable<ReturnType<typeof taskOf>> & { readonly isNoted: boolean };

/** Runs and their journals. */
class InProcessMachine {
  readonly #plans = new Map<string, Plan>();
  readonly #runs = new Map<string, Run>();
  readonly #mail: RunMessage[] = [];
  #cel: CelCompiler | undefined;
  readonly #random;
  readonly #gate: Gate;
  #aborts: { readonly runId: string; readonly path: string; readonly attempt: number; readonly reason: string }[] = [];
  #commits = 0;
  #progress = new Map<string, Value>();

  /**
   * @param seed of ids and jitter: the same seed gives the same runs
   * @param choose whom steps select and route to
   */
  constructor(seed: number, choose: Choose) {
    this.#random = seededRandom(seed);
    this.#gate = chosenGate(choose);
  }

  /** Rows written. */
  get commits(): number {
    return this.#commits;
  }

  /** Compiles a definition. Throws invalid_definition with details. */
  publish(json: unknown): void {
    this.#cel ??= createCelCompiler();
    const { definition, problems } = validateDefinition(json, this.#cel);
    if (definition === undefined) {
      const [first] = problems;
      throw new DuctorError('invalid_definition', `${first?.path}: ${first?.problem}`, { details: problems });
    }
    this.publishPlan(compilePlan(definition, VERSION, this.#cel));
  }

  /** Publishes what was compiled elsewhere, in place of the plan that its family had. */
  publishPlan(plan: Plan): void {
    this.#plans.set(plan.familySlug, plan);
  }

  /** Starts a run of what was published; its id. Throws workflow_not_published, invalid_argument. */
  start(slug: string, input: Value, attributes: Readonly<Record<string, string>>, nowUs: number): string {
    const plan = this.#plans.get(slug);
    if (plan === undefined) throw new DuctorError('workflow_not_published', `the test has no workflow ${slug}`);
    const [problem] = plan.checkInput(input);
    if (problem !== undefined) throw new DuctorError('invalid_argument', `input: ${problem}`);
    const runId = this.#newId(nowUs);
    this.#begin(runId, plan, { kind: 'start', input, attributes }, nowUs);
    return runId;
  }

  /** Applies a fact; whether it changed anything, which is then one more row. A cancel is of the chain. */
  give(runId: string, fact: InProcessFact, nowUs: number): boolean {
    return this.#tick(fact.kind === 'cancel' ? this.#last(runId).state.runId : runId, fact, nowUs);
  }

  /** The same for a signal or decision. Throws what the engine refuses: signal_unknown, run_closed and others. */
  signal(runId: string, signal: { name: string; id: string; payload: Value; by: string }, nowUs: number): void {
    const { plan, state } = this.#last(runId);
    if (admitSignal(plan, state, signal) === 'new') this.#tick(state.runId, { kind: 'signal', ...signal }, nowUs);
  }

  /** The same for an update. Throws update_unknown, update_refused, run_closed, invalid_argument. */
  update(runId: string, update: { name: string; id: string; payload: Value; by: string }, nowUs: number): void {
    const { plan, state } = this.#last(runId);
    if (admitUpdate(plan, state, update) === 'new') this.#tick(state.runId, { kind: 'signal', ...update }, nowUs);
  }

  /** What an update was answered; undefined: there is no answer yet. */
  answer(runId: string, name: string, id: string): ReturnType<typeof answerIn> {
    return answerIn(this.#last(runId).state.signals, name, id);
  }

  /** What a run tells of itself. Throws query_unknown, expression_failed. */
  query(runId: string, name: string): Value {
    const { plan, state } = this.#last(runId);
    return answerQuery(plan, state, name);
  }

  /** Begins a run that continues another one, or delivers one message between runs; false when there is neither. */
  deliver(nowUs: number): boolean {
    for (const { state } of this.#runs.values()) {
      if (isUnbegun(state) && this.#tick(state.runId, { kind: 'wake' }, nowUs)) return true;
    }
    const message = this.#mail.shift();
    if (message === undefined) return false;
    const { runId, input } = message;
    if (input.kind !== 'start') {
      const isForRun = input.kind === 'child_closed';
      if (this.#runs.has(runId)) this.#tick(isForRun ? runId : this.#last(runId).state.runId, input, nowUs);
      return true;
    }
    const slug = input.birth?.familySlug ?? '';
    const plan = this.#plans.get(slug);
    if (plan !== undefined) this.#begin(runId, plan, input, nowUs);
    else
      throw new DuctorError('workflow_not_published', `a step starts ${slug}; give it to the test among its workflows`);
    return true;
  }

  /** All attempts that must be with workers now. */
  tasks(): readonly InProcessTask[] {
    return [...this.#runs.values()].flatMap(({ plan, state }) =>
      dispatchesOf(state).flatMap(({ path, worker }) => {
        const task = taskOf(plan, state, path);
        return task === undefined ? [] : [{ ...task, isNoted: worker !== null }];
      }),
    );
  }

  /** Attempts that were told to stop since the last call. */
  takeAborts(): readonly {
    readonly runId: string;
    readonly path: string;
    readonly attempt: number;
    readonly reason: string;
  }[] {
    const aborts = this.#aborts;
    this.#aborts = [];
    return aborts;
  }

  /** Runs that are due first, and when; null when time changes nothing. */
  nextDue(): { readonly atUs: number; readonly runIds: readonly string[] } | null {
    const due = [...this.#runs].map(([runId, { state }]) => ({
      runId,
      atUs: wakeAtUs(state) ?? Number.POSITIVE_INFINITY,
    }));
    const atUs = Math.min(...due.map((each) => each.atUs));
    return Number.isFinite(atUs)
      ? { atUs, runIds: due.filter((each) => each.atUs === atUs).map(({ runId }) => runId) }
      : null;
  }

  /** What an attempt reported of its progress. Memory only: a crash forgets it. */
  report(runId: string, path: string, attempt: number, progress: Value): void {
    this.#progress.set(`${runId}/${attempt}/${path}`, progress);
  }

  /** A run as it is: of one that was continued, the last of its chain. */
  view(runId: string): {
    readonly state: string;
    readonly isClosed: boolean;
    readonly output: Value | null;
    readonly error: RunState['error'];
    readonly steps: readonly {
      path: string;
      state: string;
      attempt: number;
      error: RunState['error'];
      output: Value | null;
      /** Run that the step started; null: none. */
      child: string | null;
      waitingFor: string;
    }[];
  } {
    const { state } = this.#last(runId);
    const steps = [...state.steps.values()].map((step) => ({
      ...{ path: step.path, state: step.status, attempt: step.attempt, error: step.error, output: step.output },
      child: step.child?.runId ?? null,
      waitingFor: explainStep(state, step),
    }));
    return { state: state.status, isClosed: isClosed(state), output: runOutput(state), error: state.error, steps };
  }

  /** Kinds of all entries of a run, and of those that continue it, in order. */
  history(runId: string): readonly { readonly kind: string; readonly path: string }[] {
    const { rows, state } = this.#known(runId);
    const own = rows.flatMap(({ entries }) =>
      decodeEntries(entries).map((entry) => ({ kind: entry.kind, path: 'path' in entry ? entry.path : '' })),
    );
    return state.continuedAs === null ? own : [...own, ...this.history(state.continuedAs)];
  }

  /** Everything in memory is gone; it comes back from the journals. */
  crash(): void {
    this.#aborts = [];
    this.#progress = new Map();
    for (const [runId, run] of this.#runs) {
      const state = loadRun({ tenantId: TENANT, runId, snapshot: null, rows: run.rows });
      if (state === null) throw new DuctorError('internal', `run ${runId} does not come back from its journal`);
      run.state = state;
    }
  }

  #begin(runId: string, plan: Plan, input: RunInput, nowUs: number): void {
    if (!this.#runs.has(runId)) this.#runs.set(runId, { plan, rows: [], state: emptyRun({ tenantId: TENANT, runId }) });
    this.#tick(runId, input, nowUs);
  }

  #tick(runId: string, input: RunInput, nowUs: number): boolean {
    const run = this.#known(runId);
    const { entries, state, messages, commands, successor } = advance(run.plan, run.state, [input], {
      ...{ nowUs, seed: this.#random.uint32(), newId: () => this.#newId(nowUs) },
      gate: this.#gate,
      progressOf: (path, attempt) => this.#progress.get(`${runId}/${attempt}/${path}`) ?? null,
    });
    if (entries.length === 0) return false;
    run.rows.push({ seq: state.seq, atUs: state.atUs, entries: encodeEntries(entries) });
    run.state = state;
    if (successor !== null) {
      const { state: begun } = successor;
      const row = { seq: begun.seq, atUs: begun.atUs, entries: encodeEntries(successor.entries) };
      this.#runs.set(begun.runId, { plan: run.plan, rows: [row], state: begun });
    }
    this.#mail.push(...messages);
    this.#commits += 1;
    for (const command of commands) {
      if (command.kind !== 'abort') continue;
      const { path, attempt, reason } = command;
      this.#aborts.push({ runId, path, attempt, reason });
    }
    return true;
  }

  #newId(nowUs: number): string {
    return uuidV7(nowUs, this.#random);
  }

  /** The last run of a chain, by any of its runs. */
  #last(runId: string): Run {
    const run = this.#known(runId);
    return run.state.continuedAs === null ? run : this.#last(run.state.continuedAs);
  }

  #known(runId: string): Run {
    const run = this.#runs.get(runId);
    if (run === undefined) throw new DuctorError('not_found', `there is no run ${runId}`);
    return run;
  }
}

/** A machine without runs. */
export function createMachine(seed: number, choose: Choose = NOBODY_CHOOSES): InProcessMachine {
  return new InProcessMachine(seed, choose);
}
