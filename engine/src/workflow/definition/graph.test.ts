import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildGraph, type GraphEdge } from './graph.js';

const edge = (source: string, target: string): GraphEdge => ({ source, target });

/** Whether there is a path, by plain search. */
function hasPath(edges: readonly GraphEdge[], from: string, to: string): boolean {
  const open = [from];
  const seen = new Set<string>();
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { source, target } of edges) {
      if (source !== at || source === target || seen.has(target)) continue;
      seen.add(target);
      open.push(target);
    }
  }
  return seen.has(to);
}

const anyGraph = fc.integer({ min: 1, max: 40 }).chain((size) => {
  const refs = Array.from({ length: size }, (_, index) => `s${index}`);
  const ref = fc.constantFrom(...refs);
  return fc.record({
    refs: fc.constant(refs),
    edges: fc.array(fc.record({ source: ref, target: ref }), { maxLength: 60 }),
  });
});

describe('buildGraph', () => {
  it('keeps the order of declaration where the edges allow it', () => {
    expect(buildGraph(['a', 'b', 'c'], [edge('a', 'c')]).order).toEqual(['a', 'b', 'c']);
    expect(buildGraph(['c', 'a', 'b'], [edge('a', 'c')]).order).toEqual(['a', 'b', 'c']);
    expect(buildGraph([], []).order).toEqual([]);
  });

  it('names each cycle along its edges, and what stands behind', () => {
    const edges = [edge('b', 'c'), edge('c', 'd'), edge('d', 'b'), edge('d', 'e'), edge('x', 'y'), edge('y', 'x')];
    const graph = buildGraph(['a', 'b', 'c', 'd', 'e', 'x', 'y'], edges);
    expect(graph.cycles).toEqual([
      ['b', 'c', 'd'],
      ['x', 'y'],
    ]);
    expect(graph.behindCycles).toEqual(['e']);
    expect(graph.order).toEqual(['a']);
  });

  it('orders every graph topologically, finds a cycle exactly when there is one, and knows what is before what', () => {
    fc.assert(
      fc.property(anyGraph, ({ refs, edges }) => {
        const graph = buildGraph(refs, edges);
        const position = new Map(graph.order.map((ref, index) => [ref, index]));
        for (const { source, target } of edges) {
          if (source === target || !position.has(target)) continue;
          expect(position.get(source)).toBeLessThan(position.get(target) ?? -1);
        }
        const isCyclic = refs.some((ref) => hasPath(edges, ref, ref));
        expect(graph.cycles.length > 0).toBe(isCyclic);
        expect(graph.order.length + graph.cycles.flat().length + graph.behindCycles.length).toBe(refs.length);
        for (const cycle of graph.cycles) {
          cycle.forEach((ref, index) => {
            const next = cycle[(index + 1) % cycle.length];
            expect(edges.some(({ source, target }) => source === ref && target === next)).toBe(true);
          });
        }
        for (const a of refs) for (const b of refs) expect(graph.isBefore(a, b)).toBe(hasPath(edges, a, b));
      }),
      { numRuns: 200 },
    );
  });

  it('orders 1,000 steps with 10,000 edges declared backwards without a noticeable stall', () => {
    const refs = Array.from({ length: 1000 }, (_, index) => `s${999 - index}`);
    const edges = Array.from({ length: 10_000 }, (_, index) => {
      const source = (index * 7919) % 999;
      return edge(`s${source}`, `s${source + 1 + ((index * 31) % (999 - source))}`);
    });
    const graph = buildGraph(refs, [...edges, ...refs.slice(1).map((ref, index) => edge(ref, refs[index] ?? ''))]);
    expect(graph.order[0]).toBe('s0');
    expect(graph.order).toHaveLength(1000);
    expect(graph.isBefore('s0', 's999')).toBe(true);
    expect(graph.isBefore('s999', 's0')).toBe(false);
  });
});
