import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capturedTerminal } from '../testing/captured-terminal.js';
import { drawDag } from './draw.js';
import type { Dag, DagEdge, EdgeKind, Mark } from './graph.js';
import { layersOf } from './layers.js';
import { orderLayers } from './order.js';
import { keepDistances, placeSlots } from './place.js';

const DONE: Mark = { unicode: '✓', ascii: '+', tone: 'good' };
const OPEN: Mark = { unicode: '●', ascii: '*', tone: 'active' };

/** "a>b" on success, "a>b!" on failure. */
function edges(text: string): DagEdge[] {
  return text.split(' ').map((word) => {
    const [from = '', to = ''] = word.replace('!', '').split('>');
    return { from, to, kind: word.endsWith('!') ? 'failure' : 'success' };
  });
}

const dag = (refs: string, lines: string, mark = DONE): Dag => ({
  nodes: refs.split(' ').map((ref) => ({ ref, mark })),
  edges: lines === '' ? [] : edges(lines),
});
const drawn = (graph: Dag, isUnicode = true, columns = 100): string =>
  drawDag(graph, capturedTerminal({ isUnicode, columns })).join('\n');

describe('drawDag', () => {
  it('draws fan-out, join and a way around', () => {
    const graph = dag(
      'validate credit score hold decide notify reject',
      'validate>credit validate>score validate>hold credit>decide score>decide hold>decide decide>notify ' +
        'decide>reject! validate>reject!',
    );
    expect(`\n${drawn(graph)}\n`).toBe(`
             ✓ validate
   ┌─────────┬───┴───┬─────┐
   ▼         ▼       ▼     │
✓ credit  ✓ score  ✓ hold  │
   └─────────┴┬──────┘     │
              │      ┌─────┘
              ▼      │
           ✓ decide  │
          ┌───┴────┐ │
          ▼        ✗ ✗
       ✓ notify  ✓ reject

(✗ on failure)
`);
  });

  it('speaks ASCII where the terminal does', () => {
    const text = drawn(dag('one two three', 'one>two one>three'), false);
    expect(`\n${text}\n`).toBe(`
    + one
  +---+---+
  v       v
+ two  + three
`);
  });

  it('draws one of fifty steps that are alike, with what they are at', () => {
    const many = Array.from({ length: 50 }, (_none, index) => `score-${index}`);
    const graph: Dag = {
      nodes: [
        { ref: 'split', mark: DONE },
        ...many.map((ref, index) => ({ ref, mark: index < 48 ? DONE : OPEN })),
        { ref: 'join', mark: OPEN },
      ],
      edges: many.flatMap((ref) => edges(`split>${ref} ${ref}>join`)),
    };
    const text = drawn(graph);
    expect(text.split('\n')).toHaveLength(5);
    expect(text).toContain('● 50× score-0… 48✓ 2●');
  });

  it('tells layer by layer what is too large to draw', () => {
    const refs = Array.from({ length: 90 }, (_none, index) => `s${index}`);
    const chain: Dag = {
      nodes: refs.map((ref) => ({ ref, mark: DONE })),
      edges: refs.slice(1).map((to, index) => ({ from: refs[index] ?? '', to, kind: 'success' })),
    };
    const lines = drawn(chain).split('\n');
    expect(lines[0]).toBe('90 steps in 90 layers, too many to draw:');
    expect(lines).toHaveLength(91);
  });

  it('survives drafts with circles, edges to nowhere and edges to themselves', () => {
    const text = drawn(dag('a b c', 'a>b b>c c>a a>a a>nowhere'));
    for (const ref of ['a', 'b', 'c']) expect(text).toContain(`✓ ${ref}`);
  });

  it('lets no name write onto the terminal', () => {
    expect(drawn(dag('a\u001b[2Jb', ''))).toBe('✓ a\ufffd[2Jb');
  });
});

const graphs = fc.integer({ min: 1, max: 24 }).chain((size) =>
  fc
    .array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1), fc.constantFrom<EdgeKind>('success', 'failure', 'always')), {
      maxLength: size * 2,
    })
    .map((pairs): Dag => ({
      nodes: Array.from({ length: size }, (_none, index) => ({ ref: `step-${index}`, mark: DONE })),
      edges: pairs
        .filter(([a, b]) => a !== b)
        .map(([a, b, kind]) => ({ from: `step-${Math.min(a, b)}`, to: `step-${Math.max(a, b)}`, kind })),
    })),
);

describe('any graph', () => {
  it('is drawn with every step once, or told, and never wider than the terminal', () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 40, max: 200 }), (graph, columns) => {
        const lines = drawDag(graph, capturedTerminal({ columns }));
        const isTold = lines[0]?.includes('too many to draw') === true;
        if (!isTold) for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
        const text = lines.join('\n');
        if (isTold || text.includes('×')) return;
        for (const { ref } of graph.nodes) {
          // Short names may be cut in the middle, so marks are counted as well.
          expect(text.includes('…') || new RegExp(`✓ ${ref}(?!\\d)`).test(text)).toBe(true);
        }
        expect(text.match(/✓/g)).toHaveLength(graph.nodes.length);
      }),
      { numRuns: 300 },
    );
  });

  it('has every line lead from a slot to one of the next layer, and every edge its line', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const layered = layersOf(graph);
        const layers = orderLayers(layered);
        expect(layers.map((layer) => new Set(layer.map(({ key }) => key)))).toEqual(
          layered.layers.map((layer) => new Set(layer.map(({ key }) => key))),
        );
        for (const [index, links] of layered.links.entries()) {
          const [above, below] = [layers[index] ?? [], layers[index + 1] ?? []];
          for (const { from, to } of links) {
            expect(above.some(({ key }) => key === from)).toBe(true);
            expect(below.some(({ key }) => key === to)).toBe(true);
          }
        }
        const ends = new Set(graph.edges.map(({ from, to }) => `${from} ${to}`));
        const arrows = layered.links.flat().filter(({ kind }) => kind !== undefined);
        expect(arrows).toHaveLength(ends.size);
      }),
      { numRuns: 300 },
    );
  });

  it('has no two slots of a layer overlap', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const layered = layersOf(graph);
        const layers = orderLayers(layered);
        const places = placeSlots(layers, layered.links, ({ node }) => (node === undefined ? 1 : node.ref.length + 2));
        for (const layer of layers) {
          let end = -1;
          for (const { key } of layer) {
            const { left, width } = places.get(key) ?? { left: -1, width: 0 };
            expect(left).toBeGreaterThan(end);
            end = left + width;
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('keepDistances', () => {
  it('keeps distances and order, and grants wishes that are compatible', () => {
    expect(keepDistances([0, 10, 20], [5, 5])).toEqual([0, 10, 20]);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 9 }))), (pairs) => {
        const distances = pairs.slice(1).map(([, distance]) => distance);
        const values = keepDistances(
          pairs.map(([wish]) => wish),
          distances,
        );
        for (const [index, distance] of distances.entries()) {
          expect((values[index + 1] ?? 0) - (values[index] ?? 0)).toBeGreaterThanOrEqual(distance);
        }
      }),
    );
  });
});
