/**
 * Lines between two layers. Lines that say the same thing together (one source, or sources that all lead to the same
 * targets) share one horizontal track; each bundle has a column of its own into a target, as long as the target is wide
 * enough.
 */
import type { EdgeKind } from './graph.js';
import type { Link } from './layers.js';
import { middleOf, type Place } from './place.js';

/** Where a bundle goes into a slot. */
export interface Entry {
  readonly to: string;
  readonly column: number;
  /** undefined: a bend, which has no arrow. */
  readonly kind: EdgeKind | undefined;
}

/** Lines on one track. */
export interface Bundle {
  /** Columns it comes from. */
  readonly sources: readonly number[];
  readonly entries: readonly Entry[];
  /** Track from 0, the highest; null: it goes straight down. */
  readonly track: number | null;
}

/** Lines of a gap, and how many tracks they need. */
export interface Routing {
  readonly bundles: readonly Bundle[];
  readonly tracks: number;
}

interface Draft {
  readonly sources: readonly string[];
  readonly targets: ReadonlyMap<string, EdgeKind | undefined>;
}

/** What a source leads to, as a text that is equal for equal sets. */
function signature(targets: ReadonlyMap<string, EdgeKind | undefined>): string {
  return [...targets]
    .map(([to, kind]) => `${to}\0${kind ?? ''}`)
    .sort()
    .join('\n');
}

/** Sources that lead to the same targets are one bundle, unless others lead there as well: then each is its own. */
function bundlesOf(links: readonly Link[]): Draft[] {
  const bySource = new Map<string, Map<string, EdgeKind | undefined>>();
  for (const { from, to, kind } of links) {
    const targets = bySource.get(from) ?? new Map<string, EdgeKind | undefined>();
    bySource.set(from, targets.set(to, kind));
  }
  const bySignature = new Map<string, { sources: string[]; targets: Map<string, EdgeKind | undefined> }>();
  for (const [source, targets] of bySource) {
    const key = signature(targets);
    const known = bySignature.get(key);
    if (known === undefined) bySignature.set(key, { sources: [source], targets });
    else known.sources.push(source);
  }
  return [...bySignature.values()];
}

/** Columns of the bundles that go into a slot: around its middle, a straight one in it. */
function entryColumns(place: Place, comingFrom: readonly number[]): number[] {
  const middle = middleOf(place);
  const straight = comingFrom.indexOf(middle);
  const room = Math.max(0, Math.floor((place.width - 1) / 2));
  return comingFrom.map((_from, index) => {
    const wanted = straight === -1 ? index * 2 - (comingFrom.length - 1) : (index - straight) * 2;
    return middle + Math.max(-room, Math.min(room, wanted));
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Bundles with the columns they leave from and arrive at. */
function located(drafts: readonly Draft[], places: ReadonlyMap<string, Place>): Omit<Bundle, 'track'>[] {
  const columnOf = (key: string): number => {
    const place = places.get(key);
    return place === undefined ? 0 : middleOf(place);
  };
  const sourcesOf = new Map(drafts.map((draft) => [draft, draft.sources.map(columnOf)]));
  const into = new Map<string, Draft[]>();
  for (const draft of drafts) for (const to of draft.targets.keys()) into.set(to, [...(into.get(to) ?? []), draft]);
  const entries = new Map<Draft, Entry[]>(drafts.map((draft) => [draft, []]));
  for (const [to, coming] of into) {
    const weight = (draft: Draft): number => mean(sourcesOf.get(draft) ?? [0]);
    const ordered = [...coming].sort((a, b) => weight(a) - weight(b));
    const place = places.get(to) ?? { left: 0, width: 1 };
    const columns = entryColumns(place, ordered.map(weight));
    for (const [index, draft] of ordered.entries()) {
      entries.get(draft)?.push({ to, column: columns[index] ?? 0, kind: draft.targets.get(to) });
    }
  }
  return drafts.map((draft) => ({ sources: sourcesOf.get(draft) ?? [], entries: entries.get(draft) ?? [] }));
}

const spanOf = ({ sources, entries }: Omit<Bundle, 'track'>): readonly [number, number] => {
  const columns = [...sources, ...entries.map(({ column }) => column)];
  return [Math.min(...columns), Math.max(...columns)];
};

/** Whether `a` has to stand above `b`: a source of `a` stands where `b` goes down, so `a` must have left the column. */
function mustBeAbove(a: Omit<Bundle, 'track'>, b: Omit<Bundle, 'track'>): boolean {
  return a.sources.some((source) => b.entries.some(({ column }) => column === source));
}

/** Routes the lines of a gap. */
export function route(links: readonly Link[], places: ReadonlyMap<string, Place>): Routing {
  const bundles = located(bundlesOf(links), places);
  const isBent = (bundle: Omit<Bundle, 'track'>): boolean => {
    const [from, to] = spanOf(bundle);
    return from !== to;
  };
  let waiting = bundles.filter(isBent).sort((a, b) => spanOf(a)[0] - spanOf(b)[0]);
  const done: Bundle[] = bundles.filter((bundle) => !isBent(bundle)).map((bundle) => ({ ...bundle, track: null }));
  let tracks = 0;
  while (waiting.length > 0) {
    const free = waiting.filter((bundle) => !waiting.some((other) => other !== bundle && mustBeAbove(other, bundle)));
    const ready = free.length === 0 ? waiting : free;
    const taken: (readonly [number, number])[] = [];
    const placed = new Set<Omit<Bundle, 'track'>>();
    for (const bundle of ready) {
      const [from, to] = spanOf(bundle);
      if (taken.some(([start, end]) => from <= end + 1 && to >= start - 1)) continue;
      taken.push([from, to]);
      placed.add(bundle);
      done.push({ ...bundle, track: tracks });
    }
    waiting = waiting.filter((bundle) => !placed.has(bundle));
    tracks += 1;
  }
  return { bundles: done, tracks };
}
