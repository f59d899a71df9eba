/** BundleService: pools, recipients, rules and claim queues as one document. */
import {
  BundleServiceService,
  RoutingBundle,
  type ApplyRoutingBundleRequest,
  type ApplyRoutingBundleResponse,
  type DiffRoutingBundleRequest,
  type DiffRoutingBundleResponse,
  type ExportRoutingBundleRequest,
  type ExportRoutingBundleResponse,
} from '../../../gen/ductor/v1/bundle.js';
import {
  PRUNED_KINDS,
  type BundleAsk,
  type Bundles,
  type JsonObject,
  type PrunedKind,
} from '../../../routing/index.js';
import { contractJson } from '../../json/contract-json.js';
import type { Unary } from '../call.js';
import { FieldChecks, MAX_REASON_CHARS } from '../checks/field-checks.js';
import { bundleMessage, planMessage } from '../wire/bundle.js';

/** What the handlers need. */
export interface BundleServiceParts {
  readonly bundles: Bundles;
}

/** Most objects of one bundle. */
const MAX_OBJECTS = 10_000;
const DIGEST = /^[0-9a-f]{64}$/;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function prunedOf(checks: FieldChecks, prune: readonly string[]): ReadonlySet<PrunedKind> {
  const found = new Set<PrunedKind>();
  for (const [index, sent] of prune.entries()) {
    const kind = PRUNED_KINDS.find((each) => each === sent);
    if (kind !== undefined) found.add(kind);
    else checks.note(`prune[${index}]`, sent, 'is no kind of object', `use ${PRUNED_KINDS.join(', ')}`);
  }
  return found;
}

function askOf(checks: FieldChecks, { bundle, prune }: DiffRoutingBundleRequest): BundleAsk {
  if (bundle === undefined) checks.note('bundle', '', 'is missing', 'send the bundle, be it an empty one');
  const sent = bundle ?? RoutingBundle.create();
  const count = sent.pools.length + sent.recipients.length + sent.rules.length + sent.claimQueues.length;
  checks.count('bundle', count, 0, MAX_OBJECTS);
  const kinds = prunedOf(checks, prune);
  checks.done();
  const json = contractJson().sent('RoutingBundle', RoutingBundle.encode(sent).finish());
  const { pools, recipients, rules, claim_queues: queues } = json;
  return {
    bundle: {
      ...{ pools: objectsOf(pools), recipients: objectsOf(recipients), rules: objectsOf(rules) },
      claim_queues: objectsOf(queues),
    },
    prune: kinds,
  };
}

/** DiffRoutingBundle. */
export function diffBundle({
  bundles,
}: BundleServiceParts): Unary<DiffRoutingBundleRequest, DiffRoutingBundleResponse> {
  return async (request, { tenantId }) => ({
    data: planMessage(await bundles.diff(tenantId, askOf(new FieldChecks(), request))),
  });
}

/** ApplyRoutingBundle. */
export function applyBundle({
  bundles,
}: BundleServiceParts): Unary<ApplyRoutingBundleRequest, ApplyRoutingBundleResponse> {
  return async (request, by) => {
    const { expectedPlan, reason } = request;
    const checks = new FieldChecks();
    checks.text('reason', reason, MAX_REASON_CHARS);
    if (expectedPlan !== '' && !DIGEST.test(expectedPlan)) {
      checks.note('expected_plan', expectedPlan, 'is no digest of a plan', 'send plan_digest as a diff answered it');
    }
    const caller = { by, method: BundleServiceService.applyRoutingBundle.path };
    return { data: planMessage(await bundles.apply(caller, askOf(checks, request), { expectedPlan, reason })) };
  };
}

/** ExportRoutingBundle. */
export function exportBundle({
  bundles,
}: BundleServiceParts): Unary<ExportRoutingBundleRequest, ExportRoutingBundleResponse> {
  return async (_request, { tenantId }) => ({ data: bundleMessage(await bundles.export(tenantId)) });
}
