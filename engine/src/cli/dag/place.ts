/**
 * Columns of slots: each wants to stand at the middle of its neighbours; within a layer the wishes are met as closely
 * as order and distances allow (least squares by pooling adjacent violators, Barlow et al. 1972).
 */
import type { Link, Slot } from './layers.js';

/** Where a slot stands: its middle column is where lines leave and arrive. */
export interface Place {
  readonly left: number;
  readonly width: number;
}

/** Middle column of a place. */
export function middleOf({ left, width }: Place): number {
  return left + Math.floor((width - 1) / 2);
}

const ROUNDS = 8;
const GAP = 3;

/** Values nearest to the wishes that keep `distances[i]` between value i and i + 1. */
export function keepDistances(wishes: readonly number[], distances: readonly number[]): number[] {
  let offset = 0;
  const offsets = wishes.map((_wish, index) => (index === 0 ? 0 : (offset += distances[index - 1] ?? 0)));
  const blocks: { sum: number; count: number }[] = [];
  for (const [index, wish] of wishes.entries()) {
    let block = { sum: wish - (offsets[index] ?? 0), count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count > block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, count: block.count + last.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  const means = blocks.flatMap(({ sum, count }) => Array.from({ length: count }, () => Math.round(sum / count)));
  return means.map((mean, index) => mean + (offsets[index] ?? 0));
}

function median(values: readonly number[]): number | undefined {
  const ordered = [...values].sort((a, b) => a - b);
  const [low, high] = [ordered[Math.floor((ordered.length - 1) / 2)], ordered[Math.ceil((ordered.length - 1) / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** Moves one layer towards the middles of the layer beside it. */
function settle(
  layer: readonly Slot[],
  near: ReadonlyMap<string, readonly string[]>,
  x: Map<string, number>,
  width: (slot: Slot) => number,
): void {
  const wishes = layer.map(({ key }) => {
    const known = (near.get(key) ?? []).map((other) => x.get(other) ?? 0);
    return median(known) ?? x.get(key) ?? 0;
  });
  const distances = layer.slice(1).map((slot, index) => {
    const before = layer[index];
    const half = before === undefined ? 0 : width(before) - Math.floor((width(before) - 1) / 2);
    return half + Math.floor((width(slot) - 1) / 2) + GAP - 1;
  });
  const values = keepDistances(wishes, distances);
  for (const [index, { key }] of layer.entries()) x.set(key, values[index] ?? 0);
}

function nearBy(links: readonly Link[], own: 'from' | 'to'): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const link of links) {
    const other = own === 'to' ? link.from : link.to;
    found.set(link[own], [...(found.get(link[own]) ?? []), other]);
  }
  return found;
}

/**
 * Places of all slots; the leftmost column is 0.
 *
 * @param width columns of a slot
 */
export function placeSlots(
  layers: readonly (readonly Slot[])[],
  links: readonly (readonly Link[])[],
  width: (slot: Slot) => number,
): ReadonlyMap<string, Place> {
  const x = new Map<string, number>();
  for (const layer of layers) settle(layer, new Map(), x, width);
  for (let round = 0; round < ROUNDS; round += 1) {
    const isDown = round % 2 === 0;
    for (let step = 1; step < layers.length; step += 1) {
      const at = isDown ? step : layers.length - 1 - step;
      const near = nearBy(links[isDown ? at - 1 : at] ?? [], isDown ? 'to' : 'from');
      settle(layers[at] ?? [], near, x, width);
    }
  }
  const slots = layers.flat();
  const lefts = slots.map((slot) => (x.get(slot.key) ?? 0) - Math.floor((width(slot) - 1) / 2));
  const least = Math.min(...lefts);
  return new Map(slots.map((slot, index) => [slot.key, { left: (lefts[index] ?? 0) - least, width: width(slot) }]));
}
