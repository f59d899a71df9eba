import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { PoolState } from '../../core/candidate.js';

interface StateRow extends Row {
  readonly pool_id: string;
  readonly state: PoolState;
}

const OPEN = prepared(
  'routing_open_states',
  `insert into ductor.strategy_state (tenant_id, pool_id)
    select $1::uuid, p from unnest($2::uuid[]) as p order by p on conflict do nothing`,
);
const READ_TEXT = `select s.pool_id, s.state from ductor.strategy_state s
  where s.tenant_id = $1::uuid and s.pool_id = any($2::uuid[])`;
const READ = prepared('routing_read_states', READ_TEXT);
const LOCK = prepared('routing_lock_states', `${READ_TEXT} order by s.pool_id for update of s`);
const WRITE = prepared(
  'routing_write_states',
  `update ductor.strategy_state s set state = n.state, version = s.version + 1
    from unnest($2::uuid[], $3::jsonb[]) as n (pool_id, state)
    where s.tenant_id = $1::uuid and s.pool_id = n.pool_id`,
);

function toStates(rows: readonly StateRow[]): ReadonlyMap<string, PoolState> {
  return new Map(rows.map(({ pool_id: poolId, state }) => [poolId, state]));
}

/** States of pools' strategies, without a lock; a pool that never chose is absent. */
export async function readStates(
  db: Queryable,
  tenantId: string,
  poolIds: readonly string[],
): Promise<ReadonlyMap<string, PoolState>> {
  if (poolIds.length === 0) return new Map();
  const { rows } = await db.query<StateRow>(READ, [tenantId, uuidArray(poolIds)]);
  return toStates(rows);
}

/** Makes sure that pools have a state to lock. Not in a transaction that holds locks. */
export async function openStates(db: Queryable, tenantId: string, poolIds: readonly string[]): Promise<void> {
  if (poolIds.length > 0) await db.query(OPEN, [tenantId, uuidArray(poolIds)]);
}

/** States that were opened, locked until the transaction ends in the order of the pools' ids, which is everybody's. */
export async function lockStates(
  tx: Queryable,
  tenantId: string,
  poolIds: readonly string[],
): Promise<ReadonlyMap<string, PoolState>> {
  if (poolIds.length === 0) return new Map();
  return toStates((await tx.query<StateRow>(LOCK, [tenantId, uuidArray(poolIds)])).rows);
}

/** Stores locked states. */
export async function writeStates(
  tx: Queryable,
  tenantId: string,
  states: ReadonlyMap<string, PoolState>,
): Promise<void> {
  if (states.size === 0) return;
  const texts = [...states.values()].map((state) => JSON.stringify(state));
  await tx.query(WRITE, [tenantId, uuidArray([...states.keys()]), texts]);
}
