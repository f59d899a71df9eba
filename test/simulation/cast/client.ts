/**
 * Clients: start runs, some under idempotency keys and repeated, send signals, and cancel some. A start without a key
 * that was not answered is given up; one with a key, and a signal, is repeated until it is answered.
 */
import { DuctorError } from '../../../engine/src/kernel/index.js';
import type { StartRequest } from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { RunKey } from '../../../engine/src/workflow/coordinator/ports.js';
import type { Signal } from '../../../engine/src/workflow/machine/index.js';
import type { AnswerCheck } from '../checks/answer-check.js';
import type { Truth } from '../checks/truth.js';
import type { Deed } from '../core/deed.js';
import type { Sim } from '../core/sim.js';
import type { Engine } from './engine.js';

/** How long a client waits for an answer before it asks another engine. */
const PATIENCE_US = 12_000_000;

/** Codes with which a start may be refused and tried again. */
const BUSY: ReadonlySet<string> = new Set(['node_starting', 'node_fenced', 'limit_exceeded', 'database_unavailable']);

/** Whether an engine answers so because it stops, or has no database: another one may take the call. */
function isAway(code: string): boolean {
  return code === 'node_starting' || code === 'database_unavailable';
}

/** A request that was made and is not answered. */
interface Call {
  readonly engine: Engine;
  readonly sinceUs: number;
  isAnswered: boolean;
}

/** All clients. */
export class Client {
  readonly #calls = new Set<Call>();

  /** @param engines the engines there are */
  constructor(
    readonly sim: Sim,
    readonly truth: Truth,
    readonly answers: AnswerCheck,
    readonly engines: () => readonly Engine[],
  ) {}

  /** Calls that an engine that lives has not answered for long. */
  get unanswered(): number {
    const beforeUs = this.sim.scheduler.nowUs - PATIENCE_US;
    const isLate = ({ engine, sinceUs }: Call): boolean =>
      sinceUs < beforeUs && engine.isServing && engine.actor.state === 'running';
    return [...this.#calls].filter(isLate).length;
  }

  /** Starts a run at some engine. */
  start(request: StartRequest, isPoison = false): void {
    const engine = this.sim.choices.pick(this.engines().filter((other) => other.isServing));
    if (engine === undefined) return this.#startAgain(request, isPoison);
    const call = this.#call(engine, () => request.startKey !== null && this.#startAgain(request, isPoison));
    this.#ask(engine, `is asked to start ${request.familySlug}/${request.version}`, async () => {
      try {
        const outcome = await engine.coordinator.start(request);
        this.answers.start(request, outcome);
      } catch (error) {
        this.#refused(request, isPoison, DuctorError.from(error));
      }
      this.#answered(call);
    });
  }

  /** Cancels a run at some engine. */
  cancel(run: RunKey): void {
    const engine = this.sim.choices.pick(this.engines().filter((other) => other.isServing));
    if (engine === undefined) return;
    const call = this.#call(engine, () => undefined);
    this.#ask(engine, `is asked to cancel ${run.runId.slice(-6)}`, async () => {
      try {
        await engine.coordinator.cancel(run, 'enough', 'client');
        this.answers.cancel(run);
      } catch (error) {
        this.#refusedFor('cancel', run, DuctorError.from(error));
      }
      this.#answered(call);
    });
  }

  /** Does something to a run at some engine. */
  act(run: RunKey, deed: Deed): void {
    const engine = this.sim.choices.pick(this.engines().filter((other) => other.isServing));
    if (engine === undefined) return;
    const call = this.#call(engine, () => undefined);
    const { coordinator } = engine;
    const deeds = {
      pause: () => coordinator.pause(run, 'wait', 'ada'),
      resume: () => coordinator.resume(run, 'ada'),
      retry: () => coordinator.retry(run, 'ada'),
      terminate: () => coordinator.terminate(run, 'enough', 'ada'),
    };
    this.#ask(engine, `is asked to ${deed} ${run.runId.slice(-6)}`, async () => {
      try {
        await deeds[deed]();
        this.answers.deed(run, deed);
      } catch (error) {
        this.#refusedFor(deed, run, DuctorError.from(error));
      }
      this.#answered(call);
    });
  }

  /** Sends a signal to a run at some engine, again and again until it is answered. */
  signal(run: RunKey, signal: Signal): void {
    const again = (): void => {
      this.sim.marks.reach('signal_repeated');
      this.sim.scheduler.after(this.sim.choices.int(100_000, 900_000), null, 'a client signals again', () =>
        this.signal(run, signal),
      );
    };
    const engine = this.sim.choices.pick(this.engines().filter((other) => other.isServing));
    if (engine === undefined) return again();
    const call = this.#call(engine, again);
    this.#ask(engine, `is asked to signal ${signal.name}#${signal.id} to ${run.runId.slice(-6)}`, async () => {
      try {
        await engine.coordinator.signal(run, signal);
        this.answers.signal(run, signal);
      } catch (error) {
        const { code } = DuctorError.from(error);
        if (isAway(code)) again();
        else this.#signalRefused(run, signal, code);
      }
      this.#answered(call);
    });
  }

  #ask(engine: Engine, label: string, ask: () => Promise<void>): void {
    this.sim.scheduler.after(this.sim.choices.int(100, 5_000), engine.actor, label, () => void ask());
  }

  #call(engine: Engine, late: () => void): Call {
    const call: Call = { engine, sinceUs: this.sim.scheduler.nowUs, isAnswered: false };
    this.#calls.add(call);
    this.sim.scheduler.after(PATIENCE_US, null, 'a client looks whether it was answered', () => {
      if (!call.isAnswered) late();
    });
    return call;
  }

  #answered(call: Call): void {
    call.isAnswered = true;
    this.#calls.delete(call);
  }

  #startAgain(request: StartRequest, isPoison: boolean): void {
    this.sim.scheduler.after(this.sim.choices.int(100_000, 900_000), null, 'a client tries again', () =>
      this.start(request, isPoison),
    );
  }

  #refused(request: StartRequest, isPoison: boolean, error: DuctorError): void {
    if (BUSY.has(error.code)) {
      this.sim.marks.reach('start_refused');
      this.#startAgain(request, isPoison);
    } else if (error.code === 'idempotency_conflict' && request.startKey !== null) {
      this.sim.marks.reach('start_conflict');
      this.answers.conflict(request);
    } else if (error.code !== 'invalid_argument' || !isPoison) {
      this.sim.violate(`a start was refused: ${error.code} ${error.message}`);
    }
  }

  #signalRefused(run: RunKey, { name, id }: Signal, code: string): void {
    const state = this.truth.state(run);
    const isClosed = code === 'run_closed' && state !== undefined && state.closedAtUs !== null;
    if (isClosed) this.sim.marks.reach('signal_refused');
    else this.sim.violate(`signal ${name}#${id} to ${run.runId}, ${state?.status ?? 'nowhere'}, was refused: ${code}`);
  }

  #refusedFor(what: string, run: RunKey, error: DuctorError): void {
    const state = this.truth.last(run);
    const isBusy = isAway(error.code);
    const isClosed = error.code === 'run_closed' && state !== undefined && state.closedAtUs !== null;
    const isNowhere = error.code === 'not_found' && state === undefined;
    if (!isBusy && !isClosed && !isNowhere) {
      this.sim.violate(`${what} of ${run.runId}, ${state?.status ?? 'nowhere'}, was refused: ${error.code}`);
    }
  }
}
