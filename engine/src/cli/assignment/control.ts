/** `ductor assignment accept`, `decline`, `confirm`, `respond`, `complete`, `release` and `work-state`. */
import type { Assignment } from '../../gen/ductor/v1/assignment.js';
import type { CallRest, EngineClient } from '../connect/engine-client.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { given } from '../workflow/find-definition.js';
import { printAssignment } from './list.js';

/** Options of the commands; only declining, responding and releasing take a reason. */
export interface AssignmentControlOptions extends ClientOptions {
  readonly reason?: string;
}

type Ask = (
  engine: EngineClient,
  request: { readonly assignmentId: string; readonly reason: string },
  rest: CallRest<{ data: Assignment | undefined }>,
) => unknown;

/** How each is asked. */
const ASKS = {
  accept: ({ assignments }, { assignmentId }, rest) => assignments.acceptAssignment({ assignmentId }, ...rest),
  decline: ({ assignments }, request, rest) => assignments.declineAssignment({ ...request }, ...rest),
  confirm: ({ assignments }, { assignmentId }, rest) => assignments.confirmAssignment({ assignmentId }, ...rest),
  respond: ({ assignments }, request, rest) => assignments.respondAssignment({ ...request }, ...rest),
  complete: ({ assignments }, { assignmentId }, rest) => assignments.completeAssignment({ assignmentId }, ...rest),
  release: ({ assignments }, request, rest) => assignments.releaseAssignment({ ...request }, ...rest),
} satisfies Readonly<Record<string, Ask>>;

/** `ductor assignment work-state`. */
export function setWorkState(
  context: CliContext,
  assignmentId: string,
  workState: string,
  { reason = '', ...options }: AssignmentControlOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { assignmentId, workState, reason };
    const { data } = await engine.ask<{ data: Assignment | undefined }>((...rest) =>
      engine.assignments.setAssignmentWorkState(request, ...rest),
    );
    await printAssignment(context, given(data), options);
  });
}

/** What can be done to an assignment. */
export type AssignmentAct = keyof typeof ASKS;

/** Runs one of them. */
export function controlAssignment(
  context: CliContext,
  act: AssignmentAct,
  assignmentId: string,
  options: AssignmentControlOptions,
): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const request = { assignmentId, reason: options.reason ?? '' };
    const { data } = await engine.ask<{ data: Assignment | undefined }>((...rest) => ASKS[act](engine, request, rest));
    await printAssignment(context, given(data), options);
  });
}
