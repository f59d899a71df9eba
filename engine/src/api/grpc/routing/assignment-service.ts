/** AssignmentService: work that recipients have. */
import {
  AssignmentServiceService,
  AssignmentState as State,
  AssignmentVerb,
  type Assignment,
  type AssignmentOutcome,
  type BatchAssignmentsRequest,
  type BatchAssignmentsResponse,
  type GetAssignmentRequest,
  type GetAssignmentResponse,
  type ListAssignmentsRequest,
  type ListAssignmentsResponse,
  type RespondAssignmentRequest,
  type RespondAssignmentResponse,
  type SetAssignmentWorkStateRequest,
  type SetAssignmentWorkStateResponse,
} from '../../../gen/ductor/v1/assignment.js';
import type { AssignmentQuery, Assignments, AssignmentState, StoredAssignment, Verb } from '../../../capacity/index.js';
import { DuctorError, impossible } from '../../../kernel/index.js';
import type { Routing } from '../../../routing/index.js';
import { deedOf, type Principal, type Tenancy } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { momentCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { wireError } from '../errors/wire-error.js';
import { ASSIGNMENT_STATES, assignmentMessage } from '../wire/assignment.js';
import { pageOf } from '../wire/page.js';

/** What the handlers need. */
export interface AssignmentParts {
  readonly assignments: Assignments;
  readonly tenancy: Pick<Tenancy, 'trail'>;
  readonly slaClocks: Routing['slaClocks'];
  readonly setWorkState: Routing['setWorkState'];
}

const MAX_REASON_CHARS = 1024;
const MAX_WORK_STATE_CHARS = 64;
const MAX_ITEMS = 200;

const VERBS: ReadonlyMap<AssignmentVerb, Verb> = new Map([
  [AssignmentVerb.ASSIGNMENT_VERB_ACCEPT, 'accept'],
  [AssignmentVerb.ASSIGNMENT_VERB_DECLINE, 'decline'],
  [AssignmentVerb.ASSIGNMENT_VERB_CONFIRM, 'confirm'],
  [AssignmentVerb.ASSIGNMENT_VERB_COMPLETE, 'complete'],
  [AssignmentVerb.ASSIGNMENT_VERB_RELEASE, 'release'],
]);

const isState = (name: string): name is AssignmentState => Object.hasOwn(ASSIGNMENT_STATES, name);

function stateOf(checks: FieldChecks, state: State): AssignmentState | null {
  if (state === State.ASSIGNMENT_STATE_UNSPECIFIED) return null;
  const found = Object.keys(ASSIGNMENT_STATES)
    .filter(isState)
    .find((name) => ASSIGNMENT_STATES[name] === state);
  if (found === undefined) {
    checks.note('state', String(state), 'is no state of an assignment', 'use one of ASSIGNMENT_STATE_…');
  }
  return found ?? null;
}

function beforeOf(cursor: string): AssignmentQuery['before'] {
  if (cursor === '') return null;
  const { atUs: createdAtUs, id: assignmentId } = momentCursor(cursor);
  return { createdAtUs, assignmentId };
}

/** ListAssignments. A cursor names moment and id of the last assignment of its page. */
export function listAssignments({
  assignments,
  slaClocks,
}: AssignmentParts): Unary<ListAssignmentsRequest, ListAssignmentsResponse> {
  return async ({ recipientId, poolId, runId, state, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    if (recipientId !== '') checks.uuid('recipient_id', recipientId);
    if (poolId !== '') checks.uuid('pool_id', poolId);
    if (runId !== '') checks.uuid('run_id', runId);
    const wanted = stateOf(checks, state);
    checks.done();
    const found = await assignments.list(tenantId, {
      ...{ recipientId: recipientId === '' ? null : recipientId, poolId: poolId === '' ? null : poolId },
      runId: runId === '' ? null : runId,
      ...{ state: wanted, before: beforeOf(cursor), limit: limit + 1 },
    });
    const { page, end } = pageOf(found, limit, ({ createdAtUs, assignmentId }) => [createdAtUs, assignmentId]);
    const clocks = await slaClocks(
      tenantId,
      page.map(({ assignmentId }) => assignmentId),
    );
    return { data: page.map((each) => assignmentMessage(each, clocks)), pagination: end };
  };
}

/** GetAssignment. */
export function getAssignment({
  assignments,
  slaClocks,
}: AssignmentParts): Unary<GetAssignmentRequest, GetAssignmentResponse> {
  return async ({ assignmentId }, { tenantId }) => {
    checkId('assignment_id', assignmentId);
    const assignment = await assignments.get(tenantId, assignmentId);
    return { data: assignmentMessage(assignment, await slaClocks(tenantId, [assignmentId])) };
  };
}

/** RespondAssignment. */
export function respondAssignment({
  assignments,
}: AssignmentParts): Unary<RespondAssignmentRequest, RespondAssignmentResponse> {
  return async ({ assignmentId, reason }, by) => {
    const checks = new FieldChecks();
    checks.uuid('assignment_id', assignmentId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const caller = { by, method: AssignmentServiceService.respondAssignment.path };
    return { data: assignmentMessage(await assignments.respond(caller, assignmentId, reason)) };
  };
}

/** SetAssignmentWorkState. */
export function setAssignmentWorkState({
  setWorkState,
  slaClocks,
}: AssignmentParts): Unary<SetAssignmentWorkStateRequest, SetAssignmentWorkStateResponse> {
  return async ({ assignmentId, workState, reason }, by) => {
    const checks = new FieldChecks();
    checks.uuid('assignment_id', assignmentId);
    checks.text('work_state', workState, MAX_WORK_STATE_CHARS);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const caller = { by, method: AssignmentServiceService.setAssignmentWorkState.path };
    const change = { assignmentId, workState: workState === '' ? null : workState, reason };
    const assignment = await setWorkState(caller, change);
    return { data: assignmentMessage(assignment, await slaClocks(by.tenantId, [assignmentId])) };
  };
}

/** A call that does one thing to one assignment. */
interface ActRequest {
  readonly assignmentId: string;
  readonly reason?: string;
}

/** AcceptAssignment, DeclineAssignment, ConfirmAssignment, CompleteAssignment, ReleaseAssignment. */
export function actOnAssignment<Request extends ActRequest>(
  { assignments }: AssignmentParts,
  verb: Verb,
  method: string,
): Unary<Request, { data: Assignment | undefined }> {
  return async ({ assignmentId, reason = '' }, by) => {
    const checks = new FieldChecks();
    checks.uuid('assignment_id', assignmentId);
    checks.text('reason', reason, MAX_REASON_CHARS);
    checks.done();
    const [result] = await assignments.act({ by, method }, [{ assignmentId, verb, reason }]);
    if (result instanceof DuctorError) throw result;
    return { data: assignmentMessage(result ?? impossible('assignment-result', 'an action has no result')) };
  };
}

function outcomeOf(result: StoredAssignment | DuctorError): AssignmentOutcome {
  if (result instanceof DuctorError) return { outcome: { $case: 'error', value: wireError(result) } };
  return { outcome: { $case: 'assignment', value: assignmentMessage(result) } };
}

/** Notes in the audit trail what came to nothing, item by item. */
function noteRefused(
  { tenancy }: AssignmentParts,
  by: Principal,
  actions: readonly { readonly assignmentId: string }[],
  results: readonly (StoredAssignment | DuctorError)[],
): void {
  for (const [index, { assignmentId: objectId }] of actions.entries()) {
    const result = results[index];
    if (!(result instanceof DuctorError)) continue;
    const deed = deedOf(by, AssignmentServiceService.batchAssignments.path);
    tenancy.trail.note({ ...deed, tenantId: by.tenantId, objectKind: 'assignment', objectId, outcome: result.code });
  }
}

/** BatchAssignments. */
export function batchAssignments(parts: AssignmentParts): Unary<BatchAssignmentsRequest, BatchAssignmentsResponse> {
  return async ({ items }, by) => {
    const checks = new FieldChecks();
    checks.count('items', items.length, 1, MAX_ITEMS);
    checks.done();
    const actions = items.map(({ assignmentId, verb: wanted }, index) => {
      checks.uuid(`items[${index}].assignment_id`, assignmentId);
      const verb = VERBS.get(wanted);
      if (verb === undefined) {
        checks.note(`items[${index}].verb`, String(wanted), 'is nothing that is done', 'use one of ASSIGNMENT_VERB_…');
      }
      return { assignmentId, verb: verb ?? 'release', reason: '' } as const;
    });
    checks.done();
    const method = AssignmentServiceService.batchAssignments.path;
    const results = await parts.assignments.act({ by, method }, actions);
    noteRefused(parts, by, actions, results);
    return { data: results.map(outcomeOf) };
  };
}
