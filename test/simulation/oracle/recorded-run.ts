/**
 * What a run that has ended was told by its workers and its children, read from its committed rows; and whether that
 * alone determines what it came to.
 *
 * It does where nothing but the definition, the input and the outcomes of attempts had a hand in it: nobody cancelled,
 * paused, ended or signalled the run, nothing was reserved, routed or claimed, and the run has no deadline. Where steps
 * were under way side by side, the first failure decides which of the others still begin: such a run is determined only
 * if it completed, and nothing was or could be stopped on the way. A run with one step at a time is, however it ended.
 */
import { decodeEntries, payloadShelf } from '../../../engine/src/workflow/journal/index.js';
import {
  stepAt,
  type Entry,
  type Plan,
  type PlanStep,
  type RunState,
} from '../../../engine/src/workflow/machine/index.js';
import type { RunFailure } from '../../../engine/src/workflow/machine/state.js';
import type { Value } from '../../../engine/src/workflow/machine/value.js';
import { runName } from '../checks/names.js';
import type { World } from '../scenario/world.js';

/** How an attempt ended, as the journal has it. */
export type RecordedEnd =
  { readonly kind: 'completed'; readonly output: Value } | { readonly kind: 'failed'; readonly error: RunFailure };

/** A run that is determined by this. */
export interface RecordedRun {
  readonly state: RunState;
  readonly plan: Plan;
  /** By path#attempt. */
  readonly ends: ReadonlyMap<string, RecordedEnd>;
  /** Those that its steps wait for, by path. */
  readonly children: ReadonlyMap<string, RecordedRun>;
}

/** Kinds of entries that a determined run may have. */
const PLAIN_KINDS: ReadonlySet<string> = new Set<Entry['kind']>([
  ...(['run_started', 'run_asked', 'run_granted', 'run_failing', 'run_compensating'] as const),
  ...(['run_ending', 'run_closed'] as const),
  ...(['step_scheduled', 'step_running', 'step_completed', 'attempt_failed', 'step_failed', 'step_skipped'] as const),
  ...(['step_waiting', 'step_awaiting', 'approval_escalated', 'step_asked', 'step_granted', 'child_started'] as const),
  ...(['step_opened', 'step_continuing', 'step_closing', 'step_collected'] as const),
  ...(['body_completed', 'body_failed', 'body_failing'] as const),
]);

/** Those after which it matters what else was under way. */
const HASTY_KINDS: ReadonlySet<string> = new Set<Entry['kind']>([
  ...(['run_failing', 'run_compensating', 'run_ending', 'step_closing', 'body_failing'] as const),
]);

/** Types of steps that ask nobody but their workers, their children and the clock. */
const PLAIN_TYPES: ReadonlySet<string> = new Set<PlanStep['type']>([
  ...(['CALLBACK', 'DATAFLOW', 'WAIT', 'SWITCH', 'SIGNAL', 'APPROVAL', 'SUB_WORKFLOW'] as const),
  ...(['SCATTER', 'GATHER', 'LOOP', 'FAIL', 'COMPLETE'] as const),
]);

const BEGIN: ReadonlySet<string> = new Set(['step_scheduled', 'step_waiting', 'step_awaiting', 'step_asked']);
const END: ReadonlySet<string> = new Set(['step_completed', 'step_failed']);

/** Whether a step of the plan stops others once it begins. */
function stopsLosers(plan: Plan): boolean {
  return [...plan.stepByRef.values()].some(({ join }) => join.mode === 'n_of' && join.cancelLosers);
}

/** What the rows of one run say. */
class Reading {
  readonly ends = new Map<string, RecordedEnd>();
  readonly started = new Map<string, string>();
  readonly #underWay = new Set<string>();
  isPlain = true;
  isSequential = true;
  isHasty = false;

  constructor(readonly plan: Plan) {}

  row(entries: readonly Entry[]): void {
    for (const entry of entries) this.#entry(entry);
    if (this.#underWay.size > 1) this.isSequential = false;
  }

  #entry(entry: Entry): void {
    const { kind } = entry;
    if (!PLAIN_KINDS.has(kind)) this.isPlain = false;
    if (HASTY_KINDS.has(kind)) this.isHasty = true;
    if (!('path' in entry)) return;
    const step = stepAt(this.plan, entry.path);
    // One that was only skipped asked nobody.
    if (kind !== 'step_skipped' && (step === undefined || !PLAIN_TYPES.has(step.type))) this.isPlain = false;
    if (BEGIN.has(kind)) this.#underWay.add(entry.path);
    if (END.has(kind)) this.#underWay.delete(entry.path);
    switch (entry.kind) {
      case 'child_started':
        if (entry.isDetached) return;
        this.started.set(entry.path, entry.runId);
        this.#underWay.add(entry.path);
        return;
      case 'step_completed':
        this.ends.set(`${entry.path}#${entry.attempt}`, { kind: 'completed', output: entry.output });
        return;
      case 'attempt_failed':
      case 'step_failed':
        this.ends.set(`${entry.path}#${entry.attempt}`, { kind: 'failed', error: entry.error });
        return;
      default:
        return;
    }
  }
}

/** Reads the runs of a world, each once. */
export class Recorder {
  readonly #read = new Map<string, RecordedRun | null>();

  constructor(readonly world: World) {}

  /** The run; null: it is not determined, or has not ended. */
  recorded(state: RunState): RecordedRun | null {
    const name = runName(state);
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const found = this.#readRun(state, name);
    this.#read.set(name, found);
    return found;
  }

  #readRun(state: RunState, name: string): RecordedRun | null {
    if (state.status !== 'COMPLETED' && state.status !== 'FAILED') return null;
    if (state.chain !== null || state.error?.code === 'workflow_not_published') return null;
    const plan = this.world.truth.planOf(state);
    if (plan.timeoutMs !== null) return null;
    const reading = new Reading(plan);
    const shelf = payloadShelf(state.runId, this.world.truth.runs.get(name)?.payloads);
    for (const { entries } of this.world.server.db.runs.get(name)?.rows ?? []) {
      reading.row(decodeEntries(entries, shelf));
      if (!reading.isPlain) return null;
    }
    if (!reading.isSequential && (state.status === 'FAILED' || reading.isHasty || stopsLosers(plan))) return null;
    const children = this.#children(state, reading.started);
    return children === null ? null : { state, plan, ends: reading.ends, children };
  }

  #children(parent: RunState, started: ReadonlyMap<string, string>): ReadonlyMap<string, RecordedRun> | null {
    const children = new Map<string, RecordedRun>();
    for (const [path, runId] of started) {
      const state = this.world.truth.state({ tenantId: parent.tenantId, runId });
      const child = state === undefined ? null : this.recorded(state);
      if (child === null) return null;
      children.set(path, child);
    }
    return children;
  }
}
