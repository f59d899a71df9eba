/** A picture as one SVG file: no script, no style sheet, nothing from elsewhere, no ids that could meet others. */
import { ARROWS } from '../dag/edge-kinds.js';
import type { EdgeKind } from '../dag/graph.js';
import { oneLine } from '../output/safe-text.js';
import { boxColours, INK, LINE } from './colours.js';
import { allSteps, type Picture } from './picture.js';
import { type Box, COLUMN, type Layout, layOut, LINE_HEIGHT, PADDING, type Route } from './svg-layout.js';

const MARGIN = 24;
const FONT_PX = 13;
/** From the foot of a line of text to its letters' foot. */
const DESCENT = 5;

/** Dashes of lines, in px; none: a whole line. Kinds are told apart without colours. */
const DASHES: Readonly<Record<EdgeKind, string>> = {
  success: '',
  failure: '7 4',
  always: '',
  timeout: '2 4',
  compensate: '9 4 2 4',
};
const LINE_WIDTH: Readonly<Record<EdgeKind, number>> = {
  success: 1.5,
  failure: 1.5,
  always: 3,
  timeout: 2,
  compensate: 1.5,
};

const XML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A text for an element or an attribute: marks escaped, what XML cannot hold as U+FFFD. */
export function xmlText(text: string): string {
  const held = oneLine(text).replaceAll(/\p{Cs}|[\ufffe\uffff]/gu, '\ufffd');
  return held.replaceAll(/[&<>"']/g, (char) => XML[char] ?? char);
}

function textAt(x: number, y: number, text: string, attributes = ''): string {
  return `<text x="${x}" y="${y}"${attributes}>${xmlText(text)}</text>`;
}

function strokeOf(kind: EdgeKind): string {
  const { tone } = ARROWS[kind];
  return tone === 'quiet' ? LINE : boxColours(tone).stroke;
}

/** Straight down between the points of a pair, in a bend from pair to pair. */
function pathOf(points: Route['points']): string {
  return points
    .map(([x, y], index) => {
      const before = points[index - 1];
      if (before === undefined) return `M${x} ${y}`;
      if (index % 2 === 1) return `L${x} ${y}`;
      const half = (before[1] + y) / 2;
      return `C${before[0]} ${half} ${x} ${half} ${x} ${y}`;
    })
    .join(' ');
}

function edgeParts({ edge, points }: Route): string[] {
  const { from, to, kind, label } = edge;
  const [x, y] = points.at(-1) ?? [0, 0];
  const stroke = strokeOf(kind);
  const dash = DASHES[kind] === '' ? '' : ` stroke-dasharray="${DASHES[kind]}"`;
  const line = `<path d="${pathOf(points)}" fill="none" stroke="${stroke}" stroke-width="${LINE_WIDTH[kind]}"${dash}/>`;
  const head = `<path d="M${x} ${y} l-5 -9 h10 z" fill="${stroke}"/>`;
  const title = `${from} to ${to}, ${label === '' ? kind : label}`;
  return ['<g class="edge">', `<title>${xmlText(title)}</title>`, line, head, '</g>'];
}

/** What a line says, at its end; on white, so that no line runs through it. */
function labelParts({ edge: { kind, label }, points, rank }: Route): string[] {
  if (label === '') return [];
  const [x, y] = points.at(-1) ?? [0, 0];
  const halo = ` fill="${strokeOf(kind)}" text-anchor="middle" stroke="#ffffff" stroke-width="4" paint-order="stroke"`;
  return [textAt(x, y - COLUMN - DESCENT - rank * LINE_HEIGHT, label, halo)];
}

function boxParts({ step, lines, x, y, width, height, body }: Box): string[] {
  const { fill, stroke } = boxColours(step.state?.mark.tone);
  const shade = body === undefined ? '' : ' fill-opacity="0.45" stroke-dasharray="6 3"';
  const at = (index: number): number => PADDING + (index + 1) * LINE_HEIGHT - DESCENT;
  const texts = lines.map((line, index) => {
    const bold = index === 0 ? ' font-weight="bold"' : '';
    const ink = index === 2 ? ` fill="${stroke}"` : ` fill="${INK}"`;
    return textAt(PADDING, at(index), line, `${bold}${ink}`);
  });
  const below = PADDING + lines.length * LINE_HEIGHT + PADDING;
  const left = body === undefined ? 0 : (width - body.width) / 2;
  return [
    `<g class="${body === undefined ? 'step' : 'step body'}" transform="translate(${x} ${y})">`,
    `<title>${xmlText(lines.join(', '))}</title>`,
    `<rect width="${width}" height="${height}" rx="6" fill="${fill}" stroke="${stroke}" stroke-width="1.5"${shade}/>`,
    ...texts,
    ...(body === undefined ? [] : [`<g transform="translate(${left} ${below})">`, ...layoutParts(body), '</g>']),
    '</g>',
  ];
}

function layoutParts({ boxes, routes }: Layout): string[] {
  return [...boxes.flatMap(boxParts), ...routes.flatMap(edgeParts), ...routes.flatMap(labelParts)];
}

/** What the picture shows, in words: for those who do not see it. */
function description(picture: Picture): string {
  const steps = allSteps(picture);
  const said = steps.map(({ ref, type, state }) => `${ref} (${type}${state === undefined ? '' : `, ${state.text}`})`);
  return `${steps.length === 1 ? '1 step' : `${steps.length} steps`}: ${said.join('; ')}.`;
}

/** The whole file. */
export function svgOf(picture: Picture): string {
  const layout = layOut(picture);
  const titleWidth = Array.from(picture.title).length * COLUMN;
  const width = Math.max(layout.width, titleWidth) + 2 * MARGIN;
  const top = MARGIN + 2 * LINE_HEIGHT;
  const height = top + layout.height + MARGIN;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}"`,
    `  viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="${FONT_PX}">`,
    `<title>${xmlText(picture.title)}</title>`,
    `<desc>${xmlText(description(picture))}</desc>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    textAt(MARGIN, MARGIN + LINE_HEIGHT - DESCENT, picture.title, ` fill="${INK}" font-weight="bold"`),
    `<g transform="translate(${MARGIN} ${top})">`,
    ...layoutParts(layout),
    '</g>',
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}
