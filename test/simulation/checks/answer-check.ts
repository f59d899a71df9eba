/**
 * Nothing is acknowledged that the committed journal or mailbox does not hold, at the moment of the acknowledgement;
 * and nothing is refused as settled that the journal still waits for.
 */
import type {
  ResultAck,
  RunChange,
  StartOutcome,
  StartRequest,
} from '../../../engine/src/workflow/coordinator/coordinator.js';
import type { AttemptRef, RunKey } from '../../../engine/src/workflow/coordinator/ports.js';
import { isClosed, runOutput, type Signal, type Value } from '../../../engine/src/workflow/machine/index.js';
import type { Deed } from '../core/deed.js';
import type { Sim } from '../core/sim.js';
import { attemptName, runName, shortRef, signalName } from './names.js';
import type { Truth } from './truth.js';

function isSameValue(a: Value | null, b: Value | null): boolean {
  if (a === null || b === null) return a === b;
  return a.encoding === b.encoding && Buffer.compare(a.data, b.data) === 0;
}

/** The checks of answers. */
export class AnswerCheck {
  /** Runs whose start was acknowledged. */
  readonly started = new Map<string, RunKey>();
  readonly #fresh = new Set<string>();
  readonly #keys = new Map<string, string>();
  /** Runs whose cancel was acknowledged. */
  readonly cancelled = new Map<string, RunKey>();
  /** Signals that were acknowledged. */
  readonly signalled = new Set<string>();

  constructor(
    readonly sim: Sim,
    readonly truth: Truth,
  ) {}

  /** A start was answered. */
  start(request: StartRequest, outcome: StartOutcome): void {
    const { tenantId, familySlug, startKey } = request;
    const run = { tenantId, runId: outcome.runId };
    const state = this.truth.state(run);
    if (state === undefined)
      return this.sim.violate(`start of ${outcome.runId} was acknowledged and is not in the journal`);
    this.started.set(runName(run), run);
    if (this.truth.unknownStarts.has(runName(run))) this.sim.marks.reach('start_from_lost_commit');
    if (state.version !== outcome.version || state.familySlug !== familySlug) {
      this.sim.violate(`start of ${outcome.runId} was answered with another version`);
    }
    if (!isSameValue(state.input, request.input)) {
      this.sim.violate(`start of ${outcome.runId} was answered with a run of another input`);
    }
    if (outcome.existing) this.sim.marks.reach('start_existing');
    else if (this.#fresh.has(runName(run))) this.sim.violate(`run ${outcome.runId} was answered as new twice`);
    else this.#fresh.add(runName(run));
    if (startKey === null) return;
    const key = JSON.stringify([tenantId, familySlug, startKey.key]);
    const earlier = this.#keys.get(key) ?? outcome.runId;
    if (earlier !== outcome.runId) this.sim.violate(`key ${key} has started ${earlier} and ${outcome.runId}`);
    this.#keys.set(key, outcome.runId);
  }

  /** A start was refused because its key was used with another input. */
  conflict(request: StartRequest): void {
    const { tenantId, familySlug, startKey } = request;
    const runId = this.#keys.get(JSON.stringify([tenantId, familySlug, startKey?.key]));
    const state = runId === undefined ? undefined : this.truth.state({ tenantId, runId });
    if (state !== undefined && isSameValue(state.input, request.input)) {
      this.sim.violate(`key ${startKey?.key ?? ''} was refused for the input it was used with`);
    }
  }

  /** A result was answered. */
  result(ref: AttemptRef, ack: ResultAck): void {
    if (ack === 'recorded') {
      if (this.truth.hasOutcome(ref) || this.truth.mailedResults.has(attemptName(ref))) return;
      this.sim.violate(`result of ${shortRef(ref)} was acknowledged and is nowhere`);
      return;
    }
    this.sim.marks.reach('result_settled_before');
    if (this.truth.awaits(ref) && !this.truth.poisoned.has(attemptName(ref))) {
      this.sim.violate(`result of ${shortRef(ref)} was refused as settled and is awaited`);
    }
  }

  /** A cancel was answered. */
  cancel(run: RunKey): void {
    if (!this.truth.mailedCancels.has(runName(run))) {
      this.sim.violate(`cancel of ${run.runId} was acknowledged and is nowhere`);
    }
    this.cancelled.set(runName(run), run);
  }

  /** Something that somebody did to a run was answered. */
  deed(run: RunKey, deed: Deed): void {
    const name = `${deed} ${runName({ tenantId: run.tenantId, runId: this.truth.chainId(run) })}`;
    if (!this.truth.mailedDeeds.has(name)) this.sim.violate(`${deed} of ${run.runId} was acknowledged and is nowhere`);
    if (deed === 'terminate') this.cancelled.set(runName(run), run);
  }

  /** A signal was answered. */
  signal(run: RunKey, signal: Signal): void {
    const name = signalName(run.tenantId, this.truth.chainId(run), signal);
    if (!this.truth.mailedSignals.has(name)) this.sim.violate(`signal ${name} was acknowledged and is nowhere`);
    this.signalled.add(name);
  }

  /** A public change was told. */
  change(change: RunChange): void {
    const state = this.truth.state(change);
    if (state === undefined) return this.sim.violate(`run ${change.runId} was told of and is not in the journal`);
    if (change.closed === null) return;
    if (!isClosed(state) || state.status !== change.status) {
      return this.sim.violate(`run ${change.runId} was told to be ${change.status} and is ${state.status}`);
    }
    const output = state.status === 'COMPLETED' ? runOutput(state) : null;
    if (!isSameValue(output, change.closed.output))
      this.sim.violate(`run ${change.runId} was told with another output`);
  }
}
