/**
 * What holds between the runs of a family, looked at with every row that is committed.
 *
 * - a child begins because the committed journal of its parent says so, and belongs to the step that says it
 * - a step that waits for a child ends with what that child really came to
 * - a run that was not terminated ends only after the children it waits for (M10)
 */
import type { RunKey } from '../../../engine/src/workflow/coordinator/ports.js';
import type { Entry, RunState, StepState } from '../../../engine/src/workflow/machine/index.js';
import { runOutput, stepAt } from '../../../engine/src/workflow/machine/index.js';
import type { Sim } from '../core/sim.js';
import { runName } from './names.js';
import type { Truth } from './truth.js';

/** The last run of the child of a step by its committed rows; undefined when it has none yet. */
function childOf(truth: Truth, { tenantId }: RunKey, { child }: StepState): RunState | undefined {
  return child === null ? undefined : truth.last({ tenantId, runId: child.runId });
}

function checkBirth(sim: Sim, truth: Truth, state: RunState): void {
  const { family, tenantId, runId, chain } = state;
  if (family === null) return;
  const parent = truth.state({ tenantId, runId: family.parentId });
  const step = `${family.parentId} ${family.parentPath}`;
  // To its parent a chain is one child, whose name is that of its first run.
  if (truth.births.get(runName({ tenantId, runId: chain?.chainId ?? runId })) !== step)
    sim.violate(`run ${runId} was started by no step of run ${family.parentId}`);
  const root = parent?.family?.rootId ?? parent?.chain?.chainId ?? parent?.runId;
  if (root !== family.rootId) sim.violate(`run ${runId} has the root ${family.rootId}, not ${root ?? 'any'}`);
  sim.marks.reach(state.familySlug === 'twig' ? 'child_of_random' : 'child_started');
}

function checkOutcome(sim: Sim, truth: Truth, state: RunState, entry: Entry): void {
  if (!('path' in entry) || (entry.kind !== 'step_completed' && entry.kind !== 'step_failed')) return;
  const step = state.steps.get(entry.path);
  if (step === undefined || step.child === null || step.child.isDetached) return;
  const child = childOf(truth, state, step);
  const where = `step ${entry.path} of run ${state.runId}`;
  if (child === undefined || child.closedAtUs === null) return sim.violate(`${where} ended before its child`);
  if (entry.kind === 'step_failed') {
    if (child.status === 'COMPLETED') sim.violate(`${where} failed, and its child completed`);
    return;
  }
  const output = runOutput(child);
  if (output === null || Buffer.compare(output.data, entry.output.data) !== 0) {
    sim.violate(`${where} has another output than its child`);
  }
}

function checkEnd(sim: Sim, truth: Truth, state: RunState): void {
  if (state.closedAtUs === null || state.status === 'TERMINATED') return;
  for (const step of state.steps.values()) {
    if (step.child === null || step.child.isDetached || step.child.policy === 'abandon') continue;
    const child = childOf(truth, state, step);
    if (child !== undefined && child.closedAtUs !== null) {
      if (step.child.told !== null) sim.marks.reach('child_told');
      continue;
    }
    sim.violate(`run ${state.runId} is ${state.status} before its child ${step.child.runId}`);
  }
}

/** Looks at a row that was appended. */
export function checkFamily(sim: Sim, truth: Truth, state: RunState, entries: readonly Entry[]): void {
  const { tenantId } = state;
  for (const entry of entries) {
    if (entry.kind !== 'child_started') continue;
    truth.births.set(runName({ tenantId, runId: entry.runId }), `${state.runId} ${entry.path}`);
    if (stepAt(truth.planOf(state), entry.path)?.compensates) sim.marks.reach('child_undid');
  }
  if (state.seq === 1) checkBirth(sim, truth, state);
  for (const entry of entries) checkOutcome(sim, truth, state, entry);
  checkEnd(sim, truth, state);
}

/** Children that the journal started and that never began, in words. */
export function* unborn(truth: Truth): Generator<string> {
  for (const { state } of truth.runs.values()) {
    for (const step of state.steps.values()) {
      if (step.child === null || childOf(truth, state, step) !== undefined) continue;
      yield `the child of step ${step.path} of run ${runName(state)} never began`;
    }
  }
}
