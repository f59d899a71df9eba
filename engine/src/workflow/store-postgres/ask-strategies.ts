/** Has strategies in apps' code answer what a selection has to ask them, before anything is locked. */
import type { Clock } from '../../kernel/index.js';
import { findPoolIds } from '../../pools/index.js';
import { firstPoolOf, type SelectionParts } from '../../routing/index.js';
import type { Queryable } from '../../store/index.js';
import type { SelectionAnswers, SelectionAsk } from '../coordinator/gate-ports.js';

/** The pool that a selection begins with; undefined: there is none. */
async function beginningOf(
  db: Queryable,
  { tenantId, pool, ask }: SelectionAsk,
  { views }: SelectionParts,
  nowUs: number,
): Promise<string | undefined> {
  if (pool === '') return firstPoolOf(ask, await views.rules(tenantId), nowUs);
  return (await findPoolIds(db, tenantId, [pool])).get(pool);
}

/** Fills in what they say about the pools that the selection reaches. Throws database_unavailable. */
export async function askStrategies(
  db: Queryable,
  [selection, said]: readonly [selection: SelectionAsk, said: SelectionAnswers],
  parts: SelectionParts | undefined,
  clock: Clock,
): Promise<void> {
  if (parts === undefined) return;
  const { tenantId, ask, reached } = selection;
  const first = await beginningOf(db, selection, parts, clock.nowUs());
  const views = await parts.views.pools(tenantId, new Set([...reached, ...(first === undefined ? [] : [first])]));
  const call = { tenantId, ask: { ...ask, poolId: first }, ...said };
  await parts.askApps(call, views);
  said.spentUs = call.spentUs;
}
