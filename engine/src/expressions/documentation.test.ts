/** docs/expressions.md: every example on it yields what it says, and it names every function there is. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeSignature } from './checking/check-call.js';
import { ALL_FUNCTIONS } from './functions/catalogue.js';
import { createCelCompiler, toJsonValue, type CelSchema } from './index.js';
import { LIMITS } from './limits.js';

const PAGE = readFileSync(new URL('../../../docs/expressions.md', import.meta.url), 'utf8');

function blocksOf(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map((match) => match[1] ?? '');
}

const scope: Readonly<Record<string, unknown>> = JSON.parse(blocksOf('json')[0] ?? '{}');
const examples = blocksOf('cel')
  .flatMap((block) => block.trim().split('\n'))
  .map((line): [string, string] => {
    const [, text = '', result = ''] = /^(.*?)\s+\/\/ (.+)$/.exec(line) ?? [];
    return [text, result];
  });

describe('docs/expressions.md', () => {
  const schema: CelSchema = { id: 'docs', variables: { input: 'dyn', steps: 'dyn', vars: 'dyn' } };
  const compiler = createCelCompiler();

  it('has examples', () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(Object.keys(scope)).toEqual(['input', 'steps', 'vars']);
  });

  it.each(examples)('%s yields %s', (text, result) => {
    expect(toJsonValue(compiler.compile(text, schema).evaluate(scope))).toEqual(JSON.parse(result));
  });

  it('names every function, with its forms, and no other', () => {
    const rows = [...PAGE.matchAll(/^\| `(?:x\.)?([\w.]+)`\s*\| (`.*`)\s*\|$/gm)];
    const documented = rows.flatMap((row) => [...(row[2] ?? '').matchAll(/`([^`]+)`/g)].map((form) => form[1]));
    const defined = ALL_FUNCTIONS.flatMap((one) =>
      one.signatures.map((signature) => describeSignature(one, signature)),
    );
    expect(documented).toEqual(defined);
  });

  it('names the limits', () => {
    const number = (value: number): string => value.toLocaleString('en-US');
    expect(PAGE).toMatch(new RegExp(`\\| text +\\| ${LIMITS.textBytes / 1024} KiB`));
    expect(PAGE).toMatch(new RegExp(`\\| parts \\(nodes\\) +\\| ${number(LIMITS.nodes)} `));
    expect(PAGE).toMatch(new RegExp(`\\| nesting +\\| ${LIMITS.depth} `));
    expect(PAGE).toMatch(new RegExp(`\\| a regular expression +\\| ${LIMITS.patternCharacters} characters`));
    expect(PAGE).toMatch(new RegExp(`\\| steps of one evaluation +\\| ${number(LIMITS.cost)} `));
    expect(PAGE).toMatch(new RegExp(`\\| arguments of one call +\\| ${LIMITS.arguments} `));
  });
});
