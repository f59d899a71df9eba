/** Shares of the keys, each to a strategy of its own: for canaries and comparisons. The same key stays in its share. */
import type { CelExpression } from '../../expressions/index.js';
import type { ParamsOf } from '../../pools/index.js';
import { hash64 } from '../core/hash.js';
import type { Strategy } from './strategy.js';

/** split. Without a key expression the routable's id is the key. */
export function split(
  params: ParamsOf<'split'>,
  keyOf: CelExpression | undefined,
  arms: readonly Strategy[],
): Strategy {
  return (candidates, context, key) => {
    const text = keyOf === undefined ? context.routable.id : String(context.evaluate(keyOf));
    let point = Number(hash64(params.salt, text) % 10_000n);
    let arm = 0;
    for (const [index, share] of params.bps.entries()) {
      arm = index;
      point -= share;
      if (point < 0) break;
    }
    const ranking = arms[arm]?.(candidates, context, `${key}/${arm}`) ?? { groups: [] };
    return { ...ranking, notes: [`arm ${arm}`, ...(ranking.notes ?? [])] };
  };
}
