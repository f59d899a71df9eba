/** RoutingService: decisions that were made. */
import type {
  ExplainDecisionRequest,
  ExplainDecisionResponse,
  ExportDecisionRequest,
  ExportDecisionResponse,
  GetDecisionRequest,
  GetDecisionResponse,
  ListDecisionsRequest,
  ListDecisionsResponse,
  ReplayDecisionRequest,
  ReplayDecisionResponse,
} from '../../../gen/ductor/v1/routing.js';
import { sha256Hex } from '../../../kernel/index.js';
import { OUTCOMES, type Decisions, type DecisionQuery } from '../../../routing/index.js';
import type { Unary } from '../call.js';
import { momentCursor } from '../checks/cursor.js';
import { checkId, FieldChecks } from '../checks/field-checks.js';
import { decisionMessage } from '../wire/decision.js';
import { pageOf } from '../wire/page.js';

/** What the handlers need. */
export interface DecisionParts {
  readonly decisions: Decisions;
}

const MAX_ROUTABLE_ID_CHARS = 256;
const orNull = (text: string): string | null => (text === '' ? null : text);

function beforeOf(cursor: string): DecisionQuery['before'] {
  if (cursor === '') return null;
  const { atUs: decidedAtUs, id: decisionId } = momentCursor(cursor);
  return { decidedAtUs, decisionId };
}

/** ListDecisions. A cursor names moment and id of the last decision of its page. */
export function listDecisions({ decisions }: DecisionParts): Unary<ListDecisionsRequest, ListDecisionsResponse> {
  return async ({ poolId, outcome, routableId, pagination }, { tenantId }) => {
    const checks = new FieldChecks();
    const { limit, cursor } = checks.page(pagination);
    if (poolId !== '') checks.uuid('pool_id', poolId);
    checks.text('routable_id', routableId, MAX_ROUTABLE_ID_CHARS);
    if (outcome !== '' && !Object.hasOwn(OUTCOMES, outcome)) {
      checks.note('outcome', outcome, 'is no outcome', `use one of ${Object.keys(OUTCOMES).join(', ')}`);
    }
    checks.done();
    const found = await decisions.list(tenantId, {
      ...{ poolId: orNull(poolId), outcome: orNull(outcome), routableId: orNull(routableId) },
      ...{ before: beforeOf(cursor), limit: limit + 1 },
    });
    const { page, end } = pageOf(found, limit, ({ decidedAtUs, decisionId }) => [decidedAtUs, decisionId]);
    return { data: page.map((each) => decisionMessage(each)), pagination: end };
  };
}

/** GetDecision. */
export function getDecision({ decisions }: DecisionParts): Unary<GetDecisionRequest, GetDecisionResponse> {
  return async ({ decisionId }, { tenantId }) => {
    checkId('decision_id', decisionId);
    return { data: decisionMessage(await decisions.get(tenantId, decisionId)) };
  };
}

/** ExplainDecision. */
export function explainDecision({ decisions }: DecisionParts): Unary<ExplainDecisionRequest, ExplainDecisionResponse> {
  return async ({ decisionId }, { tenantId }) => {
    checkId('decision_id', decisionId);
    const stored = await decisions.get(tenantId, decisionId);
    return { data: decisionMessage(stored, await decisions.explain(tenantId, decisionId)) };
  };
}

/** ReplayDecision. */
export function replayDecision({ decisions }: DecisionParts): Unary<ReplayDecisionRequest, ReplayDecisionResponse> {
  return async ({ decisionId }, { tenantId }) => {
    checkId('decision_id', decisionId);
    const { outcome } = await decisions.get(tenantId, decisionId);
    const { isSame, record, recorded, decision } = await decisions.replay(tenantId, decisionId);
    return {
      data: {
        ...{ decisionId, isSame, recordedOutcome: outcome, replayedOutcome: decision.outcome },
        ...{ recordedSha256: sha256Hex(recorded), replayedSha256: sha256Hex(record) },
      },
    };
  };
}

/** ExportDecision. */
export function exportDecision({ decisions }: DecisionParts): Unary<ExportDecisionRequest, ExportDecisionResponse> {
  return async ({ decisionId }, { tenantId }) => {
    checkId('decision_id', decisionId);
    const { record, documents } = await decisions.record(tenantId, decisionId);
    const entries = [...documents].map(([digest, text]): [string, unknown] => [digest, JSON.parse(text)]);
    return { data: { record, documents: Object.fromEntries(entries) } };
  };
}
