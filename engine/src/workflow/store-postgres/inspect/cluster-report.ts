/** Nodes, shards and mailbox as the database knows them. Reads only. */
import type { Queryable, Row } from '../../../store/index.js';

/** A node. */
export interface NodeReport {
  readonly nodeId: string;
  readonly address: string;
  /** Time left of its lease, ms; negative: it has run out. */
  readonly leaseMs: number;
  readonly isFenced: boolean;
  /** Shards it is named the owner of. */
  readonly shards: number;
  /** The run it tries alone, because it may have brought an earlier node down. */
  readonly probingRun: string | null;
}

/** The cluster. */
export interface ClusterReport {
  readonly nodes: readonly NodeReport[];
  /** Shards without a node whose lease holds. */
  readonly ownerlessShards: readonly number[];
  /** Messages that wait, counted up to 100,000, and how many of them are for shards without an owner. */
  readonly inbox: { readonly waiting: number; readonly ownerless: number };
}

interface NodeRow extends Row {
  readonly node_id: string;
  readonly address: string;
  readonly lease_ms: number;
  readonly fenced: boolean;
  readonly shards: number;
  readonly probing_run: string | null;
}

const NODES = `select n.node_id::text, min(n.address) as address, bool_or(n.fenced) as fenced,
    ((min(n.lease_until) - ductor.now_us()) / 1000)::float8 as lease_ms, min(n.probing_run::text) as probing_run,
    (select count(*)::int from ductor.shard_owner o where o.node_id = n.node_id) as shards
  from ductor.engine_node n group by n.node_id order by n.node_id`;

const OWNERLESS = `select o.shard::int from ductor.shard_owner o where not exists (
    select 1 from ductor.engine_node n
    where n.node_id = o.node_id and not n.fenced and n.lease_until > ductor.now_us())
  order by o.shard`;

/** An index scan that ends after so many rows. */
const INBOX = `select count(*)::int as waiting, count(*) filter (where i.shard = any($1::smallint[]))::int as ownerless
  from (select shard from ductor.run_inbox limit 100000) i`;

/** Reads the report. */
export async function readClusterReport(db: Queryable): Promise<ClusterReport> {
  const nodes = await db.query<NodeRow>(NODES);
  const ownerless = await db.query<Row & { shard: number }>(OWNERLESS);
  const ownerlessShards = ownerless.rows.map(({ shard }) => shard);
  const inbox = await db.query<Row & { waiting: number; ownerless: number }>(INBOX, [ownerlessShards]);
  return {
    nodes: nodes.rows.map((row) => ({
      nodeId: row.node_id,
      address: row.address,
      leaseMs: row.lease_ms,
      isFenced: row.fenced,
      shards: row.shards,
      probingRun: row.probing_run,
    })),
    ownerlessShards,
    inbox: inbox.rows[0] ?? { waiting: 0, ownerless: 0 },
  };
}
