/** Decisions that were made, and everything that is written with them in their transaction. */
import { insertAssignments, type StoredAssignment } from '../../capacity/index.js';
import { canonicalJson } from '../../kernel/index.js';
import { msOf } from '../../pools/index.js';
import type { Queryable } from '../../store/index.js';
import { insertDecisions, insertDocuments } from '../decisions/store/sql/insert-decisions.js';
import { noteEndings, type Ending } from '../endings/sql/endings.js';
import { storedDecisionOf, type RecordedDecision } from '../decisions/store/stored-decision.js';
import { documentDigestsOf, documentsOf, writeRecord } from '../decisions/write-record.js';
import type { Decision } from '../pipeline/decision.js';
import { pairsOf } from '../shadow/compare-batch.js';
import { insertShadowDue } from '../shadow/sql/shadow-due.js';
import { newClocks } from '../sla/new-clocks.js';
import { newOffers } from '../offers/new-offers.js';
import { insertOffers } from '../offers/sql/offers.js';
import { insertClocks, type NewClock } from '../sla/sql/clocks.js';
import type { RouteAsk } from './ask.js';
import type { LaneParts } from './lane-parts.js';

/** Decisions are kept so long unless their pool says otherwise: 90 days. */
const KEPT_DEFAULT_US = 90 * 86_400_000_000;

/** A decision that was made, as it will be written. */
export interface Made {
  readonly ask: RouteAsk;
  readonly decision: Decision;
  readonly recorded: RecordedDecision;
  readonly runId: string | null;
  /** Who is told what becomes of it where it is queued; null: nobody. */
  readonly waiter: string | null;
}

/** What is known of a decision beside what it was made from. */
export interface MadeBy {
  readonly ask: RouteAsk;
  /** The key that asked, or the run whose step did. */
  readonly principalId: string;
  /** That run; null: no step did. */
  readonly runId: string | null;
  readonly engine: LaneParts['engine'];
  /** One for each of the slate; none where nothing is assigned. */
  readonly assignmentIds: readonly string[];
}

function keptUs(decision: Decision): number {
  const kept = decision.hops.at(-1)?.snapshot.view.document.fields.config.retention?.decisions;
  return kept === undefined ? KEPT_DEFAULT_US : msOf(kept) * 1000;
}

/** Whether assignments follow from the decision: not from one by which a workflow holds its slate. */
export function isAssigning({ outcome, input }: Decision): boolean {
  return input.holds === undefined && (outcome === 'assigned' || outcome === 'offered');
}

/** A decision with its record. */
export function madeOf(decision: Decision, { ask, principalId, runId, engine, assignmentIds }: MadeBy): Made {
  const stored = storedDecisionOf(decision, assignmentIds);
  // Assigned rather than spread into another object: that alone was a sixtieth of a committed decision.
  const recorded = Object.assign(stored, {
    principalId,
    record: Buffer.from(writeRecord(decision, engine), 'utf8'),
    documents: documentDigestsOf(decision),
    expiresAtUs: decision.input.nowUs + keptUs(decision),
  });
  return { ask, decision, recorded, runId, waiter: null };
}

function assignmentsOf(tenantId: string, { ask, decision, recorded, runId }: Made): readonly StoredAssignment[] {
  const isActive = decision.outcome === 'assigned';
  // Written out: it is made for every decision, and objects spread together are slow.
  return recorded.assignmentIds.map((assignmentId, index) => ({
    tenantId,
    assignmentId,
    recipientId: decision.slate[index]?.id ?? '',
    units: decision.slate[index]?.units ?? 0,
    poolId: decision.poolId ?? '',
    decisionId: recorded.decisionId,
    routableId: recorded.routableId,
    isReserved: false,
    pinned: 0,
    state: isActive ? 'active' : 'offered',
    committedAtUs: isActive ? recorded.decidedAtUs : null,
    createdAtUs: recorded.decidedAtUs,
    respondedAtUs: null,
    endedAtUs: null,
    runId,
    claimItemId: null,
    workState: null,
    endsWith: ask.endsWith ?? null,
  }));
}

/** Chains whose work goes on outside of their runs, which may have ended meanwhile. */
function latecomers(tenantId: string, made: readonly Made[]): readonly Ending[] {
  return made.flatMap(({ ask: { endsWith: chainId }, runId }) =>
    chainId === undefined || runId !== null ? [] : [{ tenantId, chainId }],
  );
}

/** The clocks that the SLA of the deciding pool asks for. */
function clocksOf(tenantId: string, { ask, decision, recorded }: Made): readonly NewClock[] {
  const view = decision.hops.at(-1)?.snapshot.view;
  if (view === undefined) return [];
  const isAccepted = !view.settings.requiresAcceptance;
  const decidedUs = recorded.decidedAtUs;
  return recorded.assignmentIds.flatMap((assignmentId, index) => {
    const recipientId = decision.slate[index]?.id ?? '';
    return newClocks(view, { tenantId, assignmentId, recipientId, ask, decidedUs, isAccepted });
  });
}

/** Documents that are not stored yet, by digest. */
function newDocuments(made: readonly Made[], isStored: (digest: string) => boolean): ReadonlyMap<string, string> {
  const documents = new Map<string, string>();
  for (const { decision, recorded } of made) {
    if (recorded.documents.every((digest) => isStored(digest) || documents.has(digest))) continue;
    for (const [digest, document] of documentsOf(decision)) {
      if (!isStored(digest) && !documents.has(digest)) documents.set(digest, canonicalJson(document));
    }
  }
  return documents;
}

/**
 * Writes them, with their assignments and clocks. Returns the digests of documents that are stored now.
 *
 * @param isStored whether the document of a digest is known to be stored
 */
export async function writeMade(
  tx: Queryable,
  tenantId: string,
  made: readonly Made[],
  isStored: (digest: string) => boolean,
): Promise<readonly string[]> {
  const documents = newDocuments(made, isStored);
  const recorded = made.map((each) => each.recorded);
  const compared = made.filter(({ decision }) => pairsOf(decision).length > 0);
  const assignments = made.flatMap((each) => assignmentsOf(tenantId, each));
  const clocks = made.flatMap((each) => clocksOf(tenantId, each));
  await insertDocuments(tx, tenantId, documents);
  await insertDecisions(tx, tenantId, recorded);
  await insertShadowDue(
    tx,
    tenantId,
    compared.map((each) => each.recorded),
  );
  await insertAssignments(tx, tenantId, assignments);
  await noteEndings(tx, latecomers(tenantId, made));
  await insertClocks(tx, tenantId, clocks);
  const offers = made.flatMap(({ ask, decision, recorded: { assignmentIds } }) =>
    newOffers(tenantId, ask, decision, assignmentIds),
  );
  await insertOffers(tx, tenantId, offers);
  return [...documents.keys()];
}
