/** State of strategies in a record: recipients by their place among the candidates instead of by id. */
import type { NodeState, PoolState } from '../core/candidate.js';

type Written = { readonly [key: string]: unknown };

function writeNode(state: NodeState, ids: readonly string[], places: ReadonlyMap<string, number>): Written {
  const { at, left, of } = state;
  const others = Object.entries(of ?? {}).filter(([id]) => !places.has(id));
  return {
    ...(at === undefined ? {} : { a: places.get(at) ?? at }),
    ...(left === undefined ? {} : { l: left }),
    ...(of === undefined ? {} : { o: ids.map((id) => (Object.hasOwn(of, id) ? of[id] : null)) }),
    ...(others.length === 0 ? {} : { x: Object.fromEntries(others) }),
  };
}

/**
 * Writes the state; undefined when there is none.
 *
 * @param candidates ids of the candidates, and the place of each
 */
export function writeState(
  state: PoolState,
  candidates: { readonly ids: readonly string[]; readonly places: ReadonlyMap<string, number> },
): Written | undefined {
  const entries = Object.entries(state);
  if (entries.length === 0) return undefined;
  const { ids, places } = candidates;
  return Object.fromEntries(entries.map(([key, node]) => [key, writeNode(node, ids, places)]));
}

function isObject(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numbersOf(value: unknown): readonly (readonly [string, number])[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([id, number]) => (typeof number === 'number' ? [[id, number] as const] : []));
}

function readNode(written: unknown, ids: readonly string[]): NodeState {
  if (!isObject(written)) return {};
  const { a, l, o, x } = written;
  const at = typeof a === 'number' ? ids[a] : a;
  const column: readonly unknown[] = Array.isArray(o) ? o : [];
  const own = ids.flatMap((id, index) => {
    const value = column[index];
    return typeof value === 'number' ? [[id, value] as const] : [];
  });
  return {
    ...(typeof at === 'string' ? { at } : {}),
    ...(typeof l === 'number' ? { left: l } : {}),
    ...(Array.isArray(o) ? { of: Object.fromEntries([...own, ...numbersOf(x)]) } : {}),
  };
}

/** Reads the state that writeState wrote. */
export function readState(written: unknown, ids: readonly string[]): PoolState {
  if (!isObject(written)) return {};
  return Object.fromEntries(Object.entries(written).map(([key, node]) => [key, readNode(node, ids)]));
}
