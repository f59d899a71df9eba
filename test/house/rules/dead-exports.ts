/** Exports nobody imports: dead, or not meant to be exported. */
import { type Import, importsOf } from '../imports.js';
import { type Finding, type SourceFile, isProduct, lineAt } from '../source.js';
import { child, children, parse } from '../syntax.js';
import { declaredNames } from './docs.js';

/** An export declared in a file. */
interface DeclaredExport {
  readonly name: string;
  readonly start: number;
  /** Whether it is an interface or a type alias. */
  readonly isType: boolean;
}

/** Exports declared in the file itself. */
function declaredExports(file: SourceFile): DeclaredExport[] {
  return children(parse(file), 'body').flatMap((node) => {
    const declaration = node.type === 'ExportNamedDeclaration' ? child(node, 'declaration') : undefined;
    if (!declaration) return [];
    const isType = /^TS(Interface|TypeAlias)/.test(declaration.type);
    return declaredNames(declaration).map((name) => ({ name, start: node.start, isType }));
  });
}

/** Whether a type is named a second time in its own file: then it is part of what the file's exports say. */
function isNamedAgain({ text }: SourceFile, name: string): boolean {
  return (text.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length > 1;
}

/** Names taken from each file by others. */
function takenByFile(imports: readonly Import[]): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>();
  for (const { from, target, names } of imports) {
    if (target === undefined || target === from) continue;
    const all = taken.get(target) ?? new Set<string>();
    for (const name of names) all.add(name);
    taken.set(target, all);
  }
  return taken;
}

/**
 * Exports of product code that no other file takes. A room's index.ts counts as a taker: what it shows is the room's
 * contract, also before somebody uses it; so does the file itself for types. Files named index.ts and the given
 * entries are not looked at.
 */
export function deadExports(files: readonly SourceFile[], entries: readonly string[] = []): Finding[] {
  const taken = takenByFile(importsOf(files));
  const findings: Finding[] = [];
  for (const file of files.filter(({ path }) => isProduct(path) && !path.endsWith('/index.ts'))) {
    if (entries.includes(file.path)) continue;
    const names = taken.get(file.path) ?? new Set<string>();
    for (const { name, start, isType } of declaredExports(file)) {
      if (names.has(name) || names.has('*') || (isType && isNamedAgain(file, name))) continue;
      const message = `export ${name} is imported nowhere: use it, or do not export it`;
      findings.push({ rule: 'dead-export', path: file.path, line: lineAt(file.text, start), message });
    }
  }
  return findings;
}
