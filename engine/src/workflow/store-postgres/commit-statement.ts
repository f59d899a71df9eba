/** The one statement of a batch, put together from the parts that have rows, and kept. */
import { prepared, type Prepared } from '../../store/index.js';
import { PARTS, PART_NAMES, type PartName } from './commit-parts.js';

/** Numbers of the commit lanes, each with a row of its own of a node. */
export const PLAIN_LANE = 0;
/** See PLAIN_LANE. */
export const GATE_LANE = 1;
/** A commit lane. */
export type LaneNumber = typeof PLAIN_LANE | typeof GATE_LANE;

/** Parameters before those of the parts: node, lane session, blob, number of ticks. */
const FIRST_ARRAY = 5;

/**
 * The node's own row, locked so that a takeover waits for this transaction. No row: the node is fenced or gone, or this
 * session of the lane was given up. (Unlocked, a zombie commits after the takeover; `for share` stalls the renewal of
 * the lease for 302 ms instead of 1; one row a batch instead of 64 shard rows saves 20 %.)
 */
export function fenceSql(lane: LaneNumber): string {
  return `fence as materialized (
  select 1 from ductor.engine_node
  where node_id = $1::uuid and lane = ${lane} and lane_session = $2::int and not fenced for key share
)`;
}

/**
 * What became of the ticks. Mostly two numbers say it: as many rows were appended as were sent. Otherwise the
 * runs that were appended, and of those with start keys the ones that are there already.
 */
function answer(hasJournal: boolean, keyArrays: readonly string[], hasBoxes: boolean): string {
  const fence = '(select count(*)::int from fence) as fence';
  const unread = `${hasBoxes ? '(select b.unread::text[] from b)' : 'null'} as unread`;
  if (!hasJournal) return `select ${fence}, $4::int as appended, null as runs, null as present, ${unread}`;
  const isShort = '(select count(*) from j) < $4::int';
  const present =
    keyArrays.length === 0
      ? 'null'
      : `case when ${isShort} then array(select t.tenant_id || '/' || t.run_id
    from unnest(${keyArrays[0]}, ${keyArrays[3]}) as t (tenant_id, run_id)
    where exists (select 1 from ductor.runs r where r.tenant_id = t.tenant_id and r.run_id = t.run_id)) end`;
  return `select ${fence}, (select count(*)::int from j) as appended,
  case when ${isShort} then array(select j.tenant_id || '/' || j.run_id from j) end as runs,
  ${present} as present, ${unread}`;
}

/** Writes the statement of these parts. */
function write(names: readonly PartName[], lane: LaneNumber): Prepared {
  const expressions = [fenceSql(lane)];
  let next = FIRST_ARRAY;
  let keyArrays: readonly string[] = [];
  const hasBoxes = names.includes('boxes');
  for (const name of names) {
    const part = PARTS[name];
    const first = next;
    const arrays = part.types.map((type, i) => `$${first + i}::${type}[]`);
    next += arrays.length;
    if (name === 'keys') keyArrays = arrays;
    expressions.push(part.sql({ arrays, blob: '$3::bytea', hasKeys: keyArrays.length > 0, hasBoxes }));
  }
  // The blob has to be named somewhere, or the server cannot tell its type.
  const select = answer(names.includes('journal'), keyArrays, hasBoxes);
  const text = `with ${expressions.join(',\n')}\n${select}, length($3::bytea) as size`;
  return prepared(
    `${lane === GATE_LANE ? 'gated' : 'commit'}_${names.map((name) => name.slice(0, 2)).join('_')}`,
    text,
  );
}

const written = new Map<string, Prepared>();

/** The statement of these parts; names in the order of PART_NAMES. */
export function commitStatement(names: readonly PartName[], lane: LaneNumber = PLAIN_LANE): Prepared {
  const id = `${lane} ${names.join()}`;
  const known = written.get(id);
  if (known !== undefined) return known;
  const statement = write(
    PART_NAMES.filter((name) => names.includes(name)),
    lane,
  );
  written.set(id, statement);
  return statement;
}
