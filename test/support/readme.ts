/** What README.md tells a newcomer to write and to type. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './child.js';

/** A block of code. */
interface Block {
  readonly language: string;
  /** Name of the file it is; empty for what is typed. */
  readonly name: string;
  readonly code: string;
}

/** The blocks of a chapter, in their order. Throws when there is no such chapter. */
function blocksOf(chapter: string): readonly Block[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8').split(`## ${chapter}\n`)[1]?.split('\n## ')[0];
  if (text === undefined) throw new Error(`README.md has no chapter "${chapter}"`);
  return [...text.matchAll(/^```(\w+) ?(\S*)\n([\s\S]*?)^```$/gm)].map(([, language = '', name = '', code = '']) => ({
    language,
    name,
    code,
  }));
}

/** Files that the chapter tells to write, by name. */
export function readmeFiles(chapter: string): ReadonlyMap<string, string> {
  return new Map(
    blocksOf(chapter)
      .filter(({ name }) => name !== '')
      .map(({ name, code }) => [name, code]),
  );
}

/** Lines that the chapter tells to type, in their order. */
export function readmeLines(chapter: string): readonly string[] {
  return blocksOf(chapter)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.split('\n').filter((line) => line !== ''));
}

/** Words of a line as a shell splits it; single quotes only. */
export function shellWords(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
