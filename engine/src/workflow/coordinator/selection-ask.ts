/** Work of a step as routing takes it. */
import { checkRoutable, type RouteAsk } from '../../routing/index.js';
import type { RoutingWork } from '../machine/routing-work.js';
import type { Selecting } from '../machine/selecting.js';

/** What a step asks for. With a family: its seats are the family's, whose end the gate lane then sees. */
type AskedWork = Pick<Selecting, 'path' | 'routable'> &
  Partial<Pick<Selecting, 'family'> & Pick<RoutingWork, 'excluded' | 'endsWith'>>;

/**
 * What is asked of routing; work without an id of its own has that of its step. Throws invalid_argument for a routable
 * that is none.
 */
export function askOf(
  runId: string,
  { path, routable, family, excluded = [], endsWith }: AskedWork,
  poolId: string | undefined,
): RouteAsk {
  const checked = checkRoutable(routable);
  const named = checked.id === '' ? { ...checked, id: `${runId}/${path}` } : checked;
  // Written out: it is made for every selection, and objects spread together are slow.
  const ask: RouteAsk = { routable: named, poolId, recipientId: undefined, excluded, previous: [] };
  const ofFamily = family === undefined ? ask : Object.assign(ask, { family: family.rootId });
  return endsWith === undefined ? ofFamily : Object.assign(ofFamily, { endsWith });
}
