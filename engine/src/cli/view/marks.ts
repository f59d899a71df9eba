/** How states and types look: one sign and one tone each. */
import { RunState, StepState } from '../../gen/ductor/v1/run.js';
import { EdgeType, StepType } from '../../gen/ductor/v1/workflow.js';
import type { EdgeKind, Mark } from '../dag/graph.js';
import type { Tone } from '../output/paint.js';

const mark = (unicode: string, ascii: string, tone: Tone): Mark => ({ unicode, ascii, tone });

const STEP_MARKS: ReadonlyMap<StepState, Mark> = new Map([
  [StepState.STEP_STATE_PENDING, mark('·', '.', 'quiet')],
  [StepState.STEP_STATE_SCHEDULED, mark('○', 'o', 'active')],
  [StepState.STEP_STATE_RUNNING, mark('●', '*', 'active')],
  [StepState.STEP_STATE_BACKOFF, mark('↻', 'r', 'warning')],
  [StepState.STEP_STATE_WAITING, mark('◷', 'w', 'active')],
  [StepState.STEP_STATE_CANCELLING, mark('◐', '~', 'warning')],
  [StepState.STEP_STATE_COMPLETED, mark('✓', '+', 'good')],
  [StepState.STEP_STATE_FAILED, mark('✗', 'x', 'bad')],
  [StepState.STEP_STATE_SKIPPED, mark('–', '-', 'quiet')],
  [StepState.STEP_STATE_CANCELLED, mark('⊘', '/', 'quiet')],
]);

/** By name: a contract of later days may bring more of them. */
const TYPE_MARKS: ReadonlyMap<string, Mark> = new Map([
  ['CALLBACK', mark('▸', 'c', 'plain')],
  ['DATAFLOW', mark('≡', 'd', 'plain')],
  ['WAIT', mark('◷', 'w', 'plain')],
  ['SWITCH', mark('◇', 's', 'plain')],
  ['FAIL', mark('✗', 'f', 'plain')],
  ['SIGNAL', mark('◁', 'n', 'plain')],
  ['APPROVAL', mark('☐', 'a', 'plain')],
  ['COMPLETE', mark('■', 'e', 'plain')],
  ['SCATTER', mark('∀', 'm', 'plain')],
  ['GATHER', mark('∪', 'g', 'plain')],
  ['LOOP', mark('↺', 'l', 'plain')],
  ['SUB_WORKFLOW', mark('▣', 'b', 'plain')],
  ['HTTP', mark('⇄', 'h', 'plain')],
  ['SELECT', mark('⊙', '@', 'plain')],
  ['ROUTE', mark('➤', 'r', 'plain')],
  ['CLAIM', mark('⊕', 'k', 'plain')],
  ['CONTINUE_AS_NEW', mark('↻', 'o', 'plain')],
]);

const RUN_TONES: ReadonlyMap<RunState, Tone> = new Map([
  [RunState.RUN_STATE_PENDING, 'active'],
  [RunState.RUN_STATE_RUNNING, 'active'],
  [RunState.RUN_STATE_WAITING, 'active'],
  [RunState.RUN_STATE_PAUSED, 'warning'],
  [RunState.RUN_STATE_PARKED, 'bad'],
  [RunState.RUN_STATE_CANCELLING, 'warning'],
  [RunState.RUN_STATE_COMPLETED, 'good'],
  [RunState.RUN_STATE_FAILED, 'bad'],
  [RunState.RUN_STATE_CANCELLED, 'quiet'],
  [RunState.RUN_STATE_TIMED_OUT, 'bad'],
  [RunState.RUN_STATE_TERMINATED, 'bad'],
]);

const EDGE_KINDS: ReadonlyMap<string, EdgeKind> = new Map([
  ['EDGE_TYPE_FAILURE', 'failure'],
  ['EDGE_TYPE_ALWAYS', 'always'],
  ['EDGE_TYPE_TIMEOUT', 'timeout'],
  ['EDGE_TYPE_COMPENSATE', 'compensate'],
]);

const UNKNOWN = mark('?', '?', 'plain');
const CLOSED: ReadonlySet<RunState> = new Set([
  RunState.RUN_STATE_COMPLETED,
  RunState.RUN_STATE_FAILED,
  RunState.RUN_STATE_CANCELLED,
  RunState.RUN_STATE_TIMED_OUT,
  RunState.RUN_STATE_TERMINATED,
  RunState.RUN_STATE_CONTINUED,
]);

/** Sign of a step's state. */
export function stepMark(state: StepState): Mark {
  return STEP_MARKS.get(state) ?? UNKNOWN;
}

/** Sign of a step's type. */
export function typeMark(type: StepType): Mark {
  return TYPE_MARKS.get(stepTypeName(type)) ?? UNKNOWN;
}

/** Tone of a run's state. */
export function runTone(state: RunState): Tone {
  return RUN_TONES.get(state) ?? 'plain';
}

/** What an edge waits for. */
export function edgeKind(type: EdgeType): EdgeKind {
  return EDGE_KINDS.get(EdgeType[type] ?? '') ?? 'success';
}

/** Whether nothing changes a run in this state any more. */
export function isClosedState(state: RunState): boolean {
  return CLOSED.has(state);
}

/** WAITING for RUN_STATE_WAITING; the number of a state that this command does not know. */
export function runStateName(state: RunState): string {
  return RunState[state]?.replace('RUN_STATE_', '') ?? String(state);
}

/** Like runStateName, for steps. */
export function stepStateName(state: StepState): string {
  return StepState[state]?.replace('STEP_STATE_', '') ?? String(state);
}

/** CALLBACK for STEP_TYPE_CALLBACK. */
export function stepTypeName(type: StepType): string {
  return StepType[type]?.replace('STEP_TYPE_', '') ?? String(type);
}
