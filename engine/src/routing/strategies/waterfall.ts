/** In the order that was written down: `order`, then the heavier one, then the id. No state. */
import type { ParamsOf } from '../../pools/index.js';
import { singly, type Strategy } from './strategy.js';
import { compareText } from './tie-chain.js';

/** waterfall */
export function waterfall({ max_hops }: ParamsOf<'waterfall'>): Strategy {
  return (candidates) => ({
    groups: singly(
      candidates
        .toSorted((a, b) => a.order - b.order || b.weightMilli - a.weightMilli || compareText(a.id, b.id))
        .slice(0, max_hops),
    ),
  });
}
