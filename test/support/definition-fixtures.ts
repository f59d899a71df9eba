/** The fixtures of test/fixtures/definitions: each `<name>.ts` with its `<name>.json`. Two files add one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DefinitionFixture } from '../fixtures/definitions/fixture.js';
import { ROOT } from './child.js';

const FOLDER = join(ROOT, 'test/fixtures/definitions');

/** A fixture with the JSON beside it. */
export interface NamedFixture extends DefinitionFixture {
  readonly name: string;
  readonly json: unknown;
}

async function load(name: string): Promise<NamedFixture> {
  const { fixture }: { readonly fixture: DefinitionFixture } = await import(
    pathToFileURL(join(FOLDER, `${name}.ts`)).href
  );
  const json: unknown = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
  return { name, json, ...fixture };
}

/** All of them, by name. Throws when one of the two files of a fixture is missing. */
export function definitionFixtures(): Promise<readonly NamedFixture[]> {
  const names = readdirSync(FOLDER)
    .filter((file) => !['fixture.ts', 'from-json.ts'].includes(file))
    .map((file) => file.replace(/\.(ts|json)$/, ''));
  return Promise.all([...new Set(names)].sort().map(load));
}
