/**
 * Where everything of a picture stands: the layers of the text drawing, with boxes in place of names. A body is laid
 * out by itself and makes the box of its step as large as it needs.
 */
import type { Dag } from '../dag/graph.js';
import { bendKey, layersOf, type Slot } from '../dag/layers.js';
import { orderLayers } from '../dag/order.js';
import { middleOf, type Place, placeSlots } from '../dag/place.js';
import type { PictureEdge, PictureGraph, PictureStep } from './picture.js';

/** Width of a character of the fixed font, in px; columns of the text drawing become so wide. */
export const COLUMN = 8;
/** Height of a line of text, in px. */
export const LINE_HEIGHT = 18;
/** Between a box and what is in it, in px. */
export const PADDING = 12;

/** Least room between layers, in px: where lines bend. */
const GAP = 40;

/** A step's box, in px from the corner of its graph. */
export interface Box {
  readonly step: PictureStep;
  readonly lines: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Its body stands PADDING from the left, below the lines. */
  readonly body: Layout | undefined;
}

/** A line from box to box. Its label stands at its end, `rank` lines above the target. */
export interface Route {
  readonly edge: PictureEdge;
  /** Points it goes through; between an odd one and the next it bends, otherwise it goes straight down. */
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly rank: number;
}

/** A graph with places; px. */
export interface Layout {
  readonly boxes: readonly Box[];
  readonly routes: readonly Route[];
  readonly width: number;
  readonly height: number;
}

// Scripts whose characters take two columns in a fixed font: East Asian ones and pictographs.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/gu;

/** Columns of a text in a fixed font, nearly. */
function columnsOf(text: string): number {
  return Array.from(text).length + (text.match(WIDE)?.length ?? 0);
}

/** What a box says, line by line. */
function boxLines({ mark, ref, type, title, state }: PictureStep): string[] {
  const what = title === '' ? type : `${type}: ${title}`;
  return [`${mark.unicode} ${ref}`.trim(), what, ...(state === undefined ? [] : [state.text])];
}

type Sized = Omit<Box, 'x' | 'y'>;

function sized(step: PictureStep, incoming: readonly PictureEdge[]): Sized {
  const lines = boxLines(step);
  const body = step.body === undefined ? undefined : layOut(step.body);
  const texts = Math.max(...[...lines, ...incoming.map(({ label }) => `${label}  `)].map(columnsOf)) * COLUMN;
  const width = Math.max(texts, body?.width ?? 0) + 2 * PADDING;
  const height = lines.length * LINE_HEIGHT + 2 * PADDING + (body === undefined ? 0 : body.height + PADDING);
  return { step, lines, width: Math.ceil(width / COLUMN) * COLUMN, height, body };
}

/** Edges to a target, by their order: each has its own place along the top of the box. */
function enteringBy(edges: readonly PictureEdge[]): ReadonlyMap<string, readonly PictureEdge[]> {
  const byTarget = new Map<string, PictureEdge[]>();
  for (const edge of edges) {
    const list = byTarget.get(edge.to);
    if (list === undefined) byTarget.set(edge.to, [edge]);
    else list.push(edge);
  }
  return byTarget;
}

interface Rows {
  readonly top: number;
  readonly bottom: number;
}

/** Heights of the layers; in front of each is room for the labels of the lines that come in. */
function rowsOf(layers: readonly (readonly Slot[])[], sizes: ReadonlyMap<string, Sized>, labels: Labels): Rows[] {
  let top = 0;
  return layers.map((layer, index) => {
    if (index > 0) top += GAP + LINE_HEIGHT * Math.max(0, ...layer.map(({ key }) => labels.get(key) ?? 0));
    const row = { top, bottom: top + Math.max(...layer.map(({ key }) => sizes.get(key)?.height ?? 0)) };
    top = row.bottom;
    return row;
  });
}

/** How many labels stand above a box, by ref. */
type Labels = ReadonlyMap<string, number>;

interface Placed {
  readonly rows: readonly Rows[];
  readonly layerOf: ReadonlyMap<string, number>;
  /** Middle of a slot, px. */
  readonly middle: (key: string) => number;
}

/** The way of an edge, bend by bend; undefined: it would lead upwards, as only drafts with a circle have it. */
function pointsOf(
  { from, to }: PictureEdge,
  entry: number,
  straight: number,
  placed: Placed,
  box: Box,
): Route['points'] | undefined {
  const { rows, layerOf, middle } = placed;
  const [start, end] = [layerOf.get(from) ?? 0, layerOf.get(to) ?? 0];
  const [first, last] = [rows[start], rows[end]];
  if (start >= end || first === undefined || last === undefined) return undefined;
  const points: (readonly [number, number])[] = [
    [middle(from), box.y + box.height],
    [middle(from), first.bottom],
  ];
  for (let layer = start + 1; layer < end; layer += 1) {
    const row = rows[layer];
    const x = middle(bendKey(from, layer));
    if (row !== undefined) points.push([x, row.top], [x, row.bottom]);
  }
  points.push([entry, last.top - straight], [entry, last.top]);
  return points;
}

function routesOf(entering: ReturnType<typeof enteringBy>, boxes: ReadonlyMap<string, Box>, placed: Placed): Route[] {
  return [...entering].flatMap(([to, edges]) => {
    const target = boxes.get(to);
    if (target === undefined) return [];
    const ordered = [...edges].sort((a, b) => placed.middle(a.from) - placed.middle(b.from));
    const step = Math.min(3 * COLUMN, (target.width - 2 * PADDING) / ordered.length);
    const labelled = ordered.filter(({ label }) => label !== '');
    return ordered.flatMap((edge, index): Route[] => {
      const source = boxes.get(edge.from);
      const entry = placed.middle(to) + (index - (ordered.length - 1) / 2) * step;
      const straight = COLUMN + labelled.length * LINE_HEIGHT;
      const points = source && pointsOf(edge, entry, straight, placed, source);
      return points === undefined ? [] : [{ edge, points, rank: labelled.indexOf(edge) }];
    });
  });
}

const middlePx = (place: Place | undefined): number => (place === undefined ? 0 : (middleOf(place) + 0.5) * COLUMN);

/** Places of all steps, bodies and edges. Edges on a circle are left out, as in the text drawing. */
export function layOut({ steps, edges }: PictureGraph): Layout {
  const entering = enteringBy(edges);
  const sizes = new Map(steps.map((step) => [step.ref, sized(step, entering.get(step.ref) ?? [])]));
  const dag: Dag = { nodes: steps.map(({ ref, mark }) => ({ ref, mark })), edges };
  const layered = layersOf(dag);
  const layers = orderLayers(layered);
  const places = placeSlots(layers, layered.links, ({ key }) => (sizes.get(key)?.width ?? COLUMN) / COLUMN);
  const labels = new Map([...entering].map(([to, list]) => [to, list.filter(({ label }) => label !== '').length]));
  const rows = rowsOf(layers, sizes, labels);
  const layerOf = new Map(layers.flatMap((layer, index) => layer.map(({ key }) => [key, index] as const)));
  const boxes = [...sizes].map(([ref, size]): Box => {
    const y = rows[layerOf.get(ref) ?? 0]?.top ?? 0;
    return { ...size, x: (places.get(ref)?.left ?? 0) * COLUMN, y };
  });
  const middle = (key: string): number => middlePx(places.get(key));
  const routes = routesOf(entering, new Map(boxes.map((box) => [box.step.ref, box])), { rows, layerOf, middle });
  const right = [...places.values()].map(({ left, width }) => (left + width) * COLUMN);
  return { boxes, routes, width: Math.max(0, ...right), height: rows.at(-1)?.bottom ?? 0 };
}
