/** Assignments as the terminal shows them: `ductor assignment list`. */
import {
  Assignment,
  AssignmentState,
  type GetAssignmentResponse,
  ListAssignmentsResponse,
} from '../../gen/ductor/v1/assignment.js';
import { type CliContext, type ClientOptions, withEngine } from '../context.js';
import { enumWord } from '../enum-option.js';
import { type PageOptions, printPage, wantedPage } from '../list-page.js';
import { messageToJson } from '../output/message-json.js';
import type { Tone } from '../output/paint.js';
import { type Cell, table } from '../output/table.js';
import { momentText, usOf } from '../output/times.js';
import { findPoolId } from '../pool/find.js';
import { given } from '../workflow/find-definition.js';

const HEADER = ['ASSIGNMENT', 'STATE', 'UNITS', 'SINCE', 'RECIPIENT', 'WORK'];
const TONES: Readonly<Partial<Record<AssignmentState, Tone>>> = {
  [AssignmentState.ASSIGNMENT_STATE_OFFERED]: 'active',
  [AssignmentState.ASSIGNMENT_STATE_ACTIVE]: 'good',
  [AssignmentState.ASSIGNMENT_STATE_DECLINED]: 'warning',
};

function rowOf({
  id,
  state,
  units,
  createdAt,
  committedAt,
  endedAt,
  recipientId,
  routableId,
}: Assignment): readonly Cell[] {
  const text = enumWord({ ...AssignmentState }, 'ASSIGNMENT_STATE_', state);
  const since = momentText(usOf(endedAt ?? committedAt ?? createdAt));
  return [id, { text, tone: TONES[state] ?? 'quiet' }, String(units), since, recipientId, routableId];
}

/** Prints one assignment. */
export async function printAssignment(
  { terminal }: CliContext,
  assignment: Assignment,
  { json }: ClientOptions,
): Promise<void> {
  if (json === true) terminal.out(`${await messageToJson('Assignment', Assignment, assignment)}\n`);
  else terminal.out(table(terminal, HEADER, [rowOf(assignment)]));
}

/** `ductor assignment get`. */
export function getAssignment(context: CliContext, assignmentId: string, options: ClientOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const { data } = await engine.ask<GetAssignmentResponse>((...rest) =>
      engine.assignments.getAssignment({ assignmentId }, ...rest),
    );
    await printAssignment(context, given(data), options);
  });
}

/** Options of the command. */
export interface ListAssignmentsOptions extends PageOptions {
  readonly pool?: string;
  readonly recipient?: string;
  readonly run?: string;
  readonly state?: keyof typeof AssignmentState;
}

/** Runs the command. */
export function listAssignments(context: CliContext, options: ListAssignmentsOptions): Promise<void> {
  return withEngine(context, options, async (engine) => {
    const {
      pool,
      recipient: recipientId = '',
      run: runId = '',
      state: wanted = 'ASSIGNMENT_STATE_UNSPECIFIED',
    } = options;
    const poolId = pool === undefined ? '' : await findPoolId(engine, pool);
    const request = { poolId, recipientId, runId, state: AssignmentState[wanted], pagination: wantedPage(options) };
    const page = await engine.ask<ListAssignmentsResponse>((...rest) =>
      engine.assignments.listAssignments(request, ...rest),
    );
    const look = {
      ...{ name: 'ListAssignmentsResponse', encoder: ListAssignmentsResponse, none: 'There is no such assignment.' },
      ...{ header: HEADER, row: rowOf },
    };
    await printPage(context, options, look, page);
  });
}
