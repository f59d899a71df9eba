/** The methods of routing. */
import { AssignmentServiceService } from '../../../gen/ductor/v1/assignment.js';
import { BundleServiceService } from '../../../gen/ductor/v1/bundle.js';
import { RoutingServiceService } from '../../../gen/ductor/v1/routing.js';
import { RuleServiceService } from '../../../gen/ductor/v1/rule.js';
import type { GuardOptions } from '../guard.js';
import { ServiceBuilder } from '../service.js';
import { claimMethods } from '../claims/methods.js';
import type { ClaimParts } from '../claims/queue-service.js';
import * as assignments from './assignment-service.js';
import * as bundles from './bundle-service.js';
import * as decisions from './decision-service.js';
import * as outcomes from './outcome-service.js';
import * as routes from './routing-service.js';
import * as rules from './rule-service.js';
import * as shadows from './shadow-service.js';
import * as waiting from './waiting-service.js';

/** What the handlers of routing need. */
export type RoutingServiceParts = rules.RuleServiceParts &
  bundles.BundleServiceParts &
  routes.RouteParts &
  outcomes.OutcomeParts &
  decisions.DecisionParts &
  shadows.ShadowParts &
  waiting.WaitingParts &
  assignments.AssignmentParts &
  ClaimParts;

function ruleMethods(parts: RoutingServiceParts, guard: GuardOptions): ServiceBuilder {
  const R = RuleServiceService;
  return new ServiceBuilder(guard)
    .unary(R.createRule, rules.createRule(parts))
    .unary(R.getRule, rules.getRule(parts))
    .unary(R.listRules, rules.listRules(parts))
    .unary(R.updateRule, rules.updateRule(parts))
    .unary(R.deleteRule, rules.deleteRule(parts))
    .unary(R.reorderRules, rules.reorderRules(parts));
}

function decisionMethods(parts: RoutingServiceParts, guard: GuardOptions): ServiceBuilder {
  const R = RoutingServiceService;
  return new ServiceBuilder(guard)
    .unary(R.route, routes.route(parts))
    .unary(R.previewRoute, routes.previewRoute(parts))
    .unary(R.routeBatch, routes.routeBatch(parts, guard.report))
    .unary(R.previewRoutes, routes.previewRoutes(parts, guard.report))
    .unary(R.reportOutcome, outcomes.reportOutcome(parts))
    .unary(R.releaseSeats, outcomes.releaseSeats(parts))
    .unary(R.listDecisions, decisions.listDecisions(parts))
    .unary(R.getDecision, decisions.getDecision(parts))
    .unary(R.explainDecision, decisions.explainDecision(parts))
    .unary(R.replayDecision, decisions.replayDecision(parts))
    .unary(R.exportDecision, decisions.exportDecision(parts))
    .unary(R.listWaitingWork, waiting.listWaitingWork(parts))
    .unary(R.getWaitingWork, waiting.getWaitingWork(parts))
    .unary(R.removeWaitingWork, waiting.removeWaitingWork(parts))
    .unary(R.getShadowReport, shadows.getShadowReport(parts))
    .unary(R.listShadowDecisions, shadows.listShadowDecisions(parts));
}

function assignmentMethods(parts: RoutingServiceParts, guard: GuardOptions): ServiceBuilder {
  const A = AssignmentServiceService;
  const { actOnAssignment: act } = assignments;
  return new ServiceBuilder(guard)
    .unary(A.listAssignments, assignments.listAssignments(parts))
    .unary(A.getAssignment, assignments.getAssignment(parts))
    .unary(A.acceptAssignment, act(parts, 'accept', A.acceptAssignment.path))
    .unary(A.declineAssignment, act(parts, 'decline', A.declineAssignment.path))
    .unary(A.confirmAssignment, act(parts, 'confirm', A.confirmAssignment.path))
    .unary(A.completeAssignment, act(parts, 'complete', A.completeAssignment.path))
    .unary(A.releaseAssignment, act(parts, 'release', A.releaseAssignment.path))
    .unary(A.respondAssignment, assignments.respondAssignment(parts))
    .unary(A.setAssignmentWorkState, assignments.setAssignmentWorkState(parts))
    .unary(A.batchAssignments, assignments.batchAssignments(parts));
}

function bundleMethods(parts: RoutingServiceParts, guard: GuardOptions): ServiceBuilder {
  const B = BundleServiceService;
  return new ServiceBuilder(guard)
    .unary(B.applyRoutingBundle, bundles.applyBundle(parts))
    .unary(B.diffRoutingBundle, bundles.diffBundle(parts))
    .unary(B.exportRoutingBundle, bundles.exportBundle(parts));
}

/** RuleService, BundleService, RoutingService, AssignmentService and ClaimService. */
export function routingMethods(parts: RoutingServiceParts, guard: GuardOptions): readonly ServiceBuilder[] {
  return [
    ...[ruleMethods(parts, guard), bundleMethods(parts, guard)],
    ...[decisionMethods(parts, guard), assignmentMethods(parts, guard), claimMethods(parts, guard)],
  ];
}
