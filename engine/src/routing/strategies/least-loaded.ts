/** The least loaded: by load over cap, by units left, or by units in use. No state of its own. */
import type { ParamsOf } from '../../pools/index.js';
import type { Candidate } from '../core/candidate.js';
import { grouped, type Strategy } from './strategy.js';
import { compareLoad } from './tie-chain.js';

/** Units left; without a cap more than anybody with one. */
function spareOf({ cap, load }: Candidate): number {
  return cap === undefined ? Number.MAX_SAFE_INTEGER - load : cap - load;
}

/** least_loaded */
export function leastLoaded({ mode }: ParamsOf<'least_loaded'>): Strategy {
  if (mode === 'spare') return (candidates) => ({ groups: grouped(candidates, (a, b) => spareOf(b) - spareOf(a)) });
  if (mode === 'absolute') return (candidates) => ({ groups: grouped(candidates, (a, b) => a.load - b.load) });
  return (candidates, { isCapped }) => ({ groups: grouped(candidates, (a, b) => compareLoad(a, b, isCapped)) });
}
