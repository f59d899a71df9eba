/** Syntax trees of source files: a thin, typed skin over the parser that vitest brings (TypeScript 7 has no JS API). */
import { parseAst } from 'vitest/node';
import type { SourceFile } from './source.js';

/** A node of the tree, as much of it as the rules look at. */
export interface Node {
  /** Kind in ESTree's or TypeScript-ESTree's words. */
  readonly type: string;
  /** Offset of the first character. */
  readonly start: number;
  /** Offset behind the last character. */
  readonly end: number;
  /** Anything else the kind has. */
  readonly [field: string]: unknown;
}

const cache = new Map<string, Node>();

/** Whether the value is a node. */
export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The file's tree, cached by text. Throws the parser's error when the text is no valid TypeScript. */
export function parse({ path, text }: SourceFile): Node {
  const key = `${path}\0${text}`;
  const known = cache.get(key);
  if (known) return known;
  const tree: unknown = parseAst(text, { lang: path.endsWith('js') ? 'js' : 'ts', sourceType: 'module' }, path);
  if (!isNode(tree)) throw new TypeError(`the parser returned no tree for ${path}`);
  cache.set(key, tree);
  return tree;
}

/** Calls the visitor for every node of the tree, parents first, with the parents from near to far. */
export function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => void, parents: Node[] = []): void {
  visit(node, parents);
  const below = [node, ...parents];
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, below);
  }
}

/** The child node in the field, or undefined. */
export function child(node: Node, field: string): Node | undefined {
  const value = node[field];
  return isNode(value) ? value : undefined;
}

/** The child nodes in the field, empty when it holds none. */
export function children(node: Node, field: string): Node[] {
  const value: unknown = node[field];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Name of an identifier or value of a string literal; undefined for anything else. */
export function nameOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Identifier' && typeof node['name'] === 'string') return node['name'];
  if (node?.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  return undefined;
}
