/** A graph as text: layers from top to bottom, lines between them. */
import { painter } from '../output/paint.js';
import { characters, oneLine, shorten } from '../output/safe-text.js';
import type { Terminal } from '../output/terminal.js';
import { Canvas } from './canvas.js';
import { collapse } from './collapse.js';
import { ARROWS, MEANINGS } from './edge-kinds.js';
import type { Dag, DagNode } from './graph.js';
import { layersOf, type Slot } from './layers.js';
import { orderLayers } from './order.js';
import { middleOf, type Place, placeSlots } from './place.js';
import { route, type Bundle } from './route.js';
import { summary } from './summary.js';

/** Longest names, in characters; a drawing that is too wide is tried again with the next one. */
const NAME_CHARS = [28, 16, 10];
const MAX_NODES = 60;

/** Name of a node with its mark. */
function label({ mark, ref }: DagNode, isUnicode: boolean, maxChars: number): string {
  const name = shorten(oneLine(ref), maxChars, isUnicode ? '…' : '..');
  return `${isUnicode ? mark.unicode : mark.ascii} ${name}`;
}

function drawBundle(canvas: Canvas, { sources, entries, track }: Bundle, top: number, tracks: number): void {
  const bottom = top + tracks;
  if (track === null) {
    for (const { column } of entries)
      for (let row = top; row < bottom; row += 1) canvas.join(row, column, { up: true, down: true });
    return;
  }
  const columns = [...sources, ...entries.map(({ column }) => column)];
  const [from, to] = [Math.min(...columns), Math.max(...columns)];
  const row = top + track;
  for (let column = from; column <= to; column += 1) {
    canvas.join(row, column, { left: column > from, right: column < to });
  }
  for (const column of sources) canvas.join(row, column, { up: true });
  for (const { column } of entries) canvas.join(row, column, { down: true });
}

/** The upright parts of bundles: what crosses there passes behind them. */
function drawStems(canvas: Canvas, { sources, entries, track }: Bundle, top: number, tracks: number): void {
  if (track === null) {
    for (const { column } of entries) for (let row = top; row < top + tracks; row += 1) canvas.pass(row, column);
    return;
  }
  for (const column of sources) for (let row = top; row < top + track; row += 1) canvas.pass(row, column);
  for (const { column } of entries)
    for (let row = top + track + 1; row < top + tracks; row += 1) canvas.pass(row, column);
}

/** Draws a gap from row `top` on; returns the row behind it. */
function drawGap(canvas: Canvas, bundles: readonly Bundle[], tracks: number, top: number, isUnicode: boolean): number {
  for (const bundle of bundles) drawBundle(canvas, bundle, top, tracks);
  for (const bundle of bundles) drawStems(canvas, bundle, top, tracks);
  const arrows = top + tracks;
  for (const { entries } of bundles) {
    for (const { column, kind } of entries) {
      if (kind === undefined) canvas.join(arrows, column, { up: true, down: true });
      else canvas.write(arrows, column, isUnicode ? ARROWS[kind].unicode : ARROWS[kind].ascii, ARROWS[kind].tone);
    }
  }
  return arrows + 1;
}

function drawLayer(
  canvas: Canvas,
  layer: readonly Slot[],
  row: number,
  places: ReadonlyMap<string, Place>,
  text: (node: DagNode) => string,
): void {
  for (const { key, node } of layer) {
    const place = places.get(key);
    if (place === undefined) continue;
    if (node === undefined) canvas.join(row, middleOf(place), { up: true, down: true });
    else canvas.write(row, place.left, text(node), node.mark.tone);
  }
}

/** A canvas with the graph, and how wide it is. */
function layOut(dag: Dag, isUnicode: boolean, nameChars: number): { readonly canvas: Canvas; readonly width: number } {
  const layered = layersOf(dag);
  const layers = orderLayers(layered);
  const text = (node: DagNode): string => label(node, isUnicode, nameChars);
  const places = placeSlots(layers, layered.links, ({ node }) => (node ? characters(text(node)).length : 1));
  const canvas = new Canvas();
  let row = 0;
  for (const [index, layer] of layers.entries()) {
    drawLayer(canvas, layer, row, places, text);
    row += 1;
    const links = layered.links[index];
    if (links === undefined) continue;
    const { bundles, tracks } = route(links, places);
    row = drawGap(canvas, bundles, tracks, row, isUnicode);
  }
  const width = Math.max(0, ...[...places.values()].map(({ left, width: wide }) => left + wide));
  return { canvas, width };
}

function legend({ edges }: Dag, isUnicode: boolean): string {
  const used = MEANINGS.filter(([kind]) => edges.some((edge) => edge.kind === kind));
  const said = used.map(([kind, meaning]) => `${isUnicode ? ARROWS[kind].unicode : ARROWS[kind].ascii} ${meaning}`);
  return said.length === 0 ? '' : `(${said.join('   ')})`;
}

/**
 * The lines of a drawing. Steps with the same neighbours are drawn as one where there is no room for all; what is
 * still too large is told layer by layer.
 */
export function drawDag(dag: Dag, terminal: Pick<Terminal, 'columns' | 'hasColour' | 'isUnicode'>): string[] {
  const { isUnicode } = terminal;
  const paint = painter(terminal);
  for (const candidate of [dag, collapse(dag)]) {
    if (candidate.nodes.length > MAX_NODES) continue;
    for (const nameChars of NAME_CHARS) {
      const { canvas, width } = layOut(candidate, isUnicode, nameChars);
      if (width > terminal.columns()) continue;
      const key = legend(candidate, isUnicode);
      return [...canvas.lines(isUnicode, paint), ...(key === '' ? [] : ['', paint('quiet', key)])];
    }
  }
  return summary(dag, isUnicode, paint);
}
