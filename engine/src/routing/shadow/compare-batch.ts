/**
 * Compares decisions that are due with the shadows of their pools, in one transaction: what it took from the outbox
 * comes back when it fails. Everything is read from the records of the decisions; nothing of what decides is locked.
 */
import type { Clock } from '../../kernel/index.js';
import { msOf } from '../../pools/index.js';
import type { Queryable } from '../../store/index.js';
import type { PoolState } from '../core/candidate.js';
import { deriveSeed } from '../core/stream.js';
import { createRecordReader, type RecordReader } from '../decisions/read-input.js';
import { replay } from '../decisions/replay.js';
import { readRecordOf } from '../decisions/store/sql/read-decisions.js';
import type { Decision, Hop } from '../pipeline/decision.js';
import { afterChanges } from '../strategies/select.js';
import { compareShadow, isComparable } from './compare.js';
import { isSampled, type Shadow } from './shadow.js';
import { insertShadowDecisions } from './sql/insert-shadow-decisions.js';
import { takeShadowDue } from './sql/shadow-due.js';
import { lockShadowStates, shadowKeyText, writeShadowStates, type ShadowState } from './sql/shadow-states.js';

/** What it needs. */
export interface CompareParts {
  readonly clock: Clock;
  /** Key that seeds are derived from. */
  readonly seedKey: Uint8Array;
}

/** Comparisons are kept so long unless their pool says otherwise. */
const KEPT_DEFAULT = '90d';

/** One comparison to be made. */
interface Pair {
  readonly decision: Decision;
  readonly hop: Hop;
  readonly hopIndex: number;
  readonly shadow: Shadow;
}

/** Shadows that a decision is compared with. */
export function pairsOf(decision: Decision): readonly Pair[] {
  const { decisionId, nowUs } = decision.input;
  return decision.hops.flatMap((hop, hopIndex) => {
    const sampled = hop.snapshot.view.shadows.filter((shadow) => isSampled(shadow, decisionId, nowUs));
    return sampled.length === 0 || !isComparable(hop)
      ? []
      : sampled.map((shadow) => ({ decision, hop, hopIndex, shadow }));
  });
}

const keyOf = ({ hop, shadow }: Pair): { readonly poolId: string; readonly shadowId: string } => ({
  poolId: hop.snapshot.view.id,
  shadowId: shadow.id,
});

async function decisionOf(
  tx: Queryable,
  tenantId: string,
  decisionId: string,
  reader: RecordReader,
): Promise<readonly Decision[]> {
  const stored = await readRecordOf(tx, tenantId, decisionId);
  if (stored === undefined) return [];
  const documents = new Map(
    [...stored.documents].map(([digest, text]): [string, unknown] => [digest, JSON.parse(text)]),
  );
  return [replay(stored.record, documents, reader).decision];
}

function comparedOf(pair: Pair, state: ShadowState, { clock, seedKey }: CompareParts) {
  const { decision, hop, hopIndex, shadow } = pair;
  const { decisionId, nowUs } = decision.input;
  const { poolId, shadowId } = keyOf(pair);
  const seed = deriveSeed(seedKey, { decisionId, poolId: `shadow/${shadowId}/${poolId}`, hop: hopIndex, attempt: 0 });
  const beganMs = clock.monotonicMs();
  const { changes, ...comparison } = compareShadow(decision, hop, shadow, { state: state.state, seed });
  const kept = hop.snapshot.view.document.fields.config.retention?.decisions ?? KEPT_DEFAULT;
  const stored = {
    ...comparison,
    ...{ decisionId, poolId, shadowId, strategy: shadow.strategy, decidedAtUs: nowUs, stateVersion: state.version },
    tookUs: Math.round((clock.monotonicMs() - beganMs) * 1000),
    expiresAtUs: nowUs + msOf(kept) * 1000,
  };
  return { stored, changes };
}

async function compareOf(tx: Queryable, tenantId: string, ids: readonly string[], parts: CompareParts): Promise<void> {
  const reader = createRecordReader();
  const decisions: Decision[] = [];
  for (const id of ids) decisions.push(...(await decisionOf(tx, tenantId, id, reader)));
  const pairs = decisions.toSorted((a, b) => a.input.nowUs - b.input.nowUs).flatMap(pairsOf);
  const keys = new Map(pairs.map((pair) => [shadowKeyText(keyOf(pair)), keyOf(pair)]));
  const states = await lockShadowStates(tx, tenantId, [...keys.values()]);
  const rows = pairs.map((pair) => {
    const key = shadowKeyText(keyOf(pair));
    const state = states.get(key) ?? { state: {} satisfies PoolState, version: 0 };
    const { stored, changes } = comparedOf(pair, state, parts);
    if (pair.shadow.isStateful && changes.length > 0) {
      states.set(key, { state: afterChanges(state.state, changes), version: state.version + 1 });
    }
    return stored;
  });
  await writeShadowStates(
    tx,
    tenantId,
    [...keys].flatMap(([text, key]) => {
      const state = states.get(text);
      return state === undefined ? [] : [{ ...key, ...state }];
    }),
  );
  await insertShadowDecisions(tx, tenantId, rows);
}

/** Compares at most so many decisions, within a transaction of the engine's role; returns how many were taken. */
export async function compareBatch(tx: Queryable, limit: number, parts: CompareParts): Promise<number> {
  const due = await takeShadowDue(tx, limit);
  for (const tenantId of [...new Set(due.map((each) => each.tenantId))].sort()) {
    const ids = due.filter((each) => each.tenantId === tenantId).map(({ decisionId }) => decisionId);
    await compareOf(tx, tenantId, ids, parts);
  }
  return due.length;
}
