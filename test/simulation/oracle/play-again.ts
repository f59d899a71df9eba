/**
 * Plays a run again on the machine in one process, the one that tests of users run on: the same definition and input,
 * and workers that answer each attempt as it was answered in the world. Nothing is lost or late there, and nobody dies.
 */
import { DuctorError } from '../../../engine/src/kernel/index.js';
import {
  createMachine,
  type InProcessFact,
  type InProcessTask,
} from '../../../engine/src/workflow/in-process/in-process.js';
import { stepAt, type AttemptOutcome, type Plan } from '../../../engine/src/workflow/machine/index.js';
import { mayRetry } from '../../../engine/src/workflow/machine/retry.js';
import { BODY_CODES } from '../checks/payloads.js';
import { attemptName } from '../checks/names.js';
import type { Truth } from '../checks/truth.js';
import type { RecordedEnd, RecordedRun } from './recorded-run.js';

type Machine = ReturnType<typeof createMachine>;
/** What a run came to. */
export type Played = ReturnType<Machine['view']>;

/** Name of every worker; where an error names one, it is this. */
export const AGAIN = 'again';
/** Turns after which a run that does not end is given up. */
const TURNS_MAX = 5_000;

/** What cannot be told again: how long it took decided. */
class Undetermined extends RangeError {}

/** All plans of a run and of those below it, by family; two versions of one family cannot be told apart there. */
function plansOf(run: RecordedRun, found = new Map<string, Plan>()): ReadonlyMap<string, Plan> {
  const { familySlug } = run.plan;
  if ((found.get(familySlug) ?? run.plan) !== run.plan) throw new Undetermined(familySlug);
  found.set(familySlug, run.plan);
  for (const child of run.children.values()) plansOf(child, found);
  return found;
}

/** One run, played again. */
class Player {
  readonly #machine = createMachine(1);
  readonly #truth: Truth;
  readonly #runs = new Map<string, RecordedRun>();
  /** Attempts that are not answered: their time passes. */
  readonly #silent = new Set<string>();
  #nowUs: number;

  constructor(run: RecordedRun, truth: Truth) {
    this.#truth = truth;
    this.#nowUs = run.state.startedAtUs;
    for (const plan of plansOf(run).values()) this.#machine.publishPlan(plan);
    for (const slug of truth.families) if (!plansOf(run).has(slug)) this.#publishAny(slug);
  }

  /** Plays it to its end. */
  play(run: RecordedRun): Played {
    const { input, attributes } = run.state;
    const id = this.#machine.start(run.plan.familySlug, input, attributes, this.#nowUs);
    this.#runs.set(id, run);
    for (let turn = 0; turn < TURNS_MAX; turn += 1) {
      if (this.#machine.view(id).isClosed) break;
      if (!this.#turn()) break;
    }
    return this.#machine.view(id);
  }

  /** Children that nobody waits for have to be of something. */
  #publishAny(slug: string): void {
    const plan = this.#truth.plans.find((one) => one.familySlug === slug);
    if (plan !== undefined) this.#machine.publishPlan(plan);
  }

  /** Messages first, then attempts, then time. Whether anything happened. */
  #turn(): boolean {
    if (this.#machine.deliver(this.#nowUs)) return true;
    const tasks = this.#machine.tasks().filter((task) => !this.#silent.has(nameOf(task)));
    for (const task of tasks) this.#answer(task);
    if (tasks.length > 0) return true;
    const due = this.#machine.nextDue();
    if (due === null) return false;
    this.#nowUs = Math.max(this.#nowUs, due.atUs);
    for (const runId of due.runIds) this.#machine.give(runId, { kind: 'wake' }, this.#nowUs);
    return true;
  }

  #answer(task: InProcessTask): void {
    const { runId, path, attempt } = task;
    const run = this.#recorded(runId);
    const end = run?.ends.get(`${path}#${attempt}`);
    const name = nameOf(task);
    if (run === undefined || end === undefined) {
      this.#silent.add(name);
      return;
    }
    const say = (fact: InProcessFact): void => void this.#machine.give(runId, fact, this.#nowUs);
    const ref = { path, attempt };
    const begin = (): void => say({ kind: 'running', ...ref, worker: AGAIN, startedAtUs: this.#nowUs });
    const { code, message } = end.kind === 'failed' ? end.error : { code: '', message: '' };
    if (code === 'worker_lost') {
      begin();
      return say({ kind: 'lost', ...ref });
    }
    if (code === 'schedule_to_start_timeout') return void this.#silent.add(name);
    if (code === 'timeout' && message.startsWith(`attempt ${attempt} `)) {
      begin();
      return void this.#silent.add(name);
    }
    say({ kind: 'result', ...ref, outcome: this.#outcome(run, task, end) });
  }

  /** How the body of the attempt ended. */
  #outcome({ state, plan }: RecordedRun, { path, attempt }: InProcessTask, end: RecordedEnd): AttemptOutcome {
    if (end.kind === 'completed') return end;
    const step = stepAt(plan, path);
    const { code, message, retryable } = end.error;
    if (step?.type !== 'CALLBACK' || step.retry.totalTimeoutMs !== null) throw new Undetermined(code);
    if (code === 'cancelled_by_worker') return { kind: 'cancelled' };
    const produced = this.#truth.produced.get(attemptName({ ...state, path, attempt })) ?? [];
    const found = produced.find((one) => {
      return one.kind === 'failed' && one.code === code && mayRetry(step.retry, one) === retryable;
    });
    if (found !== undefined) return found;
    if (BODY_CODES.has(code)) throw new Undetermined(code);
    // The engine said so of the attempt: an app that did not answer in time, a value that is too large.
    const nonRetryable = !retryable && !step.retry.nonRetryable.includes(code);
    return { kind: 'failed', code, message, stack: '', nonRetryable, retryAfterMs: null };
  }

  /** The run of the world that a run here is; undefined: nobody waits for it. */
  #recorded(runId: string): RecordedRun | undefined {
    if (!this.#runs.has(runId)) for (const [id, run] of [...this.#runs]) this.#meetChildren(id, run);
    return this.#runs.get(runId);
  }

  #meetChildren(id: string, run: RecordedRun): void {
    for (const { path, child } of this.#machine.view(id).steps) {
      const recorded = run.children.get(path);
      if (child === null || recorded === undefined || this.#runs.has(child)) continue;
      this.#runs.set(child, recorded);
      this.#meetChildren(child, recorded);
    }
  }
}

function nameOf({ runId, path, attempt }: InProcessTask): string {
  return `${runId}/${path}#${attempt}`;
}

/** What the run comes to when it is played again; null: that depends on how long things take. */
export function playAgain(run: RecordedRun, truth: Truth): Played | null {
  try {
    return new Player(run, truth).play(run);
  } catch (error) {
    if (error instanceof Undetermined) return null;
    throw DuctorError.from(error);
  }
}
