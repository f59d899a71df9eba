/** The files the house rules look at, as plain text: rules are pure functions over them, so fixtures can drive them. */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** One file: its path from the project's root with forward slashes, and its text. */
export interface SourceFile {
  /** Path from the root, for example engine/src/kernel/ids.ts. */
  readonly path: string;
  /** The whole text. */
  readonly text: string;
}

/** Something a rule objects to. */
export interface Finding {
  /** Name of the rule. */
  readonly rule: string;
  /** File it is in. */
  readonly path: string;
  /** Line, from 1; 0 when the whole file is meant. */
  readonly line: number;
  /** What is wrong and what to do about it. */
  readonly message: string;
}

const IGNORED_FOLDERS = new Set(['node_modules', 'dist', '.git', 'coverage', '.ductor', 'tmp', 'results']);

/** Whether the path is code written by hand: TypeScript or a script, not generated, not a fixture of these rules. */
export function isCode(path: string): boolean {
  if (path.includes('/gen/') || path.startsWith('test/fixtures/')) return false;
  return /\.(ts|mts|mjs|js)$/.test(path) && !path.endsWith('.d.ts');
}

/** Whether the path is test code, which follows looser rules. */
export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/') || path.includes('/testing/');
}

/** Whether the path is source that ships or is shown: a workspace's src, without its tests and generated code. */
export function isProduct(path: string): boolean {
  return /^(engine|sdk|bridge-example)\/src\//.test(path) && isCode(path) && !isTest(path);
}

/** Line of an offset in the text, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** Number of lines of a text; a line break at the end begins no further line. */
export function lineCount(text: string): number {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}

/** Every text file under the root that is not built, installed or ignored. Reads the disk. */
export function readTree(root: string): SourceFile[] {
  const files: SourceFile[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const full = join(folder, entry.name);
      if (entry.isDirectory() && !IGNORED_FOLDERS.has(entry.name)) visit(full);
      if (entry.isFile() && !/\.(tgz|log|png|binpb|tsbuildinfo)$/.test(entry.name)) {
        files.push({ path: relative(root, full).split(sep).join('/'), text: readFileSync(full, 'utf8') });
      }
    }
  };
  visit(root);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}
