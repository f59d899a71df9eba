import { BatchBlob, integerArray, prepared, uuidArray, type Queryable, type Row } from '../../../store/index.js';
import { NO_USAGE, type Usage } from '../budget.js';
import type { StoredPeriods } from './usage.js';

/** A team in a queue. */
export interface TeamClaimer {
  readonly queueId: string;
  readonly team: string;
}

interface UsageRow extends Row {
  readonly queue_id: string;
  readonly team: string;
  readonly periods: StoredPeriods;
}

interface CountRow extends Row {
  readonly queue_id: string;
  readonly team: string;
  readonly claims: number;
}

// Both by the same order: who makes a row waits for another one that makes it, before it has locked any.
const ENSURE = prepared(
  'claims_ensure_team_usage',
  `insert into ductor.claim_team_usage (tenant_id, queue_id, team, updated_at)
    select $1::uuid, n.queue_id, n.team, ductor.now_us()
      from unnest($2::uuid[], $3::text[]) as n (queue_id, team) order by n.queue_id, n.team
    on conflict do nothing`,
);
const LOCK = prepared(
  'claims_lock_team_usage',
  `select u.queue_id, u.team, u.periods from ductor.claim_team_usage u
    where u.tenant_id = $1::uuid and (u.queue_id, u.team) in (select * from unnest($2::uuid[], $3::text[]))
    order by u.queue_id, u.team for update`,
);
const WRITE = prepared(
  'claims_write_team_usage',
  `update ductor.claim_team_usage u
    set updated_at = ductor.now_us(), periods = convert_from(substring($2::bytea from n.o + 1 for n.l), 'UTF8')::jsonb
    from unnest($3::uuid[], $4::text[], $5::integer[], $6::integer[]) as n (queue_id, team, o, l)
    where u.tenant_id = $1::uuid and u.queue_id = n.queue_id and u.team = n.team`,
);
const COUNT = prepared(
  'claims_count_team_claims',
  `select i.queue_id, i.claimed_for as team, count(*)::integer as claims from ductor.claim_item i
    where i.tenant_id = $1::uuid and i.state = 'claimed' and i.claimed_for is not null
      and (i.queue_id, i.claimed_for) in (select * from unnest($2::uuid[], $3::text[]))
    group by 1, 2`,
);

/** A team in a queue, as a key of maps; no claimerKey is the same. */
export function teamKey(queueId: string, team: string): string {
  return `${queueId}/team/${team}`;
}

const keysOf = (tenantId: string, teams: readonly TeamClaimer[]): unknown[] => [
  tenantId,
  uuidArray(teams.map(({ queueId }) => queueId)),
  teams.map(({ team }) => team),
];

/**
 * Locks what teams have used until the transaction ends, after the usage of recipients and before items, in one order;
 * rows that there are not yet are made first. By teamKey.
 */
export async function lockTeamUsage(
  tx: Queryable,
  tenantId: string,
  teams: readonly TeamClaimer[],
): Promise<ReadonlyMap<string, Usage>> {
  if (teams.length === 0) return new Map();
  await tx.query(ENSURE, keysOf(tenantId, teams));
  const { rows } = await tx.query<UsageRow>(LOCK, keysOf(tenantId, teams));
  return new Map(
    rows.map(({ queue_id: queueId, team, periods: { fixed = {}, rolling = {} } }) => {
      return [teamKey(queueId, team), { ...NO_USAGE, fixed, rolling }];
    }),
  );
}

/** Claims that count for teams and have not ended. By teamKey; never too few while the usage of the teams is locked. */
export async function countTeamClaims(
  tx: Queryable,
  tenantId: string,
  teams: readonly TeamClaimer[],
): Promise<ReadonlyMap<string, number>> {
  if (teams.length === 0) return new Map();
  const { rows } = await tx.query<CountRow>(COUNT, keysOf(tenantId, teams));
  return new Map(rows.map(({ queue_id: queueId, team, claims }) => [teamKey(queueId, team), claims]));
}

/** Stores what locked teams have used now. */
export async function writeTeamUsage(
  tx: Queryable,
  tenantId: string,
  used: readonly (TeamClaimer & { readonly usage: Usage })[],
): Promise<void> {
  if (used.length === 0) return;
  const blob = new BatchBlob();
  const slices = used.map(({ usage: { fixed, rolling } }) =>
    blob.append(Buffer.from(JSON.stringify({ fixed, rolling }), 'utf8')),
  );
  await tx.query(WRITE, [
    tenantId,
    blob.toBuffer(),
    uuidArray(used.map(({ queueId }) => queueId)),
    used.map(({ team }) => team),
    integerArray(slices.map(({ offset }) => offset)),
    integerArray(slices.map(({ length }) => length)),
  ]);
}
