/** What a step waits for that waits for a signal: questions about it, and what becomes of it. */
import { impossible } from '../../kernel/index.js';
import { decisionIn } from './decision.js';
import type { Entry } from './entries.js';
import type { Signal } from './signal-box.js';
import type { OpenApproval } from './plan.js';
import type { Awaited, StepState } from './state.js';

/** What an entry says that a step waits for. */
export function awaitedBy(entry: Extract<Entry, { readonly kind: 'step_awaiting' }>): Awaited {
  return { name: entry.name, deadlineUs: entry.deadlineUs, approval: entry.approval };
}

/** When time changes a wait: its escalation or its end, whichever comes first. */
export function dueOf({ deadlineUs, approval }: Pick<Awaited, 'deadlineUs' | 'approval'>): number | null {
  const escalationUs = approval?.escalation?.atUs ?? null;
  if (deadlineUs === null || escalationUs === null) return deadlineUs ?? escalationUs;
  return Math.min(deadlineUs, escalationUs);
}

/** The wait once its approval is escalated: the new assignees may decide, the earlier ones still may. */
export function escalated({ path, awaits }: StepState): Awaited {
  const approval = awaits?.approval;
  if (!awaits || !approval?.escalation) impossible('escalation', `step ${path} has nothing to escalate`);
  const assignees = [...new Set([...(approval.assignees ?? []), ...approval.escalation.assignees])];
  const opened: OpenApproval = { ...approval, assignees: approval.assignees === null ? null : assignees };
  return { ...awaits, approval: { ...opened, escalation: null } };
}

/** Whether a signal ends the wait: of an approval only a decision that an assignee may take. */
export function fits(awaits: Awaited, signal: Signal): boolean {
  if (awaits.name !== signal.name) return false;
  const { approval } = awaits;
  if (approval === null) return true;
  const decision = decisionIn(signal);
  if (decision === undefined || !approval.options.includes(decision.option)) return false;
  return approval.assignees === null || approval.assignees.includes(signal.by);
}
