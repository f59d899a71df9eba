/**
 * The table of all transitions (M3). Whatever is not in it is a fault: of this code, or of a journal that this code
 * did not write.
 */
import { impossible } from '../../kernel/index.js';
import { openOf } from './body-state.js';
import { isEndDecided, isHeld, triesAgain, type Draft } from './draft.js';
import type { ClosedStatus, Entry } from './entries.js';
import { ownerOfScope, scopeName, scopeOfPath } from './path.js';
import { answerIn, hasSeen } from './signal-box.js';
import type { BodyState, GateState, StepState, StepStatus } from './state.js';
import { isActiveStatus, isBodyStatus, isWaitingStatus } from './step-table.js';

/** Status of a step, with PENDING for those that are not in the table of steps. */
export type StepFrom = StepStatus | 'PENDING';

/** Entries that concern an item or iteration of a body; their path is that of the step that runs the body. */
export type BodyEntry = Extract<Entry, { readonly path: string; readonly index: number }>;

/** Entries that concern a step. */
export type StepEntry = Exclude<Extract<Entry, { readonly path: string }>, BodyEntry>;

/** Entries that concern the run as a whole. */
export type RunEntry = Exclude<Entry, { readonly path: string }>;

/** Whether an entry concerns an item or iteration. */
export function isBodyEntry(entry: StepEntry | BodyEntry): entry is BodyEntry {
  return 'index' in entry;
}

/** From which states of a step each entry may come. */
export const STEP_TRANSITIONS: Readonly<Record<StepEntry['kind'], readonly StepFrom[]>> = {
  step_scheduled: ['PENDING', 'BACKOFF', 'WAITING'],
  step_asked: ['PENDING', 'BACKOFF', 'WAITING'],
  step_granted: ['WAITING'],
  step_running: ['SCHEDULED'],
  step_completed: ['SCHEDULED', 'RUNNING', 'PENDING', 'WAITING', 'CANCELLING', 'OPEN'],
  attempt_failed: ['SCHEDULED', 'RUNNING'],
  step_failed: ['SCHEDULED', 'RUNNING', 'PENDING', 'CANCELLING', 'WAITING', 'OPEN', 'CLOSING'],
  sub_step_completed: ['SCHEDULED', 'RUNNING', 'CANCELLING', 'BACKOFF'],
  step_waiting: ['PENDING'],
  child_started: ['PENDING'],
  child_told: ['WAITING'],
  step_awaiting: ['PENDING'],
  signal_taken: ['WAITING'],
  update_taken: ['WAITING'],
  approval_escalated: ['WAITING'],
  step_selecting: ['PENDING'],
  slate_reserved: ['WAITING'],
  claim_queued: ['WAITING'],
  claim_settling: ['WAITING'],
  route_queued: ['WAITING'],
  route_settling: ['WAITING'],
  step_skipped: ['PENDING'],
  step_cancelling: ['SCHEDULED', 'RUNNING'],
  step_cancelled: ['CANCELLING', 'BACKOFF', 'WAITING', 'SCHEDULED', 'RUNNING', 'OPEN', 'CLOSING'],
  step_opened: ['PENDING', 'WAITING'],
  step_continuing: ['OPEN'],
  step_closing: ['OPEN'],
  step_collected: ['PENDING', 'OPEN'],
};

/** Entries that may end a step whose body runs. */
const ENDS: readonly StepEntry['kind'][] = ['step_completed', 'step_failed', 'step_cancelled', 'step_collected'];

/** The attempt an entry must name: the one it opens, the one that is open, or 0 where the coordinator acts itself. */
function attemptNamed(entry: StepEntry, from: StepFrom, previous: StepState | undefined): number {
  const { kind } = entry;
  // What an attempt has done may become known after it ended.
  if (kind === 'sub_step_completed') return Math.max(1, Math.min(entry.attempt, previous?.attempt ?? 0));
  if (kind === 'step_scheduled') return (previous?.attempt ?? 0) + 1;
  return from === 'SCHEDULED' || from === 'RUNNING' || from === 'CANCELLING' ? (previous?.attempt ?? 0) : 0;
}

/** Whether the run goes on by itself: only then steps begin, try again or reach the end of a wait. */
function goesOn(draft: Draft): boolean {
  return !isHeld(draft) && !isEndDecided(draft) && !draft.terminated;
}

/** Whether this step may begin, try again or reach the end of a wait. */
function stepGoesOn(draft: Draft, path: string): boolean {
  if (isHeld(draft) || draft.terminated || !triesAgain(draft)) return false;
  return draft.compensating === null || draft.compensating.includes(path);
}

/** Whether the run has come to the point from which it may be compensated. */
function mayCompensate(draft: Draft, steps: readonly string[]): boolean {
  if (isHeld(draft) || draft.terminated || draft.compensating !== null || steps.length === 0) return false;
  if (draft.ending === 'COMPLETED' || draft.ending === 'CONTINUED' || !isEndDecided(draft)) return false;
  return draft.steps.active() === 0 && draft.steps.waiting() === 0;
}

/** What a step had before an entry. */
interface Had {
  readonly hasChild: boolean;
  /** Whether its work waits in a claim queue. */
  readonly hasClaim: boolean;
  /** Whether its work waits in the queue of a pool. */
  readonly hasWork: boolean;
  /** Whether it has taken the update that its attempts answer. */
  readonly hasTaken: boolean;
  readonly gate: GateState | null;
  /** Whether it waits for recipients, and for nothing else. */
  readonly isSelecting: boolean;
}

/** Why what a step has asked for forbids the entry; null: it does not. */
function gateRefusal(entry: StepEntry, from: StepFrom, { gate, hasTaken }: Had): string | null {
  const isIn = (...states: readonly GateState['state'][]): boolean => gate !== null && states.includes(gate.state);
  if (entry.kind === 'step_granted' && !isIn('waiting')) return 'which does not stand in line';
  if (entry.kind === 'step_asked' && isIn('waiting', 'held')) return 'which has asked already';
  // A step that has taken its update, and not asked yet, waits for nothing: it asks, or is scheduled, in the same row.
  const isReady = gate === null && hasTaken;
  if (entry.kind === 'step_asked' && from === 'WAITING' && !isReady && !isIn('left'))
    return 'which waits for something else';
  if (entry.kind !== 'step_scheduled') return null;
  if (from === 'WAITING' && !isReady && !isIn('held')) return 'which has taken no update and was granted nothing';
  return isIn('waiting', 'left') ? 'before it was granted what it needs' : null;
}

/** Why the run's own state forbids the entry of a step; null: it does not. */
function refusal(draft: Draft, entry: StepEntry, from: StepFrom, had: Had): string | null {
  const { hasChild, hasClaim, hasWork } = had;
  if (draft.terminated && entry.kind !== 'step_cancelled') return 'in a run that is terminated';
  if (entry.kind === 'step_cancelling') return draft.compensating === null ? null : 'which compensates';
  if (entry.kind === 'step_cancelled') {
    const isTold =
      from === 'CANCELLING' || from === 'BACKOFF' || from === 'WAITING' || from === 'OPEN' || from === 'CLOSING';
    return isTold || draft.terminated ? null : 'which was not told to stop';
  }
  const gate = gateRefusal(entry, from, had);
  if (gate !== null) return gate;
  if (entry.kind === 'step_opened' && from === 'WAITING' && !had.isSelecting) return 'which selects nobody';
  if (entry.kind === 'claim_queued' && !had.isSelecting) return 'which asks for no claim';
  if (entry.kind === 'claim_settling' && !hasClaim) return 'which has no work in a queue';
  if (entry.kind === 'route_queued' && !had.isSelecting) return 'which routes nothing';
  if (entry.kind === 'route_settling' && !hasWork) return 'which has no work in a queue';
  if (entry.kind === 'child_told') return hasChild && draft.compensating === null ? null : 'which has none to tell';
  if (entry.kind === 'sub_step_completed') return null;
  // What a child, a claim or work in a queue comes to is a fact, like the result of an attempt.
  const isWait = from === 'WAITING' && !hasChild && !hasClaim && !hasWork;
  const isBeginning = from === 'PENDING' || isWait || from === 'BACKOFF' || entry.kind === 'step_collected';
  return isBeginning && !stepGoesOn(draft, entry.path) ? `${from} in a run that is held` : null;
}

/** Why the bodies around a step, or its own, forbid the entry; null: they do not. */
function placeRefusal(draft: Draft, entry: StepEntry, previous: StepState | undefined): string | null {
  const { steps, terminated } = draft;
  const scope = scopeOfPath(entry.path);
  if (scope !== '') {
    const status = steps.get(ownerOfScope(scope))?.status;
    if (status !== 'OPEN' && status !== 'CLOSING' && !terminated) return 'in a body that does not run';
  }
  const body = previous?.body;
  // With the run its bodies end, too: their items are left as they are.
  const isOver = !body || terminated || openOf(body) === 0 || isEndDecided(draft);
  return isOver || !ENDS.includes(entry.kind) ? null : 'while items of it are under way';
}

function refuse(draft: Draft, entry: Entry, why: string): never {
  impossible('transition', `${entry.kind} ${why} in run ${draft.before.runId} after row ${draft.before.seq}`);
}

/** The step's state before the entry. Throws internal when the entry is no transition from it. */
export function checkStepEntry(draft: Draft, entry: StepEntry): StepState | undefined {
  if (!draft.started || draft.closed !== null) refuse(draft, entry, 'of a run that is not open');
  const previous = draft.steps.get(entry.path);
  const from: StepFrom = previous?.status ?? 'PENDING';
  if (!STEP_TRANSITIONS[entry.kind].includes(from)) refuse(draft, entry, `of step ${entry.path} which is ${from}`);
  const attempt = 'attempt' in entry ? entry.attempt : 0;
  const named = attemptNamed(entry, from, previous);
  if (attempt !== named) refuse(draft, entry, `of step ${entry.path} names attempt ${attempt}, not ${named}`);
  const hasChild = previous !== undefined && previous.child !== null;
  const hasTaken = Boolean(previous?.taken);
  const hasClaim = previous?.claim !== undefined;
  const hasWork = previous?.queued !== undefined;
  const isInQueue = hasClaim || hasWork;
  const isSelecting =
    !hasChild && !isInQueue && !hasTaken && !previous?.gate && !previous?.awaits && previous?.dueAtUs === null;
  const had = { hasChild, hasClaim, hasWork, hasTaken, gate: previous?.gate ?? null, isSelecting };
  const why = placeRefusal(draft, entry, previous) ?? refusal(draft, entry, from, had);
  if (why !== null) refuse(draft, entry, `of step ${entry.path}, ${why}`);
  return previous;
}

/** Whether a step of a scope is under way. */
function isOpenMember(draft: Draft, path: string): boolean {
  const status = draft.steps.get(path)?.status;
  return status !== undefined && (isActiveStatus(status) || isWaitingStatus(status) || isBodyStatus(status));
}

/** The step that runs the body. Throws internal when the entry is no transition of its item or iteration. */
export function checkBodyEntry(draft: Draft, entry: BodyEntry): StepState & { readonly body: BodyState } {
  if (!draft.started || draft.closed !== null) refuse(draft, entry, 'of a run that is not open');
  if (!goesOn(draft)) refuse(draft, entry, 'in a run that is held');
  const owner = draft.steps.get(entry.path);
  const scope = draft.steps.scope(scopeName(entry.path, entry.index));
  if (!owner?.body || !isBodyStatus(owner.status) || scope === undefined) {
    refuse(draft, entry, `of ${scopeName(entry.path, entry.index)}, which does not run`);
  }
  if (entry.kind === 'body_failing') {
    if (scope.error !== null) refuse(draft, entry, `of ${scope.name}, which is failing`);
  } else if (scope.members.some((path) => isOpenMember(draft, path))) {
    refuse(draft, entry, `of ${scope.name}, of which steps are under way`);
  }
  return { ...owner, body: owner.body };
}

function mayClose(draft: Draft, status: ClosedStatus): boolean {
  if (isHeld(draft) || draft.steps.active() > 0 || draft.steps.waiting() > 0 || draft.steps.bodies() > 0) return false;
  if (draft.terminated || status === 'TERMINATED') return draft.terminated && status === 'TERMINATED';
  if (draft.cancel !== null || status === 'CANCELLED') return draft.cancel !== null && status === 'CANCELLED';
  if (draft.ending !== null || status === 'TIMED_OUT' || status === 'CONTINUED') return draft.ending === status;
  return (draft.error !== null) === (status === 'FAILED');
}

/** Whether a run that does not go on may still be paused: it continues as new, and so does what was asked of it. */
function mayBePaused(draft: Draft): boolean {
  return draft.ending === 'CONTINUED' && !isHeld(draft) && !draft.terminated;
}

function isRunTransition(draft: Draft, entry: RunEntry): boolean {
  if (entry.kind === 'run_started') return !draft.started;
  if (!draft.started || draft.closed !== null) return false;
  switch (entry.kind) {
    case 'signal_received':
      return !draft.terminated && !hasSeen(draft.signals, entry.name, entry.id, draft.atUs);
    case 'run_asked':
      return goesOn(draft) && (entry.ticket === 0 ? draft.gate === null : draft.gate?.state === 'left');
    case 'run_granted':
      return goesOn(draft) && (draft.gate?.state === 'waiting' || draft.gate?.startAtUs !== null);
    case 'update_answered':
      return !draft.terminated && answerIn(draft.signals, entry.name, entry.id) === undefined;
    case 'cancel_requested':
      return draft.cancel === null && (draft.ending === null || draft.ending === 'CONTINUED');
    case 'run_parked':
      return draft.parked === null;
    case 'run_paused':
      return goesOn(draft) || mayBePaused(draft);
    case 'run_resumed':
      return isHeld(draft);
    case 'run_ending':
      // The time of a run that is failing can be over, too; nothing else may change how a run ends.
      if (isHeld(draft) || draft.cancel !== null || draft.ending !== null || draft.compensating !== null) return false;
      return entry.status === 'TIMED_OUT' ? entry.error !== null : draft.error === null;
    case 'run_continuing':
      return goesOn(draft);
    case 'run_compensating':
      return mayCompensate(draft, entry.steps);
    case 'run_terminated':
      return true;
    case 'run_failing':
      return goesOn(draft);
    case 'run_closed':
      return mayClose(draft, entry.status) && (entry.status === 'CONTINUED') === (entry.successorId !== undefined);
  }
}

/** Throws internal when the entry is no transition of the run. */
export function checkRunEntry(draft: Draft, entry: RunEntry): void {
  if (!isRunTransition(draft, entry)) refuse(draft, entry, 'is no transition');
}
