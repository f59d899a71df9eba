/** The fixture tree: a small project in which every file breaks one house rule, or is there to show what does not. */
import { fileURLToPath } from 'node:url';
import { type SourceFile, readTree } from './source.js';

/** Folder of the fixture tree; its paths look like those of the real one. */
export const FIXTURE_ROOT = fileURLToPath(new URL('../fixtures/house/tree', import.meta.url));

/** All files of the fixture tree. */
export const FIXTURES: readonly SourceFile[] = readTree(FIXTURE_ROOT);

/** One product file with the text; its path is engine/src/store/made.ts unless given. */
export function made(text: string, path = 'engine/src/store/made.ts'): SourceFile[] {
  return [{ path, text }];
}
