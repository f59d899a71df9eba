/**
 * What work waits for, and with that whether the clocks of its assignment run.
 *
 * Whoever says so has the row of the assignment, then its clocks, to himself until it is committed: a look passes over
 * them meanwhile, and work that ends has ended before, or finds what was said. So each clock stands still from one
 * moment to one other. Which states stop clocks, and by which hours they go on, the pool says as it is then.
 */
import {
  readAssignments,
  setWorkState,
  type AssignmentCaller,
  type StoredAssignment,
  type WorkStateChange,
} from '../../capacity/index.js';
import { DuctorError } from '../../kernel/index.js';
import type { Queryable, TenantAccess } from '../../store/index.js';
import type { PoolView } from '../pipeline/view.js';
import type { PoolViews } from '../views/pool-views.js';
import { nextLookUs, paused, resumed } from './clock.js';
import { hoursOf } from './new-clocks.js';
import { lockClocks, writeClocks, type StoredClock } from './sql/clocks.js';

/** Says what work waits for. Throws not_found, assignment_state_conflict. */
export type SetWorkState = (caller: AssignmentCaller, change: WorkStateChange) => Promise<StoredAssignment>;

/** A clock as it is once work waits for something, or for nothing any more. */
function after(
  clock: StoredClock,
  assignment: StoredAssignment,
  view: PoolView | undefined,
  nowUs: number,
): StoredClock {
  const { workState, state, recipientId, committedAtUs, respondedAtUs, endedAtUs } = assignment;
  const sla = view?.settings.sla;
  const progress = { state, committedUs: committedAtUs, respondedUs: respondedAtUs, endedUs: endedAtUs };
  if (workState !== null && sla?.pauseStates.includes(workState) === true) return paused(clock, progress, nowUs);
  const hours = view === undefined || sla === undefined ? undefined : hoursOf(sla, view, recipientId);
  return resumed(clock, sla?.isBusiness === true, hours, nowUs);
}

async function turnClocks(tx: Queryable, assignment: StoredAssignment, view: PoolView | undefined): Promise<void> {
  const clocks = await lockClocks(tx, assignment.tenantId, assignment.assignmentId);
  if (clocks.length === 0) return;
  const { rows } = await tx.query<{ now_us: number }>('select ductor.now_us() as now_us');
  const nowUs = rows[0]?.now_us ?? 0;
  const turned = clocks.flatMap((clock) => {
    const became = after(clock, assignment, view, nowUs);
    return became === clock ? [] : [{ ...became, nextUs: nextLookUs(became) }];
  });
  await writeClocks(tx, turned);
}

/** In this database. */
export function createWorkStates(db: TenantAccess, views: Pick<PoolViews, 'pools'>): SetWorkState {
  return async (caller, change) => {
    const { tenantId } = caller.by;
    const { assignmentId } = change;
    const access = db.asTenant(tenantId);
    const found = (await readAssignments(access, tenantId, [assignmentId])).get(assignmentId);
    if (found === undefined) throw new DuctorError('not_found', `there is no assignment ${assignmentId}`);
    const view = (await views.pools(tenantId, [found.poolId])).get(found.poolId);
    return access.transaction(async (tx) => {
      const { assignment, isNew } = await setWorkState(tx, caller, change);
      if (isNew) await turnClocks(tx, assignment, view);
      return assignment;
    });
  };
}
