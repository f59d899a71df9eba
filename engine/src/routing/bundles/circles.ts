/** Circles of pools that spill over into each other. Decisions leave them by their visited set; nobody means them. */
import { fallbacksOf, type PoolFields } from '../../pools/index.js';

/** Pools that a pool may spill over into, by id. */
function targetsOf({ config }: PoolFields): readonly string[] {
  return fallbacksOf(config).flatMap(({ kind, target }) => {
    if (kind !== 'overflow' && kind !== 'catchall') return [];
    const id = target ?? (kind === 'overflow' ? config.overflow_pool_id : config.catchall_pool_id);
    return id === undefined ? [] : [id];
  });
}

/** One text for each circle, each found once, from the pool of it that comes first. */
export function spillCircles(pools: ReadonlyMap<string, PoolFields>): readonly string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (id: string, path: readonly string[]): void => {
    const fields = pools.get(id);
    if (fields === undefined) return;
    const start = path.indexOf(id);
    if (start >= 0) {
      const names = [...path.slice(start), id].map((each) => pools.get(each)?.name ?? each);
      found.push(`pools spill over in a circle: ${names.join(' → ')}`);
      return;
    }
    if (done.has(id)) return;
    for (const target of targetsOf(fields)) walk(target, [...path, id]);
    done.add(id);
  };
  for (const id of pools.keys()) walk(id, []);
  return found;
}
