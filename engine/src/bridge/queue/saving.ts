/**
 * Who of a group gets a task, by the slots that it takes: a session with so much room. Where none has, the one that can
 * have it saves up: it takes nothing else until it has. One session of a group saves at a time.
 */
import type { Consumer, Group, GroupTier, Lane } from './parts.js';

/** Slots of a session that a task of a lane takes. */
export const needOf = <S>({ kind }: Lane<S>, { most }: Consumer<S>): number => Math.min(kind.slots, most);

/** Whether the session that saves up in a group has the room, for a lane of this tier. */
export function hasSavedUp<S>({ saving }: Group<S>, tier: number): boolean {
  return saving !== null && saving.lane.tier === tier && saving.consumer.room >= needOf(saving.lane, saving.consumer);
}

/** The lane of a ready group that is next, and who has room for a task of it; undefined, and blocked, when none has. */
export function serve<S>(at: GroupTier<S>): { readonly lane: Lane<S>; readonly consumer: Consumer<S> } | undefined {
  const { group, ring } = at;
  if (hasSavedUp(group, at.tier)) return group.saving ?? undefined;
  for (let tries = ring.size; tries > 0; tries -= 1) {
    const lane = ring.first?.lane;
    if (lane === undefined) break;
    ring.rotate();
    const consumer = withRoom(group, lane);
    if (consumer !== undefined) return { lane, consumer };
    if (group.saving === null) save(group, lane);
  }
  at.isBlocked = true;
  return undefined;
}

function withRoom<S>({ available }: Group<S>, lane: Lane<S>): Consumer<S> | undefined {
  for (let tries = lane.kind.slots === 1 ? 1 : available.size; tries > 0; tries -= 1) {
    const consumer = available.first;
    available.rotate();
    if (consumer !== undefined && consumer.room >= needOf(lane, consumer)) return consumer;
  }
  return undefined;
}

/** Lets the session with the most slots save up for a lane. */
function save<S>(group: Group<S>, lane: Lane<S>): void {
  let best: Consumer<S> | undefined;
  for (const consumer of group.members) {
    if (best === undefined || needOf(lane, consumer) > needOf(lane, best)) best = consumer;
    else if (needOf(lane, consumer) === needOf(lane, best) && consumer.room > best.room) best = consumer;
  }
  if (best === undefined) return;
  group.saving = { consumer: best, lane };
  group.available.delete(best.node);
}

/** The session is free again for all that waits. */
export function stopSaving<S>(group: Group<S>): void {
  const { saving } = group;
  group.saving = null;
  for (const tier of group.tiers) tier.isBlocked = false;
  if (saving !== null && saving.consumer.room > 0) group.available.push(saving.consumer.node);
}
