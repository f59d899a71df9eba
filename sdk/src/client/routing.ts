/** Routing from code: work finds its recipient, and says how it went. */
import type { CallOptions, ChannelCredentials, ClientOptions, Metadata } from '@grpc/grpc-js';
import { checkNames } from '../connection/field-checks.js';
import {
  type Assignment,
  AssignmentServiceClient,
  AssignmentState,
  type GetAssignmentResponse,
} from '../gen/ductor/v1/assignment.js';
import {
  type DecisionExplanation,
  type ExplainDecisionResponse,
  type PreviewRouteResponse,
  PreviewRouteRequest,
  type ReplayDecisionResponse,
  ReportOutcomeRequest,
  type ReportOutcomeResponse,
  type RouteResponse,
  RouteRequest,
  type RoutingDecision,
  RoutingServiceClient,
} from '../gen/ductor/v1/routing.js';
import { dateOf, timestampOf } from './run-view.js';
import { present, unary } from './unary.js';

/** A unit of work that is to be routed. */
export interface WorkToRoute {
  /** Name that its sender has for it. */
  readonly id: string;
  readonly type?: string;
  /** What rules and scores read: JSON. */
  readonly attributes?: Readonly<Record<string, unknown>>;
  /** Higher is more urgent. Default 0. */
  readonly priority?: number;
  /** Says how many units it takes of a recipient. */
  readonly channel?: string;
  readonly requiredSkills?: readonly string[];
  /** Work with one key is decided once within the pool's dedupe window. */
  readonly dedupeKey?: string;
  /** From then on it is not routed. */
  readonly expiresAt?: Date;
  /** When it came in. Default: now. */
  readonly receivedAt?: Date;
}

/** What a preview may say beside the work. */
export interface PreviewOptions {
  /** The pool to begin with, by its id. Default: the rules say which. */
  readonly poolId?: string;
  /** This one and no other. */
  readonly recipientId?: string;
  readonly excludedRecipientIds?: readonly string[];
  /** Recipients it was offered to before, the last one first. */
  readonly previousRecipientIds?: readonly string[];
  /** Whether the answer says how it came about. Default false. */
  readonly explain?: boolean;
}

/** What a call of route may say beside the work. */
export interface RouteOptions extends PreviewOptions {
  /** The same key with the same request answers the decision that was made first, for 30 days. */
  readonly idempotencyKey?: string;
}

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
}

/** How work went. */
export interface OutcomeReport {
  readonly success: boolean;
  /** How long it took: `"350ms"`. Default: not known. */
  readonly latency?: string;
  /** The recipient has a rate limit until then: it is left out. */
  readonly resetAt?: Date;
}

/** What is known of a recipient after an outcome. */
export interface RecipientHealthView {
  readonly recipientId: string;
  readonly failuresInARow: number;
  readonly ejectedUntil: Date | undefined;
  readonly cooldownUntil: Date | undefined;
  readonly latencyMs: number | undefined;
}

/** Calls about routing. All throw DuctorError: invalid_argument, not_found, capacity_authority_unavailable and more. */
export interface RoutingCalls {
  /** Decides and assigns. That nobody gets the work is an outcome, no error. */
  route(work: WorkToRoute, options?: RouteOptions): Promise<DecisionView>;
  /** What route would decide now; nothing is written. */
  preview(work: WorkToRoute, options?: PreviewOptions): Promise<DecisionView>;
  /** A decision with how it came about. */
  explain(decisionId: string): Promise<DecisionView>;
  /** Makes a decision again from its record; whether it comes to the same, byte for byte. */
  replay(decisionId: string): Promise<boolean>;
  /** Says how an assignment went: strategies that learn, and the ejection of recipients that fail, go by it. */
  reportOutcome(assignmentId: string, outcome: OutcomeReport): Promise<RecipientHealthView>;
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
}

/** Channels of the calls. */
export interface RoutingChannel {
  readonly calls: RoutingCalls;
  close(): void;
}

const WORK_FIELDS: Readonly<Record<keyof WorkToRoute, true>> = {
  ...{ id: true, type: true, attributes: true, priority: true, channel: true, requiredSkills: true },
  ...{ dedupeKey: true, expiresAt: true, receivedAt: true },
};
const PREVIEW_OPTIONS: Readonly<Record<keyof PreviewOptions, true>> = {
  ...{ poolId: true, recipientId: true, excludedRecipientIds: true, previousRecipientIds: true, explain: true },
};
const ROUTE_OPTIONS: Readonly<Record<keyof RouteOptions, true>> = { ...PREVIEW_OPTIONS, idempotencyKey: true };
const OUTCOME_FIELDS: Readonly<Record<keyof OutcomeReport, true>> = { success: true, latency: true, resetAt: true };

function requestOf(work: WorkToRoute, options: PreviewOptions) {
  checkNames('routable', work, WORK_FIELDS);
  const { attributes, requiredSkills, expiresAt, receivedAt, ...rest } = work;
  const { excludedRecipientIds = [], previousRecipientIds = [], ...said } = options;
  return {
    ...said,
    ...{ excludedRecipientIds: [...excludedRecipientIds], previousRecipientIds: [...previousRecipientIds] },
    routable: {
      ...rest,
      requiredSkills: [...(requiredSkills ?? [])],
      ...(attributes !== undefined && { attributes: { ...attributes } }),
      ...(expiresAt !== undefined && { expiresAt: timestampOf(expiresAt) }),
      ...(receivedAt !== undefined && { receivedAt: timestampOf(receivedAt) }),
    },
  };
}

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

function assignmentView({ state, createdAt, committedAt, endedAt, ...rest }: Assignment): AssignmentView {
  return {
    ...rest,
    state: STATES[state] ?? 'UNKNOWN',
    ...{ createdAt: dateOf(createdAt), committedAt: dateOf(committedAt), endedAt: dateOf(endedAt) },
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
  } satisfies Partial<RoutingCalls>;
}

function decisionCalls(client: RoutingServiceClient, setup: Setup) {
  return {
    async route(work, options = {}) {
      checkNames('route', options, ROUTE_OPTIONS);
      const { idempotencyKey = '', ...said } = options;
      const request = RouteRequest.fromPartial({ ...requestOf(work, said), idempotencyKey });
      const { metadata, options: call } = setup();
      const { data } = await unary<RouteResponse>((done) => client.route(request, metadata, call, done));
      return decisionView(present(data));
    },
    async preview(work, options = {}) {
      checkNames('preview', options, PREVIEW_OPTIONS);
      const request = PreviewRouteRequest.fromPartial(requestOf(work, options));
      const { metadata, options: call } = setup();
      const { data } = await unary<PreviewRouteResponse>((done) => client.previewRoute(request, metadata, call, done));
      return decisionView(present(data));
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
    async reportOutcome(assignmentId, outcome) {
      checkNames('outcome', outcome, OUTCOME_FIELDS);
      const { success, latency = '', resetAt } = outcome;
      const request = ReportOutcomeRequest.fromPartial({
        ...{ assignmentId, success, latency },
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
    calls: { ...decisionCalls(routing, setup), ...assignmentCalls(assignments, setup) },
    close() {
      routing.close();
      assignments.close();
    },
  };
}
