/** When items are looked at by themselves, and what a look comes to: the next wave begins, or they expire. Pure. */
import type { ClaimItem, ClaimWave } from './claim-item.js';

/** How long an item rests whose next wave may not begin: its pool is paused. */
const PAUSED_LOOK_US = 5_000_000;

/** What a look at an item came to. */
export type Look = { readonly kind: 'wait' | 'opened' | 'expired'; readonly item: ClaimItem };

/** How many claimants waves make out, the first `opened` of them. */
function visibleAfter(waves: readonly ClaimWave[], opened: number, claimants: number): number {
  const begun = waves.slice(0, opened);
  if (begun.some(({ size }) => size === null)) return claimants;
  return Math.min(
    claimants,
    begun.reduce((sum, { size }) => sum + (size ?? 0), 0),
  );
}

/** How many waves have begun at a moment. */
function dueWaves({ waves, queuedUs }: Pick<ClaimItem, 'waves' | 'queuedUs'>, nowUs: number): number {
  return waves.filter(({ afterUs }) => queuedUs + afterUs <= nowUs).length;
}

/** How a new item is offered. */
export function firstOffer(item: Pick<ClaimItem, 'waves' | 'queuedUs' | 'claimants'>): {
  readonly opened: number;
  readonly visible: number;
} {
  const opened = dueWaves(item, item.queuedUs);
  return { opened, visible: visibleAfter(item.waves, opened, item.claimants.length) };
}

/** Whether all to whom it is offered have turned it down. */
function isTurnedDown({ claimants, visible, declined }: ClaimItem): boolean {
  return declined.length >= visible && claimants.slice(0, visible).every((each) => declined.includes(each.recipientId));
}

/** Whether nobody is left to whom a wave could offer it. */
function hasNobodyLeft({ claimants, visible, waves, opened }: ClaimItem): boolean {
  return visible >= claimants.length || opened >= waves.length;
}

/** When to look at an item next; null: never. */
export function nextLookUs(item: ClaimItem, nowUs: number): number | null {
  if (item.state !== 'open') return null;
  if (isTurnedDown(item)) return nowUs;
  const wave = hasNobodyLeft(item) ? undefined : item.waves[item.opened];
  return wave === undefined ? item.expiresUs : Math.min(item.expiresUs, item.queuedUs + wave.afterUs);
}

/** An item with its next look worked out. */
function rested(item: ClaimItem, nowUs: number): ClaimItem {
  return { ...item, nextUs: nextLookUs(item, nowUs) };
}

/**
 * Looks at an item. Who turned it down does not get it once more, so that the next wave begins when all have.
 *
 * @param mayOpen whether waves may begin: those of paused pools do not
 */
export function lookAt(item: ClaimItem, nowUs: number, mayOpen: boolean): Look {
  if (item.state !== 'open') return { kind: 'wait', item: { ...item, nextUs: null } };
  const isDown = isTurnedDown(item);
  if (nowUs >= item.expiresUs || (isDown && hasNobodyLeft(item))) {
    return { kind: 'expired', item: { ...item, state: 'expired', endedUs: nowUs, nextUs: null } };
  }
  const opened = Math.min(item.waves.length, Math.max(dueWaves(item, nowUs), item.opened + (isDown ? 1 : 0)));
  if (opened <= item.opened) return { kind: 'wait', item: rested(item, nowUs) };
  if (!mayOpen) {
    return { kind: 'wait', item: { ...item, nextUs: Math.min(item.expiresUs, nowUs + PAUSED_LOOK_US) } };
  }
  const visible = visibleAfter(item.waves, opened, item.claimants.length);
  return { kind: 'opened', item: rested({ ...item, opened, visible }, nowUs) };
}
