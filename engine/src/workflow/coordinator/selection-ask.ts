/** A selection as routing takes it. */
import { checkRoutable, type RouteAsk } from '../../routing/index.js';
import type { Selecting } from '../machine/selecting.js';

/**
 * What is asked of routing; work without an id of its own has that of its step. Throws invalid_argument for a routable
 * that is none.
 */
export function askOf(
  runId: string,
  { path, routable, family }: Pick<Selecting, 'path' | 'routable' | 'family'>,
  poolId: string | undefined,
): RouteAsk {
  const checked = checkRoutable(routable);
  const named = checked.id === '' ? { ...checked, id: `${runId}/${path}` } : checked;
  return { routable: named, poolId, recipientId: undefined, excluded: [], previous: [], family: family.rootId };
}
