/** Limits of recipients as they are when a version is published: the version never admits more than they allowed. */
import { readLimits } from '../../pools/index.js';
import type { Queryable } from '../../store/index.js';
import type { Definition, StepDefinition } from '../definition/index.js';

/** Pools that steps name, those in bodies too. */
function poolsOf(steps: readonly StepDefinition[]): readonly string[] {
  return steps.flatMap(({ type, args, body }) => {
    const pool = type === 'STEP_TYPE_SELECT' ? args?.['pool'] : undefined;
    return [...(typeof pool === 'string' ? [pool] : []), ...poolsOf(body?.steps ?? [])];
  });
}

/** The definition with the limits of the pools that it names; as it was when it names none, or they have none. */
export async function withPinnedLimits(db: Queryable, tenantId: string, definition: Definition): Promise<Definition> {
  const pools = [...new Set(poolsOf(definition.steps))];
  if (pools.length === 0) return definition;
  const limits = await readLimits(db, tenantId, pools);
  return Object.keys(limits).length === 0 ? definition : { ...definition, pinned_limits: limits };
}
