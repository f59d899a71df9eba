/** The import graph: who imports which names of whom, by value or by type, statically or dynamically. */
import { posix } from 'node:path';
import { type SourceFile, isCode, lineAt } from './source.js';
import { type Node, child, children, nameOf, parse, walk } from './syntax.js';

/** One import or re-export. */
export interface Import {
  /** File that imports. */
  readonly from: string;
  /** Line of the import, from 1. */
  readonly line: number;
  /** The text between the quotes. */
  readonly specifier: string;
  /** Path of the imported file when it is one of ours, else undefined. */
  readonly target: string | undefined;
  /** Names taken from the target; '*' stands for all of them. */
  readonly names: readonly string[];
}

/** Packages of the workspaces and the file each one shows. */
const WORKSPACE_ENTRIES: Record<string, string> = {
  '@ductor/engine': 'engine/src/index.ts',
  '@ductor/sdk': 'sdk/src/index.ts',
};

/** Path of the file a specifier leads to, or undefined when it leads out of the project. */
export function resolveSpecifier(from: string, specifier: string): string | undefined {
  const entry = WORKSPACE_ENTRIES[specifier];
  if (entry !== undefined) return entry;
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(from), specifier);
  return from.endsWith('.ts') ? path.replace(/\.js$/, '.ts').replace(/\.mjs$/, '.mjs') : path;
}

/** Names an import or export statement takes from its source. */
function takenNames(node: Node): string[] {
  if (node.type === 'ExportAllDeclaration') return ['*'];
  return children(node, 'specifiers').map((each) => {
    if (each.type === 'ImportNamespaceSpecifier') return '*';
    if (each.type === 'ImportDefaultSpecifier') return 'default';
    return nameOf(child(each, each.type === 'ExportSpecifier' ? 'local' : 'imported')) ?? '*';
  });
}

/** The specifier of a node that imports something, or undefined. */
function specifierOf(node: Node): string | undefined {
  if (
    /^(ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration|ImportExpression|TSImportType)$/.test(node.type)
  ) {
    return nameOf(child(node, 'source') ?? child(node, 'argument'));
  }
  return undefined;
}

/** Every import of the files that are code, in order. */
export function importsOf(files: readonly SourceFile[]): Import[] {
  const imports: Import[] = [];
  for (const file of files.filter(({ path }) => isCode(path))) {
    walk(parse(file), (node) => {
      const specifier = specifierOf(node);
      if (specifier === undefined) return;
      const isStatement = node.type.endsWith('Declaration');
      imports.push({
        from: file.path,
        line: lineAt(file.text, node.start),
        specifier,
        target: resolveSpecifier(file.path, specifier),
        names: isStatement ? takenNames(node) : ['*'],
      });
    });
  }
  return imports;
}
