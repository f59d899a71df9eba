/** What a run makes of a signal before it is sent: refusals at the door, by plan and the last state that is known. */
import { DuctorError } from '../../kernel/index.js';
import { decisionIn } from './decision.js';
import { isClosed } from './queries.js';
import { EMPTY_BOX, hasSeen, type Signal } from './signal-box.js';
import type { OpenApproval, Plan, PlanSignal } from './plan.js';
import type { RunState } from './state.js';

/** Signals a run holds that no step has taken; with those under way it may hold some more for a moment. */
export const SIGNALS_MAX = 1_000;
/** Bytes of their payloads. */
export const SIGNAL_BYTES_MAX = 8 * 1024 * 1024;

/** Throws invalid_argument for what a schema does not allow. */
export function refuse(problems: readonly string[], remedy = 'Send what the schema of the step allows.'): void {
  if (problems.length === 0) return;
  const details = problems.map((text) => {
    const colon = text.indexOf(': ');
    return { path: text.slice(0, colon), value: '', problem: text.slice(colon + 2), remedy };
  });
  throw new DuctorError('invalid_argument', problems[0] ?? '', { details, remedy });
}

/** Throws mailbox_full when a run holds as much as it may that no step has taken. */
export function checkRoom(state: RunState, signal: Signal): void {
  const { waiting, bytes } = state.signals ?? EMPTY_BOX;
  const total = bytes + signal.payload.data.byteLength;
  if (waiting.length < SIGNALS_MAX && total <= SIGNAL_BYTES_MAX) return;
  const holds = `${waiting.length} signals with ${bytes} bytes that no step has taken`;
  const message = `run ${state.runId} holds ${holds}; at most ${SIGNALS_MAX} and ${SIGNAL_BYTES_MAX} bytes are kept`;
  throw new DuctorError('mailbox_full', message);
}

/** The open approval that a decision is about. Throws approval_not_open. */
function openApproval(state: RunState, name: string): OpenApproval {
  for (const { awaits } of state.steps.values()) {
    if (awaits?.name === name && awaits.approval !== null) return awaits.approval;
  }
  throw new DuctorError('approval_not_open', `run ${state.runId} waits for no decision on ${name}`);
}

function checkDecision(state: RunState, planned: PlanSignal, signal: Signal): void {
  const decision = decisionIn(signal);
  const { options, assignees } = openApproval(state, signal.name);
  if (decision === undefined || !options.includes(decision.option)) {
    const problem = `is none of the options: ${options.join(', ')}`;
    const path = 'decision.option';
    const details = [{ path, value: decision?.option ?? '', problem, remedy: 'Name one of them.' }];
    throw new DuctorError('invalid_argument', `${path}: ${problem}`, { details });
  }
  if (assignees !== null && !assignees.includes(signal.by)) {
    const who = signal.by === '' ? 'nobody' : JSON.stringify(signal.by);
    throw new DuctorError('not_assignee', `${who} may not decide ${signal.name}; ${assignees.join(', ')} may`);
  }
  refuse(planned.check(decision.form));
}

function plannedSignal(plan: Plan, name: string): PlanSignal {
  const planned = plan.signals.get(name);
  if (planned !== undefined) return planned;
  if (plan.updates.has(name)) {
    const remedy = 'Send it with UpdateRun, which answers what comes of it.';
    throw new DuctorError('signal_unknown', `${JSON.stringify(name)} is an update of ${plan.familySlug}`, { remedy });
  }
  const names = [...plan.signals.keys()];
  const known = names.length === 0 ? 'it waits for none' : `it waits for ${names.join(', ')}`;
  const what = `${plan.familySlug} version ${plan.version} waits for no signal ${JSON.stringify(name)}`;
  throw new DuctorError('signal_unknown', `${what}; ${known}`);
}

/**
 * Looks at a signal that a run of the plan is to receive as it begins.
 *
 * @throws DuctorError signal_unknown, invalid_argument, approval_not_open
 */
export function admitFirstSignal(plan: Plan, { name, payload }: Signal): void {
  const planned = plannedSignal(plan, name);
  if (planned.options === null) return refuse(planned.check(payload));
  throw new DuctorError(
    'approval_not_open',
    `a run of ${plan.familySlug} begins without a decision on ${name} to wait for`,
  );
}

/**
 * Whether a signal is to be sent: 'repeated' when the run has received it before. The state may be older than what the
 * run does next, so that a decision which is admitted may still come second.
 *
 * @throws DuctorError signal_unknown, invalid_argument, approval_not_open, not_assignee, mailbox_full, run_closed
 */
export function admitSignal(plan: Plan, state: RunState, signal: Signal): 'new' | 'repeated' {
  const planned = plannedSignal(plan, signal.name);
  if (hasSeen(state.signals ?? EMPTY_BOX, signal.name, signal.id, state.atUs)) return 'repeated';
  if (isClosed(state)) throw new DuctorError('run_closed', `run ${state.runId} has ended: ${state.status}`);
  if (planned.options === null) refuse(planned.check(signal.payload));
  else checkDecision(state, planned, signal);
  checkRoom(state, signal);
  return 'new';
}
