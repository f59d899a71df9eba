/** Every export says what it is. */
import { type Finding, type SourceFile, isProduct, lineAt } from '../source.js';
import { type Node, child, children, nameOf, parse } from '../syntax.js';

/** Least share of exports with a doc comment. */
export const DOCUMENTED_SHARE_MIN = 0.9;

/** What the rule found: all exports counted, and those without a comment. */
export interface Documentation {
  /** Number of exported declarations. */
  readonly exports: number;
  /** Those without a doc comment directly above. */
  readonly undocumented: readonly Finding[];
  /** Share of documented exports, 1 when there are none. */
  readonly share: number;
}

/** Whether a doc comment ends directly above the offset. */
function hasDocComment(text: string, offset: number): boolean {
  const before = text.slice(0, offset).trimEnd();
  return before.endsWith('*/') && before.slice(before.lastIndexOf('/*')).startsWith('/**');
}

/** Names an exported declaration introduces. */
export function declaredNames(declaration: Node): string[] {
  if (declaration.type !== 'VariableDeclaration') return [nameOf(child(declaration, 'id')) ?? 'default'];
  return children(declaration, 'declarations').map((each) => nameOf(child(each, 'id')) ?? 'a pattern');
}

/** Export statements of a file that declare something themselves; overloads of one function count once. */
function exportedDeclarations(file: SourceFile): { node: Node; name: string }[] {
  const found = new Map<string, { node: Node; name: string }>();
  for (const node of children(parse(file), 'body')) {
    const declaration = child(node, 'declaration');
    if (!declaration || !/^Export(Named|Default)Declaration$/.test(node.type)) continue;
    const name = declaredNames(declaration).join(', ');
    if (!found.has(name)) found.set(name, { node, name });
  }
  return [...found.values()];
}

/** Counts exports with and without a doc comment in product code. */
export function documentation(files: readonly SourceFile[]): Documentation {
  const undocumented: Finding[] = [];
  let exports = 0;
  for (const file of files.filter(({ path }) => isProduct(path))) {
    for (const { node, name } of exportedDeclarations(file)) {
      exports += 1;
      if (hasDocComment(file.text, node.start)) continue;
      const message = `export ${name} has no doc comment: say what, units, defaults, errors`;
      undocumented.push({ rule: 'undocumented', path: file.path, line: lineAt(file.text, node.start), message });
    }
  }
  return { exports, undocumented, share: exports === 0 ? 1 : 1 - undocumented.length / exports };
}
