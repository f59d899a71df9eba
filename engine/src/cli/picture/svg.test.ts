import { describe, expect, it } from 'vitest';
import { stepTypeName } from '../view/marks.js';
import { definitionPicture, type PictureGraph, runPicture } from './picture.js';
import { svgOf, xmlText } from './svg.js';
import { type Layout, layOut } from './svg-layout.js';
import { everything, fixtureDefinitions, nastyDefinition, nastyRun } from './testing/pictures.js';

const fixtures = [...(await fixtureDefinitions()), ['nasty', nastyDefinition()] as const];

const TAG = /<(\/?)([a-z]+)((?: |\n)+[A-Za-z-]+="[^"<>&]*")*(\/?)>/y;
const TEXT = /(?:[^<>&]|&(?:amp|lt|gt|quot|#39);)+/y;

/** Names of all elements. Throws where the text is no XML of tags, attributes, text and the five entities. */
function elementsOf(xml: string): string[] {
  const open: string[] = [];
  const found: string[] = [];
  for (let at = 0; at < xml.length;) {
    TAG.lastIndex = at;
    TEXT.lastIndex = at;
    const tag = TAG.exec(xml);
    const end = tag === null ? (TEXT.exec(xml) === null ? 0 : TEXT.lastIndex) : TAG.lastIndex;
    if (end === 0) throw new SyntaxError(`no XML: ${xml.slice(at, at + 60)}`);
    at = end;
    if (tag === null) continue;
    const [, isEnd, name = '', , isEmpty] = tag;
    if (isEnd === '/') expect(open.pop()).toBe(name);
    else found.push(name);
    if (isEnd === '' && isEmpty === '') open.push(name);
  }
  expect(open).toEqual([]);
  return found;
}

const count = (text: string, part: string): number => text.split(part).length - 1;

/** Boxes lie apart and within their graph; lines go down, and into the box that they name. */
function checkLayout(layout: Layout): void {
  for (const [index, a] of layout.boxes.entries()) {
    expect(a.x).toBeGreaterThanOrEqual(0);
    expect(a.x + a.width).toBeLessThanOrEqual(layout.width);
    expect(a.y + a.height).toBeLessThanOrEqual(layout.height);
    for (const b of layout.boxes.slice(index + 1)) {
      const isApart = a.x + a.width < b.x || b.x + b.width < a.x || a.y + a.height < b.y || b.y + b.height < a.y;
      expect([a.step.ref, b.step.ref, isApart]).toEqual([a.step.ref, b.step.ref, true]);
    }
    if (a.body === undefined) continue;
    expect(a.body.width).toBeLessThan(a.width);
    checkLayout(a.body);
  }
  for (const { edge, points } of layout.routes) {
    const target = layout.boxes.find(({ step }) => step.ref === edge.to);
    const [x, y] = points.at(-1) ?? [0, 0];
    expect(y).toBe(target?.y);
    expect(x).toBeGreaterThan(target?.x ?? 0);
    expect(x).toBeLessThan((target?.x ?? 0) + (target?.width ?? 0));
    for (const [index, [, down]] of points.entries()) expect(down).toBeGreaterThanOrEqual(points[index - 1]?.[1] ?? 0);
  }
}

describe('svgOf', () => {
  it.each(fixtures)('draws every step and edge of %s once, in well-formed XML', (_name, definition) => {
    const picture = definitionPicture(definition, 'draft');
    const all = everything(definition);
    const svg = svgOf(picture);
    const elements = elementsOf(svg);
    expect(new Set(elements)).toEqual(
      new Set(['svg', 'title', 'desc', 'rect', 'text', 'g', ...(all.edges.length > 0 ? ['path'] : [])]),
    );
    expect(count(svg, '<g class="step')).toBe(all.steps.length);
    expect(count(svg, '<g class="step body"')).toBe(all.steps.filter(({ body }) => body !== undefined).length);
    expect(count(svg, '<g class="edge">')).toBe(all.edges.length);
    for (const { ref, type } of all.steps) {
      const title = new RegExp(`<title>\\S ${ref}, ${stepTypeName(type)}[<:]`, 'g');
      expect([ref, svg.match(title)?.length]).toEqual([ref, 1]);
    }
    for (const { sourceRef, targetRef } of all.edges) expect(svg).toContain(`<title>${sourceRef} to ${targetRef}, `);
    expect(svg.match(/https?:[^"]*/g)).toEqual(['http://www.w3.org/2000/svg']);
    checkLayout(layOut(picture));
  });

  it('tells states by sign, word and colour', () => {
    const svg = svgOf(runPicture(nastyRun(), nastyDefinition()));
    expect(svg).toContain('<title>✓ end, SWITCH');
    expect(svg).toMatch(/<title>✗ call, .*, 1 RUNNING, 1 FAILED<\/title>\n<rect [^>]*fill="#fde4e2"/);
    expect(svg).toContain('RUNNING, 2 of 9 done, 1 failed</text>');
    expect(svg).toContain('<title>fix, CALLBACK</title>');
    expect(svg).toContain('<desc>7 steps: end (SWITCH, COMPLETED); each (SCATTER, RUNNING');
    expect(svg).toContain('&lt;script&gt;');
  });

  it('leaves edges of a draft out that lead in a circle, and draws all steps', () => {
    const step = definitionPicture(nastyDefinition(), 'draft').steps.slice(2, 4);
    const [a, b] = step.map(({ ref }) => ref);
    const edges = [
      { from: a ?? '', to: b ?? '', kind: 'success', label: '' },
      { from: b ?? '', to: a ?? '', kind: 'success', label: '' },
    ] as const satisfies PictureGraph['edges'];
    const svg = svgOf({ title: 'circle', steps: step, edges });
    elementsOf(svg);
    expect([count(svg, '<g class="step'), count(svg, '<g class="edge"')]).toEqual([2, 1]);
  });
});

describe('xmlText', () => {
  it('escapes marks, and replaces what XML cannot hold', () => {
    expect(xmlText(`<a b="c" d='e'> & \u0000\ud800\uffff\n`)).toBe(
      '&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt; &amp; \ufffd\ufffd\ufffd ',
    );
  });
});
