import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { CANDIDATE_SCHEMA } from '../cel-schemas.js';
import { poolCheck } from '../objects/pool.js';
import { RECIPES, STRATEGY_NAMES } from './names.js';
import { paramSchemas } from './params.js';

const page = readFileSync(new URL('../../../../docs/strategies.md', import.meta.url), 'utf8');
const compiler = createCelCompiler();

/** The row of a table that begins with a name. */
function rowOf(name: string): string {
  return page.split('\n').find((line) => line.startsWith(`| \`${name}\` `)) ?? '';
}

describe('the page about strategies', () => {
  it.each([...STRATEGY_NAMES])('has a row for %s that names each of its parameters', (name) => {
    const row = rowOf(name);
    expect(row).not.toBe('');
    for (const param of Object.keys(paramSchemas(compiler)[name].shape)) expect(row).toContain(`\`${param}\``);
  });

  it.each([...RECIPES])('has a row for the recipe %s', (name) => {
    expect(rowOf(name)).not.toBe('');
  });

  it('shows pools that are accepted as they stand', () => {
    const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text ?? ''));
    expect(examples.length).toBe(4);
    for (const example of examples) expect(() => poolCheck(compiler).create(example)).not.toThrow();
  });

  it('names every field that expressions read', () => {
    for (const [name, type] of Object.entries(CANDIDATE_SCHEMA.variables)) {
      expect(page).toContain(`\`${name}\``);
      const fields = typeof type === 'object' && 'object' in type ? Object.keys(type.object) : [];
      for (const field of fields) expect(page).toContain(`\`${field}\``);
    }
  });
});
