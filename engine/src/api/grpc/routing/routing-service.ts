/** RoutingService: decisions being made. */
import type {
  PreviewRouteRequest,
  PreviewRouteResponse,
  PreviewRoutesRequest,
  PreviewRoutesResponse,
  RouteBatchRequest,
  RouteBatchResponse,
  RouteOutcome,
  RouteRequest,
  RouteResponse,
  RoutingDecision,
} from '../../../gen/ductor/v1/routing.js';
import { explain, type Router, type Decisions } from '../../../routing/index.js';
import type { Principal } from '../../../tenancy/index.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_IDENTIFIER_CHARS } from '../checks/field-checks.js';
import type { Report } from '../errors/report.js';
import { wireError } from '../errors/wire-error.js';
import { decisionMessage, previewMessage } from '../wire/decision.js';
import { askOf } from './ask.js';

/** What the handlers need. */
export interface RouteParts {
  readonly router: Router;
  readonly decisions: Decisions;
}

const MAX_ITEMS = 200;

async function routeOne(parts: RouteParts, request: RouteRequest, by: Principal): Promise<RoutingDecision> {
  const { idempotencyKey } = request;
  const checks = new FieldChecks();
  checks.text('idempotency_key', idempotencyKey, MAX_IDENTIFIER_CHARS);
  checks.done();
  const { tenantId, principalId } = by;
  const { stored, decision } = await parts.router.route({
    ...{ tenantId, principalId, idempotencyKey, ask: askOf(request) },
  });
  if (!request.explain) return decisionMessage(stored);
  const explained = decision === undefined ? parts.decisions.explain(tenantId, stored.decisionId) : explain(decision);
  return decisionMessage(stored, await explained);
}

async function previewOne(
  { router }: RouteParts,
  request: PreviewRouteRequest,
  by: Principal,
): Promise<RoutingDecision> {
  const decision = await router.preview(by.tenantId, askOf(request));
  return previewMessage(decision, request.explain ? explain(decision) : undefined);
}

/** Route. */
export function route(parts: RouteParts): Unary<RouteRequest, RouteResponse> {
  return async (request, by) => ({ data: await routeOne(parts, request, by) });
}

/** PreviewRoute. */
export function previewRoute(parts: RouteParts): Unary<PreviewRouteRequest, PreviewRouteResponse> {
  return async (request, by) => ({ data: await previewOne(parts, request, by) });
}

/** What came of each item: one that fails takes no other one with it. */
async function outcomesOf<Item>(
  items: readonly Item[],
  report: Report,
  method: string,
  one: (item: Item) => Promise<RoutingDecision>,
): Promise<RouteOutcome[]> {
  const checks = new FieldChecks();
  checks.count('items', items.length, 1, MAX_ITEMS);
  checks.done();
  return Promise.all(
    items.map(async (item): Promise<RouteOutcome> => {
      try {
        return { outcome: { $case: 'decision', value: await one(item) } };
      } catch (caught) {
        return { outcome: { $case: 'error', value: wireError(report(caught, method)) } };
      }
    }),
  );
}

/** RouteBatch. */
export function routeBatch(parts: RouteParts, report: Report): Unary<RouteBatchRequest, RouteBatchResponse> {
  return async ({ items }, by) => ({
    data: await outcomesOf(items, report, 'RouteBatch', (item) => routeOne(parts, item, by)),
  });
}

/** PreviewRoutes. */
export function previewRoutes(parts: RouteParts, report: Report): Unary<PreviewRoutesRequest, PreviewRoutesResponse> {
  return async ({ items }, by) => ({
    data: await outcomesOf(items, report, 'PreviewRoutes', (item) => previewOne(parts, item, by)),
  });
}
