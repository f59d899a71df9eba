/** A picture as a mermaid flowchart: bodies as subgraphs, edge kinds as kinds of arrows, states as classes. */
import { ARROWS } from '../dag/edge-kinds.js';
import type { EdgeKind } from '../dag/graph.js';
import { oneLine } from '../output/safe-text.js';
import { boxColours, INK, LINE } from './colours.js';
import { allSteps, type Picture, type PictureGraph, type PictureStep } from './picture.js';

const LINKS: Readonly<Record<EdgeKind, string>> = {
  success: '-->',
  failure: '--x',
  always: '==>',
  timeout: '-.->',
  compensate: '-.-o',
};

/** Brackets of a step's shape; default: a box. */
const SHAPES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['SWITCH', ['{', '}']],
  ['SUB_WORKFLOW', ['[[', ']]']],
  ['COMPLETE', ['([', '])']],
  ['FAIL', ['([', '])']],
  ['CONTINUE_AS_NEW', ['([', '])']],
]);

/** Names in the text are numbers, because a ref such as `end` is a word of mermaid. */
type Ids = ReadonlyMap<string, string>;

/**
 * A text as mermaid takes it within quotes: everything that it, markdown or HTML could read as theirs becomes a
 * character code.
 */
export function mermaidText(text: string): string {
  return oneLine(text).replaceAll(/[!-+:-@[-`{-~]/g, (char) => `#${char.codePointAt(0)};`);
}

function labelOf({ mark, ref, type, title, state }: PictureStep): string {
  const what = title === '' ? type : `${type}: ${title}`;
  const lines = [`${mark.unicode} ${ref}`.trim(), what, ...(state === undefined ? [] : [state.text])];
  return lines.map(mermaidText).join('<br/>');
}

function stepLines(step: PictureStep, ids: Ids, indent: string): string[] {
  const id = ids.get(step.ref) ?? '';
  if (step.body !== undefined) {
    const inner = step.body.steps.flatMap((each) => stepLines(each, ids, `${indent}  `));
    return [`${indent}subgraph ${id}["${labelOf(step)}"]`, ...inner, `${indent}end`];
  }
  const [open, close] = SHAPES.get(step.type) ?? ['[', ']'];
  return [`${indent}${id}${open}"${labelOf(step)}"${close}`];
}

interface Line {
  readonly text: string;
  readonly kind: EdgeKind;
}

function edgeLines({ steps, edges }: PictureGraph, ids: Ids): Line[] {
  const own = edges.map(({ from, to, kind, label }) => {
    const said = label === '' ? '' : `|"${mermaidText(label)}"|`;
    return { text: `  ${ids.get(from) ?? ''} ${LINKS[kind]}${said} ${ids.get(to) ?? ''}`, kind };
  });
  return [...own, ...steps.flatMap(({ body }) => (body === undefined ? [] : edgeLines(body, ids)))];
}

/** Colours of edges that are no plain ones, by their places in the text. */
function linkStyles(lines: readonly Line[]): string[] {
  return (['failure', 'timeout', 'compensate'] as const).flatMap((kind) => {
    const places = lines.flatMap((line, index) => (line.kind === kind ? [index] : []));
    const { stroke } = boxColours(ARROWS[kind].tone);
    return places.length === 0 ? [] : [`  linkStyle ${places.join(',')} stroke:${stroke}`];
  });
}

/** Name of the class of a state: mermaid's own words are lower case as well, so it has a beginning of its own. */
const className = (state: string): string => `state_${state.toLowerCase().replaceAll(/\W/g, '_')}`;

function classLines(steps: readonly PictureStep[], ids: Ids): string[] {
  const byState = new Map<string, PictureStep[]>();
  for (const step of steps) {
    if (step.state !== undefined) byState.set(step.state.name, [...(byState.get(step.state.name) ?? []), step]);
  }
  return [...byState].flatMap(([name, members]) => {
    const { fill, stroke } = boxColours(members[0]?.state?.mark.tone);
    const refs = members.map(({ ref }) => ids.get(ref) ?? '').join(',');
    return [
      `  classDef ${className(name)} fill:${fill},stroke:${stroke},color:${INK}`,
      `  class ${refs} ${className(name)}`,
    ];
  });
}

/** The text of a flowchart, without the fence that Markdown wants around it. */
export function mermaidOf(picture: Picture): string {
  const steps = allSteps(picture);
  const ids = new Map(steps.map(({ ref }, index) => [ref, `s${index}`]));
  const edges = edgeLines(picture, ids);
  const lines = [
    '---',
    `title: ${JSON.stringify(oneLine(picture.title))}`,
    '---',
    'flowchart TD',
    ...picture.steps.flatMap((step) => stepLines(step, ids, '  ')),
    ...edges.map(({ text }) => text),
    ...(edges.length === 0 ? [] : [`  linkStyle default stroke:${LINE}`]),
    ...linkStyles(edges),
    ...classLines(steps, ids),
  ];
  return `${lines.join('\n')}\n`;
}
