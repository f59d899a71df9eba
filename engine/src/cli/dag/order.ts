/** The order of slots within their layers, so that few lines cross: means of neighbours, up and down, best one kept. */
import type { Layered, Link, Slot } from './layers.js';

const SWEEPS = 6;

/** Places of neighbours in the layer before or behind, by slot. */
function neighbours(links: readonly Link[], own: 'from' | 'to', other: readonly Slot[]): Map<string, number[]> {
  const place = new Map(other.map(({ key }, index) => [key, index]));
  const found = new Map<string, number[]>();
  for (const link of links) {
    const at = place.get(own === 'to' ? link.from : link.to);
    if (at === undefined) continue;
    const list = found.get(link[own]);
    if (list === undefined) found.set(link[own], [at]);
    else list.push(at);
  }
  return found;
}

/** The layer by the means of its neighbours' places; slots without neighbours stay about where they are. */
function sorted(layer: readonly Slot[], places: ReadonlyMap<string, readonly number[]>): Slot[] {
  const weighted = layer.map((slot, index) => {
    const near = places.get(slot.key) ?? [];
    return { slot, index, weight: near.length === 0 ? index : near.reduce((sum, at) => sum + at, 0) / near.length };
  });
  return weighted.sort((a, b) => a.weight - b.weight || a.index - b.index).map(({ slot }) => slot);
}

/** Pairs of lines that cross between two layers. */
function crossings(links: readonly Link[], above: readonly Slot[], below: readonly Slot[]): number {
  const from = new Map(above.map(({ key }, index) => [key, index]));
  const to = new Map(below.map(({ key }, index) => [key, index]));
  const ends = links.map((link) => [from.get(link.from) ?? 0, to.get(link.to) ?? 0] as const);
  let count = 0;
  for (const [index, [a, b]] of ends.entries()) {
    for (const [c, d] of ends.slice(index + 1)) if ((a - c) * (b - d) < 0) count += 1;
  }
  return count;
}

function allCrossings(links: Layered['links'], layers: readonly (readonly Slot[])[]): number {
  return links.reduce((sum, list, at) => sum + crossings(list, layers[at] ?? [], layers[at + 1] ?? []), 0);
}

/** The layers in a good order. */
export function orderLayers({ layers, links }: Layered): readonly (readonly Slot[])[] {
  let current = layers.map((layer) => [...layer]);
  let best = current;
  let fewest = allCrossings(links, current);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    const next = current.map((layer) => [...layer]);
    for (let step = 1; step < next.length; step += 1) {
      const at = sweep % 2 === 0 ? step : next.length - 1 - step;
      const beside = sweep % 2 === 0 ? at - 1 : at + 1;
      const between = links[Math.min(at, beside)] ?? [];
      const places = neighbours(between, sweep % 2 === 0 ? 'to' : 'from', next[beside] ?? []);
      next[at] = sorted(next[at] ?? [], places);
    }
    current = next;
    const count = allCrossings(links, current);
    if (count >= fewest) continue;
    fewest = count;
    best = current;
  }
  return best;
}
