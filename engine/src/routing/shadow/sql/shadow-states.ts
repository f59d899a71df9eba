import { prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import type { PoolState } from '../../core/candidate.js';

/** The state of a shadow and how often it changed. */
export interface ShadowState {
  readonly state: PoolState;
  readonly version: number;
}

/** Which shadow of which pool. */
export interface ShadowKey {
  readonly poolId: string;
  readonly shadowId: string;
}

interface StateRow extends Row {
  readonly pool_id: string;
  readonly shadow_id: string;
  readonly state: PoolState;
  readonly version: number;
}

const OPEN = prepared(
  'routing_open_shadow_states',
  `insert into ductor.shadow_state (tenant_id, pool_id, shadow_id)
    select $1::uuid, n.p, n.s from unnest($2::uuid[], $3::text[]) as n (p, s) order by n.p, n.s collate "C"
    on conflict do nothing`,
);
const LOCK = prepared(
  'routing_lock_shadow_states',
  `select s.pool_id, s.shadow_id, s.state, s.version from ductor.shadow_state s
    join unnest($2::uuid[], $3::text[]) as n (p, s) on s.pool_id = n.p and s.shadow_id = n.s
    where s.tenant_id = $1::uuid order by s.pool_id, s.shadow_id collate "C" for update of s`,
);
const WRITE = prepared(
  'routing_write_shadow_states',
  `update ductor.shadow_state s set state = n.state, version = n.version
    from unnest($2::uuid[], $3::text[], $4::jsonb[], $5::integer[]) as n (p, s, state, version)
    where s.tenant_id = $1::uuid and s.pool_id = n.p and s.shadow_id = n.s`,
);

/** A key as text. */
export const shadowKeyText = ({ poolId, shadowId }: ShadowKey): string => `${poolId}/${shadowId}`;

const arrays = (keys: readonly ShadowKey[]): [unknown, readonly string[]] => [
  uuidArray(keys.map(({ poolId }) => poolId)),
  keys.map(({ shadowId }) => shadowId),
];

/** States of shadows, locked until the transaction ends, in one order; those that were not there are made. */
export async function lockShadowStates(
  tx: Queryable,
  tenantId: string,
  keys: readonly ShadowKey[],
): Promise<Map<string, ShadowState>> {
  if (keys.length === 0) return new Map();
  await tx.query(OPEN, [tenantId, ...arrays(keys)]);
  const { rows } = await tx.query<StateRow>(LOCK, [tenantId, ...arrays(keys)]);
  return new Map(
    rows.map(({ pool_id: poolId, shadow_id: shadowId, state, version }) => [
      shadowKeyText({ poolId, shadowId }),
      { state, version },
    ]),
  );
}

/** Stores locked states. */
export async function writeShadowStates(
  tx: Queryable,
  tenantId: string,
  states: readonly (ShadowKey & ShadowState)[],
): Promise<void> {
  if (states.length === 0) return;
  await tx.query(WRITE, [
    tenantId,
    ...arrays(states),
    states.map(({ state }) => JSON.stringify(state)),
    states.map(({ version }) => version),
  ]);
}
