/** RoutingService: how work went, and the end of seats. */
import type {
  ReleaseSeatsRequest,
  ReleaseSeatsResponse,
  ReportOutcomeRequest,
  ReportOutcomeResponse,
} from '../../../gen/ductor/v1/routing.js';
import { parseDurationMs } from '../../../kernel/index.js';
import type { Outcomes, ReportedWork } from '../../../routing/index.js';
import type { Unary } from '../call.js';
import { FieldChecks } from '../checks/field-checks.js';
import { instantOf } from '../schedules/schedule-fields.js';
import { timestampOf } from '../wire/timestamp.js';

/** What the handlers need. */
export interface OutcomeParts {
  readonly outcomes: Outcomes;
}

const MAX_LATENCY_MS = 30 * 86_400_000;
const MAX_OWNER_CHARS = 1024;

function latencyOf(checks: FieldChecks, latency: string): number | null {
  if (latency === '') return null;
  const ms = parseDurationMs(latency);
  if (ms !== undefined && ms <= MAX_LATENCY_MS) return ms;
  checks.note('latency', latency, 'is no duration up to 30 days', 'use a number with a unit: "350ms", "2s"');
  return null;
}

/** The work: an assignment, or a recipient of a pool; never both. */
function workOf(checks: FieldChecks, { assignmentId, poolId, recipientId }: ReportOutcomeRequest): ReportedWork {
  if (poolId === '' && recipientId === '') {
    checks.uuid('assignment_id', assignmentId);
    return { assignmentId };
  }
  if (assignmentId !== '') {
    checks.note('assignment_id', assignmentId, 'is given beside pool_id or recipient_id', 'give it alone');
  }
  checks.uuid('pool_id', poolId);
  checks.uuid('recipient_id', recipientId);
  return { poolId, recipientId };
}

/** ReportOutcome. */
export function reportOutcome({ outcomes }: OutcomeParts): Unary<ReportOutcomeRequest, ReportOutcomeResponse> {
  return async (request, { tenantId }) => {
    const { success: isSuccess, latency, resetAt } = request;
    const checks = new FieldChecks();
    const work = workOf(checks, request);
    const latencyMs = latencyOf(checks, latency);
    const resetAtUs = instantOf(checks, 'reset_at', resetAt);
    checks.done();
    const health = await outcomes.report(tenantId, work, { isSuccess, latencyMs, resetAtUs });
    const { ejectedUntilUs, cooldownUntilUs, latencyUs } = health;
    return {
      data: {
        ...{ recipientId: health.recipientId, failuresInARow: health.failuresInARow },
        ejectedUntil: ejectedUntilUs === null ? undefined : timestampOf(ejectedUntilUs),
        cooldownUntil: cooldownUntilUs === null ? undefined : timestampOf(cooldownUntilUs),
        latencyMs: latencyUs === null ? undefined : latencyUs / 1000,
      },
    };
  };
}

/** ReleaseSeats. */
export function releaseSeats({ outcomes }: OutcomeParts): Unary<ReleaseSeatsRequest, ReleaseSeatsResponse> {
  return async ({ owner }, { tenantId }) => {
    const checks = new FieldChecks();
    checks.required('owner', owner, MAX_OWNER_CHARS);
    checks.done();
    return { data: { released: await outcomes.releaseSeats(tenantId, owner) } };
  };
}
