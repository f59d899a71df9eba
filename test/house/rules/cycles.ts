/** No import cycles, by value or by type. */
import { importsOf } from '../imports.js';
import type { Finding, SourceFile } from '../source.js';

/** Neighbours of every file. */
function graphOf(files: readonly SourceFile[]): Map<string, string[]> {
  const graph = new Map<string, string[]>(files.map(({ path }) => [path, []]));
  for (const { from, target } of importsOf(files)) {
    if (target !== undefined && graph.has(target)) graph.get(from)?.push(target);
  }
  return graph;
}

/** The shortest way from a file back to itself, or undefined. Breadth first. */
function wayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const queue: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = queue.shift(); way !== undefined; way = queue.shift()) {
    for (const next of graph.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, start];
      if (seen.has(next)) continue;
      seen.add(next);
      queue.push([...way, next]);
    }
  }
  return undefined;
}

/** One finding for every file that can reach itself through imports. */
export function importCycles(files: readonly SourceFile[]): Finding[] {
  const graph = graphOf(files);
  return [...graph.keys()].flatMap((path) => {
    const way = wayBack(graph, path);
    return way ? [{ rule: 'import-cycle', path, line: 0, message: way.join(' -> ') }] : [];
  });
}
