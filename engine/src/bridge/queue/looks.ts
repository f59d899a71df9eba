/** What those who watch a fair queue ask of it. Looks at every lane and changes nothing. */
import type { TaskKind } from './capability.js';
import type { Lane, Tenant } from './parts.js';

/** Tasks that wait, by what they wait for. */
export interface QueueDepth {
  /** Their turn: a worker has room. */
  readonly ready: number;
  /** Room: workers serve them, all are full. */
  readonly noRoom: number;
  /** A worker that serves them at all. */
  readonly noWorker: number;
}

/** Tasks of a tenant that wait in vain. */
export interface Lack {
  readonly tenantId: string;
  /** Each once. */
  readonly kinds: readonly TaskKind[];
}

function hasRoom<S>({ groups }: Lane<S>): boolean {
  return [...groups].some(({ available }) => available.size > 0);
}

/** How much waits for what. */
export function depthOf<S>(tenants: Iterable<Tenant<S>>): QueueDepth {
  const depth = { ready: 0, noRoom: 0, noWorker: 0 };
  for (const { lanes } of tenants) {
    for (const lane of lanes.values()) {
      if (lane.groups.size === 0) depth.noWorker += lane.size;
      else if (hasRoom(lane)) depth.ready += lane.size;
      else depth.noRoom += lane.size;
    }
  }
  return depth;
}

/**
 * What waits and is served by no session that counts, nor has any session room for it.
 *
 * @param counts whether a session that has no room serves all the same
 */
export function lacksOf<S>(tenants: Iterable<Tenant<S>>, counts: (session: S) => boolean): readonly Lack[] {
  const lacks: Lack[] = [];
  for (const { tenantId, lanes } of tenants) {
    const kinds = new Map<string, TaskKind>();
    for (const lane of lanes.values()) {
      const isServed = [...lane.groups].some(({ members }) => [...members].some(({ session }) => counts(session)));
      if (isServed || hasRoom(lane)) continue;
      const { queue, familySlug, handler, version } = lane.kind;
      kinds.set(JSON.stringify([queue, familySlug, handler, version]), { queue, familySlug, handler, version });
    }
    if (kinds.size > 0) lacks.push({ tenantId, kinds: [...kinds.values()] });
  }
  return lacks;
}
