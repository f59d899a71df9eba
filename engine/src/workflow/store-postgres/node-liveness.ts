/** When a node counts as dead: one rule for everyone who looks. SQL fragments over a row `n` of ductor.engine_node. */

/** How a node's death by its session is judged. */
export interface LivenessRule {
  /**
   * A node whose session is gone but which renewed its lease this recently may just be reconnecting: it is not dead
   * yet. Default 300 ms; callers look twice, a heartbeat apart, before they take over.
   */
  readonly sessionGraceMs: number;
  /** After a start of the database server all sessions are gone; for so long that proves nothing. Default 3,000 ms. */
  readonly restartGraceMs: number;
}

/** The defaults. */
export const DEFAULT_LIVENESS: LivenessRule = { sessionGraceMs: 300, restartGraceMs: 3_000 };

/** Advisory locks that sessions of this database hold, as one table `session (key)`. */
export const SESSION_KEYS = `session as materialized (
  select (classid::bigint << 32) | objid::bigint as key from pg_locks
  where locktype = 'advisory' and objsubid = 1 and granted
    and database = (select oid from pg_database where datname = current_database())
)`;

/** Condition: the node's lease has not run out. */
export const IS_LEASED = 'n.lease_until > ductor.now_us()';

/**
 * Condition: the node's session is open, or may be coming back. The graces do not hold for a node that had the address
 * of the one that looks: where that one listens now, the other does not any more. So an engine that was killed and
 * started again goes on at once, even when its database went down with it.
 *
 * @param rule the graces; inserted as numbers
 * @param looker parameter with the id of the node that looks
 */
export function isSessionOpen({ sessionGraceMs, restartGraceMs }: LivenessRule, looker: string): string {
  return `(n.session_key in (select key from session)
    or n.address is distinct from (select min(own.address) from ductor.engine_node own where own.node_id = ${looker})
    and (n.renewed_at > ductor.now_us() - ${Number(sessionGraceMs)} * 1000::bigint
      or ductor.ductor_now() < pg_postmaster_start_time() + ${Number(restartGraceMs)} * interval '1 millisecond'))`;
}
