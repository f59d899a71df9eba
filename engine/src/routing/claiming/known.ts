/**
 * Answers that need no lock. Where many want the same items most calls come too late: an item that is read as
 * somebody else's was that at a moment between call and answer, whatever happens to it afterwards. Pure.
 */
import { changeItem, type ClaimItem } from '../../claims/index.js';
import type { ClaimCall, ClaimResult } from './claim-call.js';
import { noItem, notChanged } from './claim-errors.js';

const TAKES: ReadonlySet<string> = new Set(['claim', 'decline']);

/**
 * Answers of calls, in their order; undefined: only a transaction can say.
 *
 * @param items as they were read after the calls had come in
 */
export function known(
  calls: readonly ClaimCall[],
  items: ReadonlyMap<string, ClaimItem>,
): readonly (ClaimResult | undefined)[] {
  // Calls are done in the order in which they came: what is given back in this batch may be had by a later one of it.
  const back = new Set(calls.flatMap(({ verb, itemId }) => (verb === 'release' ? [itemId] : [])));
  return calls.map((call) => {
    const item = items.get(call.itemId);
    if (item === undefined) return noItem(call.itemId);
    if (!TAKES.has(call.verb) || back.has(call.itemId)) return undefined;
    const change = changeItem(call.verb, item, call.recipientId, item.queuedUs);
    return change.kind === 'rescinded' ? notChanged(call, change) : undefined;
  });
}
