/**
 * What a record says of the members of a pool themselves, column by column. It is the same for all decisions by one
 * view of a pool, so it is worked out once for each view: that took a tenth of the time of a committed decision.
 */
import { RECIPIENT_STATES } from '../../pools/index.js';
import type { Member, PoolReads, PoolView } from '../pipeline/view.js';
import { columnOf, packIds, type Column } from './columns.js';
import { valueAt } from './paths.js';
import { recipientPaths } from './reads.js';

/** Members as they are written. Undefined columns: all have the default. */
export interface WrittenMembers {
  readonly ids: readonly string[];
  readonly places: ReadonlyMap<string, number>;
  readonly packedIds: string;
  readonly versions: Column | undefined;
  readonly weights: Column | undefined;
  readonly tiers: Column | undefined;
  readonly orders: Column | undefined;
  readonly costs: Column | undefined;
  readonly concurrencyLimits: Column | undefined;
  readonly dailyLimits: Column | undefined;
  readonly states: Column | undefined;
  readonly active: Column | undefined;
  /** Attributes that the pool reads. */
  readonly attributes: unknown;
  /** Whether the state of one of them ends at some time. */
  readonly hasPassingStates: boolean;
}

/** A value of an attribute; whole numbers of CEL are told from doubles. */
function writeValue(value: unknown): unknown {
  if (typeof value === 'bigint') return { '#': String(value) };
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return value ?? null;
  return { '{': Object.entries(value).map(([key, inner]) => [key, writeValue(inner)]) };
}

function writeAttributes(members: readonly Member[], reads: PoolReads): unknown {
  const paths = recipientPaths(reads);
  if (paths.length === 0) return undefined;
  return paths.map((path) => [path, members.map(({ scope }) => writeValue(valueAt(scope, path)))]);
}

function write(members: readonly Member[], reads: PoolReads): WrittenMembers {
  const states: readonly string[] = RECIPIENT_STATES;
  const ids = members.map(({ id }) => id);
  return {
    ids,
    places: new Map(ids.map((id, index) => [id, index])),
    packedIds: packIds(ids),
    versions: columnOf(members, ({ version }) => version, 1),
    weights: columnOf(members, ({ weightMilli }) => weightMilli, 1000),
    tiers: columnOf(members, ({ tier }) => tier, 0),
    orders: columnOf(members, ({ order }) => order, 0),
    costs: columnOf(members, ({ costMicros }) => (costMicros === undefined ? undefined : String(costMicros))),
    concurrencyLimits: columnOf(members, ({ maxConcurrent }) => maxConcurrent, 0),
    dailyLimits: columnOf(members, ({ dailyLimit }) => dailyLimit, 0),
    states: columnOf(members, ({ state }) => states.indexOf(state), 0),
    active: columnOf(members, ({ isActive }) => isActive, true),
    attributes: writeAttributes(members, reads),
    hasPassingStates: members.some(({ stateUntilUs }) => stateUntilUs !== undefined),
  };
}

const ofViews = new WeakMap<PoolView, WrittenMembers>();

/** The members that were looked at in a pool, as they are written. */
export function writeMembers(looked: readonly { readonly member: Member }[], view: PoolView): WrittenMembers {
  const { members } = view;
  const isAll = looked.length === members.length && looked.every(({ member }, index) => member === members[index]);
  if (!isAll) {
    return write(
      looked.map(({ member }) => member),
      view.reads,
    );
  }
  const known = ofViews.get(view);
  if (known !== undefined) return known;
  const written = write(members, view.reads);
  ofViews.set(view, written);
  return written;
}
