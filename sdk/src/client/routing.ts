/** Routing from code: work finds its recipient, and says how it went. */
import type { CallOptions, ChannelCredentials, ClientOptions, Metadata } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  type Assignment,
  type AssignmentClock,
  AssignmentServiceClient,
  AssignmentState,
  type GetAssignmentResponse,
} from '../gen/ductor/v1/assignment.js';
import {
  type DecisionExplanation,
  type ExplainDecisionResponse,
  type ExportDecisionResponse,
  type ExportedDecision,
  type GetDecisionResponse,
  type ListDecisionsResponse,
  type PreviewRouteResponse,
  PreviewRouteRequest,
  type ReleaseSeatsResponse,
  type ReplayDecisionResponse,
  ReportOutcomeRequest,
  type ReportOutcomeResponse,
  RouteBatchRequest,
  type RouteBatchResponse,
  type RouteResponse,
  RouteRequest,
  type RoutingDecision,
  RoutingServiceClient,
} from '../gen/ductor/v1/routing.js';
import {
  PREVIEW_OPTIONS,
  type PreviewOptions,
  requestOf,
  ROUTE_OPTIONS,
  type RouteOptions,
  type WorkOfMany,
  type WorkToRoute,
} from './routing-work.js';
import { dateOf, timestampOf } from './run-view.js';
import type { PageOptions } from './schedule-options.js';
import { page } from './topology-call.js';
import { present, unary } from './unary.js';
import { type WaitingCalls, waitingCalls } from './waiting.js';

/** A decision. */
export interface DecisionView {
  readonly id: string;
  /** `assigned`, `offered`, `no_eligible_recipient` and so on: docs/routing.md lists them all. */
  readonly outcome: string;
  /** `success`, `waiting`, `refused` or `infrastructure`. */
  readonly outcomeClass: string;
  /** Why, where it is no success; else empty. */
  readonly reason: string;
  /** Chosen recipients, best first. */
  readonly slate: readonly { readonly recipientId: string; readonly units: number }[];
  /** One for each of the slate; empty for a preview. */
  readonly assignmentIds: readonly string[];
  readonly poolId: string;
  readonly ruleId: string;
  readonly routableId: string;
  /** The first decision about the same work, for the outcome `duplicate`; else empty. */
  readonly duplicateOf: string;
  /** The decision that queued the work first, of work that has waited in the queue of a pool; else empty. */
  readonly queuedBy: string;
  readonly decidedAt: Date | undefined;
  /** When to look again, for outcomes that wait. */
  readonly retryAt: Date | undefined;
  /** Where it was asked for. */
  readonly explanation: DecisionExplanation | undefined;
}

/** State of an assignment. */
export type AssignmentStateName = 'OFFERED' | 'ACTIVE' | 'COMPLETED' | 'DECLINED' | 'RELEASED' | 'UNKNOWN';

/** Work that a recipient has. */
export interface AssignmentView {
  readonly id: string;
  readonly recipientId: string;
  readonly poolId: string;
  readonly decisionId: string;
  readonly routableId: string;
  readonly units: number;
  readonly state: AssignmentStateName;
  readonly createdAt: Date | undefined;
  readonly committedAt: Date | undefined;
  readonly endedAt: Date | undefined;
  /** When its recipient answered first. */
  readonly respondedAt: Date | undefined;
  /** What it waits for, in words of those who do it; empty: nothing. */
  readonly workState: string;
  /** By the SLA of its pool, what is due first in front. Filled by `assignment` and `setWorkState`. */
  readonly clocks: readonly AssignmentClockView[];
}

/** The clock of one clause of an SLA; absent moments have not come. */
export interface AssignmentClockView {
  /** "pickup", "first_response" or "resolve". */
  readonly clause: string;
  readonly warnAt: Date | undefined;
  readonly dueAt: Date | undefined;
  readonly warnedAt: Date | undefined;
  readonly breachedAt: Date | undefined;
  /** When it was seen to be kept, or to be over without. */
  readonly settledAt: Date | undefined;
  /** Since when it stands still. */
  readonly pausedAt: Date | undefined;
  /** By how much its breach has raised the priority of the work. */
  readonly raisedPriorityBy: number;
}

/** How work went. */
export interface OutcomeReport {
  readonly success: boolean;
  /** How long it took: `"350ms"`. Default: not known. */
  readonly latency?: string;
  /** The recipient has a rate limit until then: it is left out. */
  readonly resetAt?: Date;
}

/** Whose work it was: that of an assignment, by its id; or, of work that a workflow holds, a recipient's of a pool. */
export type ReportedWork = string | { readonly poolId: string; readonly recipientId: string };

/** What is known of a recipient after an outcome. */
export interface RecipientHealthView {
  readonly recipientId: string;
  readonly failuresInARow: number;
  readonly ejectedUntil: Date | undefined;
  readonly cooldownUntil: Date | undefined;
  readonly latencyMs: number | undefined;
}

/** What came of one of many works. */
export type RoutedView =
  | { readonly decision: DecisionView; readonly error?: undefined }
  | { readonly decision?: undefined; readonly error: { readonly code: string; readonly message: string } };

/** Which decisions are listed, latest first. */
export interface DecisionListOptions extends PageOptions {
  readonly poolId?: string;
  readonly outcome?: string;
  readonly routableId?: string;
}

/** A page of decisions. */
export interface DecisionPage {
  readonly decisions: readonly DecisionView[];
  /** Cursor of the next page; undefined on the last. */
  readonly nextCursor: string | undefined;
}

/** Calls about routing. All throw DuctorError: invalid_argument, not_found, capacity_authority_unavailable and more. */
export interface RoutingCalls extends WaitingCalls {
  /** Decides and assigns. That nobody gets the work is an outcome, no error. */
  route(work: WorkToRoute, options?: RouteOptions): Promise<DecisionView>;
  /** Up to 200 works at once, each decided by itself; one answer for each, in their order. */
  routeMany(works: readonly WorkOfMany[]): Promise<readonly RoutedView[]>;
  /** What route would decide now; nothing is written. */
  preview(work: WorkToRoute, options?: PreviewOptions): Promise<DecisionView>;
  /** A decision. */
  decision(decisionId: string): Promise<DecisionView>;
  decisions(options?: DecisionListOptions): Promise<DecisionPage>;
  /** A decision's record with all documents that it names: it replays without an engine. */
  exportDecision(decisionId: string): Promise<ExportedDecision>;
  /** A decision with how it came about. */
  explain(decisionId: string): Promise<DecisionView>;
  /** Makes a decision again from its record; whether it comes to the same, byte for byte. */
  replay(decisionId: string): Promise<boolean>;
  /** Says how an assignment went: strategies that learn, and the ejection of recipients that fail, go by it. */
  reportOutcome(work: ReportedWork, outcome: OutcomeReport): Promise<RecipientHealthView>;
  /** Ends all seats and tiers of an owner, in every pool; how many bindings those were. */
  releaseSeats(owner: string): Promise<number>;
  /** An assignment as it is now. */
  assignment(assignmentId: string): Promise<AssignmentView>;
  /** Takes an offer, as its recipient. Throws recipient_capacity_exhausted besides. */
  accept(assignmentId: string): Promise<AssignmentView>;
  /** Turns an offer down, as its recipient. */
  decline(assignmentId: string, reason?: string): Promise<AssignmentView>;
  /** Makes an offer binding, as who sent the work. Throws recipient_capacity_exhausted besides. */
  confirm(assignmentId: string): Promise<AssignmentView>;
  /** The work is done: its units are free again. */
  complete(assignmentId: string): Promise<AssignmentView>;
  /** The work is taken away: its units are free again. */
  release(assignmentId: string, reason?: string): Promise<AssignmentView>;
  /** The recipient of active work has answered for the first time. */
  respond(assignmentId: string, reason?: string): Promise<AssignmentView>;
  /** Says what active work waits for, such as "waiting_customer"; empty: for nothing any more. */
  setWorkState(assignmentId: string, workState: string, reason?: string): Promise<AssignmentView>;
}

/** Channels of the calls. */
export interface RoutingChannel {
  readonly calls: RoutingCalls;
  close(): void;
}

const DECISION_LIST: Readonly<Record<keyof DecisionListOptions, true>> = {
  ...{ poolId: true, outcome: true, routableId: true, pageSize: true, cursor: true },
};
const OUTCOME_FIELDS: Readonly<Record<keyof OutcomeReport, true>> = { success: true, latency: true, resetAt: true };

function decisionView(decision: RoutingDecision): DecisionView {
  const { reservationIds: _, decidedAt, retryAt, ...rest } = decision;
  return { ...rest, decidedAt: dateOf(decidedAt), retryAt: dateOf(retryAt) };
}

const STATES: Readonly<Partial<Record<AssignmentState, AssignmentStateName>>> = {
  [AssignmentState.ASSIGNMENT_STATE_OFFERED]: 'OFFERED',
  [AssignmentState.ASSIGNMENT_STATE_ACTIVE]: 'ACTIVE',
  [AssignmentState.ASSIGNMENT_STATE_COMPLETED]: 'COMPLETED',
  [AssignmentState.ASSIGNMENT_STATE_DECLINED]: 'DECLINED',
  [AssignmentState.ASSIGNMENT_STATE_RELEASED]: 'RELEASED',
};

function clockView({ clause, raisedPriorityBy, ...at }: AssignmentClock): AssignmentClockView {
  return {
    ...{ clause, raisedPriorityBy, warnAt: dateOf(at.warnAt), dueAt: dateOf(at.dueAt) },
    ...{ warnedAt: dateOf(at.warnedAt), breachedAt: dateOf(at.breachedAt), settledAt: dateOf(at.settledAt) },
    pausedAt: dateOf(at.pausedAt),
  };
}

function assignmentView(assignment: Assignment): AssignmentView {
  const { state, createdAt, committedAt, endedAt, respondedAt, clocks, ...rest } = assignment;
  return {
    ...rest,
    state: STATES[state] ?? 'UNKNOWN',
    ...{ createdAt: dateOf(createdAt), committedAt: dateOf(committedAt), endedAt: dateOf(endedAt) },
    ...{ respondedAt: dateOf(respondedAt), clocks: clocks.map(clockView) },
  };
}

/** Credentials and deadline of the next call. */
type Setup = () => { readonly metadata: Metadata; readonly options: CallOptions };

/** An answer that carries an assignment. */
type AssignmentAnswer = Pick<GetAssignmentResponse, 'data'>;

function assignmentCalls(client: AssignmentServiceClient, setup: Setup) {
  type Call = (
    done: Parameters<Parameters<typeof unary<AssignmentAnswer>>[0]>[0],
  ) => ReturnType<typeof client.getAssignment>;
  const ask = async (call: Call): Promise<AssignmentView> =>
    assignmentView(present((await unary<AssignmentAnswer>(call)).data));
  const rest = (): [Metadata, CallOptions] => {
    const { metadata, options } = setup();
    return [metadata, options];
  };
  return {
    assignment: (assignmentId) => ask((done) => client.getAssignment({ assignmentId }, ...rest(), done)),
    accept: (assignmentId) => ask((done) => client.acceptAssignment({ assignmentId }, ...rest(), done)),
    decline: (assignmentId, reason = '') =>
      ask((done) => client.declineAssignment({ assignmentId, reason }, ...rest(), done)),
    confirm: (assignmentId) => ask((done) => client.confirmAssignment({ assignmentId }, ...rest(), done)),
    complete: (assignmentId) => ask((done) => client.completeAssignment({ assignmentId }, ...rest(), done)),
    release: (assignmentId, reason = '') =>
      ask((done) => client.releaseAssignment({ assignmentId, reason }, ...rest(), done)),
    respond: (assignmentId, reason = '') =>
      ask((done) => client.respondAssignment({ assignmentId, reason }, ...rest(), done)),
    setWorkState: (assignmentId, workState, reason = '') =>
      ask((done) => client.setAssignmentWorkState({ assignmentId, workState, reason }, ...rest(), done)),
  } satisfies Partial<RoutingCalls>;
}

function decidingCalls(client: RoutingServiceClient, setup: Setup) {
  return {
    async route(work, options = {}) {
      checkNames('route', options, ROUTE_OPTIONS);
      const { idempotencyKey = '', ...said } = options;
      const request = RouteRequest.fromPartial({ ...requestOf(work, said), idempotencyKey });
      const { metadata, options: call } = setup();
      const { data } = await unary<RouteResponse>((done) => client.route(request, metadata, call, done));
      return decisionView(present(data));
    },
    async routeMany(works) {
      const items = works.map(({ work, ...options }) => {
        checkNames('route', options, ROUTE_OPTIONS);
        return requestOf(work, options);
      });
      const { metadata, options: call } = setup();
      const request = RouteBatchRequest.fromPartial({ items });
      const { data } = await unary<RouteBatchResponse>((done) => client.routeBatch(request, metadata, call, done));
      return data.map(({ outcome }): RoutedView => {
        if (outcome?.$case === 'decision') return { decision: decisionView(outcome.value) };
        const { code = 'internal', message = 'the engine answered nothing' } = outcome?.value ?? {};
        return { error: { code, message } };
      });
    },
    async preview(work, options = {}) {
      checkNames('preview', options, PREVIEW_OPTIONS);
      const request = PreviewRouteRequest.fromPartial(requestOf(work, options));
      const { metadata, options: call } = setup();
      const { data } = await unary<PreviewRouteResponse>((done) => client.previewRoute(request, metadata, call, done));
      return decisionView(present(data));
    },
  } satisfies Partial<RoutingCalls>;
}

function decisionCalls(client: RoutingServiceClient, setup: Setup) {
  return {
    async decision(decisionId) {
      const { metadata, options: call } = setup();
      const { data } = await unary<GetDecisionResponse>((done) =>
        client.getDecision({ decisionId }, metadata, call, done),
      );
      return decisionView(present(data));
    },
    async decisions(options = {}) {
      checkNames('list of decisions', options, DECISION_LIST);
      const { poolId = '', outcome = '', routableId = '', ...rest } = options;
      const request = { poolId, outcome, routableId, pagination: page(rest) };
      const { metadata, options: call } = setup();
      const { data, pagination } = await unary<ListDecisionsResponse>((done) =>
        client.listDecisions(request, metadata, call, done),
      );
      return { decisions: data.map(decisionView), nextCursor: pagination?.nextCursor || undefined };
    },
    async explain(decisionId) {
      const { metadata, options: call } = setup();
      const { data } = await unary<ExplainDecisionResponse>((done) =>
        client.explainDecision({ decisionId }, metadata, call, done),
      );
      return decisionView(present(data));
    },
    async replay(decisionId) {
      const { metadata, options: call } = setup();
      const { data } = await unary<ReplayDecisionResponse>((done) =>
        client.replayDecision({ decisionId }, metadata, call, done),
      );
      return present(data).isSame;
    },
    async exportDecision(decisionId) {
      const { metadata, options: call } = setup();
      const { data } = await unary<ExportDecisionResponse>((done) =>
        client.exportDecision({ decisionId }, metadata, call, done),
      );
      return present(data);
    },
  } satisfies Partial<RoutingCalls>;
}

function reportCalls(client: RoutingServiceClient, setup: Setup) {
  return {
    async releaseSeats(owner) {
      const { metadata, options: call } = setup();
      const { data } = await unary<ReleaseSeatsResponse>((done) =>
        client.releaseSeats({ owner }, metadata, call, done),
      );
      return present(data).released;
    },
    async reportOutcome(work, outcome) {
      checkNames('outcome', outcome, OUTCOME_FIELDS);
      const { success, latency = '', resetAt } = outcome;
      const request = ReportOutcomeRequest.fromPartial({
        ...{ ...(typeof work === 'string' ? { assignmentId: work } : work), success, latency },
        ...(resetAt !== undefined && { resetAt: timestampOf(resetAt) }),
      });
      const { metadata, options: call } = setup();
      const { data } = await unary<ReportOutcomeResponse>((done) =>
        client.reportOutcome(request, metadata, call, done),
      );
      const { ejectedUntil, cooldownUntil, latencyMs, ...rest } = present(data);
      return { ...rest, latencyMs, ejectedUntil: dateOf(ejectedUntil), cooldownUntil: dateOf(cooldownUntil) };
    },
  } satisfies Partial<RoutingCalls>;
}

/** Opens them. */
export function routingCalls(
  target: string,
  credentials: ChannelCredentials,
  options: ClientOptions,
  setup: Setup,
): RoutingChannel {
  const routing = new RoutingServiceClient(target, credentials, options);
  const assignments = new AssignmentServiceClient(target, credentials, options);
  return {
    calls: {
      ...decidingCalls(routing, setup),
      ...decisionCalls(routing, setup),
      ...reportCalls(routing, setup),
      ...waitingCalls(routing, setup),
      ...assignmentCalls(assignments, setup),
    },
    close() {
      routing.close();
      assignments.close();
    },
  };
}
