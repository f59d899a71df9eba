import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WorkflowDefinition } from '../../gen/ductor/v1/workflow.js';
import { messageFromJson } from '../output/message-json.js';
import { stepTypeName } from '../view/marks.js';
import { mermaidOf, mermaidText } from './mermaid.js';
import { definitionPicture, runPicture } from './picture.js';
import { everything, fixtureDefinitions, nastyDefinition, nastyRun } from './testing/pictures.js';

const fixtures = [...(await fixtureDefinitions()), ['nasty', nastyDefinition()] as const];

/** Every line a flowchart of ours may consist of; what escapes its quotes fits none of them. */
const LABEL = '"[^"\\n\\[\\]{}()|`]*"';
const LINES = [
  /^flowchart TD$/,
  new RegExp(`^ +s\\d+(\\[|\\{|\\[\\[|\\(\\[)${LABEL}(\\]|\\}|\\]\\]|\\]\\))$`),
  new RegExp(`^ +subgraph s\\d+\\[${LABEL}\\]$`),
  /^ +end$/,
  new RegExp(`^ {2}s\\d+ (-->|--x|==>|-\\.->|-\\.-o)(\\|${LABEL}\\|)? s\\d+$`),
  /^ {2}linkStyle (default|[\d,]+) stroke:#[\da-f]{6}$/,
  /^ {2}classDef state_\w+ fill:#[\da-f]{6},stroke:#[\da-f]{6},color:#[\da-f]{6}$/,
  /^ {2}class s[\d,s]+ state_\w+$/,
];

const isEdge = (line: string): boolean => LINES[4]?.test(line) === true;
const linesOf = (text: string): string[] => text.trimEnd().split('\n');

describe('mermaidOf', () => {
  it.each(fixtures)('draws every step and edge of %s once, in lines that mermaid reads', (_name, definition) => {
    const all = everything(definition);
    const text = mermaidOf(definitionPicture(definition, 'draft'));
    const [open, title, close, ...lines] = linesOf(text);
    expect([open, close]).toEqual(['---', '---']);
    expect(JSON.parse(title?.replace('title: ', '') ?? '')).toContain(definition.familySlug);
    for (const line of lines) expect([line, LINES.some((known) => known.test(line))]).toEqual([line, true]);
    expect(lines.filter(isEdge)).toHaveLength(all.edges.length);
    for (const { ref, type } of all.steps) {
      const said = `${mermaidText(ref)}<br/>${mermaidText(stepTypeName(type))}`;
      const own = lines.filter((line) => new RegExp(`"\\S ${said}["#]`).test(line));
      expect([ref, own.length]).toEqual([ref, 1]);
    }
    const opened = lines.filter((line) => line.includes('subgraph')).length;
    expect(opened).toBe(all.steps.filter(({ body }) => body !== undefined).length);
    expect(lines.filter((line) => line.trim() === 'end')).toHaveLength(opened);
  });

  it('knows every step type', async () => {
    for (const [, definition] of await fixtureDefinitions()) {
      expect(mermaidOf(definitionPicture(definition, 'draft'))).not.toContain('"? ');
    }
  });

  it('tells edges apart, and the states of a run as classes', () => {
    const lines = linesOf(mermaidOf(runPicture(nastyRun(), nastyDefinition())));
    expect(lines).toContain('title: "nasty version 3, run r1: RUNNING"');
    expect(lines.filter(isEdge)).toEqual([
      '  s0 -->|"case big"| s1',
      '  s0 -->|"case small #34;#93;"| s1',
      '  s1 ==>|"◆ always if input.a #60; 1.0 #38;#38; #34;#124;#34; #33;#61; #34;#34;"| s5',
      '  s1 -.-o|"↶ compensate"| s4',
      '  s0 -.->|"◷ timeout"| s6',
      '  s5 --x|"✗ failure"| s6',
      '  s2 --x|"✗ failure"| s3',
    ]);
    expect(lines).toContain('  subgraph s1["● each<br/>SCATTER<br/>RUNNING, 2 of 9 done, 1 failed"]');
    expect(lines.join('\n')).toMatch(/✗ call<br\/>CALLBACK#58; .*<br\/>1 RUNNING, 1 FAILED"/);
    expect(lines).toContain('  class s2 state_failed');
    expect(lines).toContain('  class s0 state_completed');
    expect(lines).toContain('    s3["fix<br/>CALLBACK"]');
  });
});

describe('docs/workflows.md', () => {
  it('shows the picture of its polling loop', async () => {
    const docs = readFileSync(new URL('../../../../docs/workflows.md', import.meta.url), 'utf8');
    const blocks = [...docs.matchAll(/^```json definition\n([^]*?)^```$/gm)].map(([, json = '']) => json);
    const loop = blocks.find((json) => json.includes('"family_slug": "render"')) ?? '';
    const definition = await messageFromJson('WorkflowDefinition', WorkflowDefinition, loop, 'docs');
    const picture = mermaidOf(definitionPicture(definition, 'version 1, the current one'));
    expect(docs).toContain(`\`\`\`mermaid\n${picture}\`\`\`\n`);
  });
});

describe('mermaidText', () => {
  it('leaves nothing that mermaid, markdown or HTML could read as theirs', () => {
    expect(mermaidText('a "b" [c] <d>\n#e; `f` *g* _h_')).toBe(
      'a #34;b#34; #91;c#93; #60;d#62; #35;e#59; #96;f#96; #42;g#42; #95;h#95;',
    );
    expect(mermaidText('süß 支払い ✓ 1.5, a-b/c')).toBe('süß 支払い ✓ 1.5, a-b/c');
  });
});
