import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definitionDigest } from './canonical.js';
import type { Definition } from './definition.js';
import { diffDefinitions } from './diff.js';

const BASE: Definition = {
  family_slug: 'lead',
  title: 'Leads',
  steps: [
    { ref: 'fetch', type: 'STEP_TYPE_CALLBACK', args: { handler: 'fetch' }, retry: { max_attempts: 3 } },
    { ref: 'score', type: 'STEP_TYPE_CALLBACK', args: { handler: 'score' }, input: { id: 'input.id' } },
  ],
  edges: [{ source_ref: 'fetch', target_ref: 'score', type: 'EDGE_TYPE_SUCCESS' }],
};
const told = (before: Definition | null, after: Definition): string[] =>
  diffDefinitions(before, after).map(({ kind, path, before: old, after: fresh }) => {
    const values = [old, fresh].map((value) => JSON.stringify(value)).join(' to ');
    return `${kind} ${path}${kind === 'changed' ? ` ${values}` : ''}`;
  });

describe('diffDefinitions', () => {
  it('finds nothing in what only looks different', () => {
    const { steps, edges = [], ...rest } = BASE;
    const other = { ...rest, output: undefined, edges: [...edges], steps: [...steps].reverse() };
    expect(told(BASE, JSON.parse(JSON.stringify(other)) as Definition)).toEqual([]);
    expect(told(BASE, { ...BASE, steps: steps.map((step) => ({ ...step, title: '' })) })).toEqual([]);
  });

  it('names steps, fields deep inside, edges and options', () => {
    const [fetch, score] = BASE.steps;
    if (fetch === undefined || score === undefined) throw new TypeError('the base has two steps');
    const after: Definition = {
      ...BASE,
      title: 'Leads of today',
      timeout: '1h',
      steps: [
        { ...fetch, retry: { max_attempts: 5, backoff: 2 } },
        { ...score, input: { id: 'input.lead' } },
        { ref: 'tell', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } },
      ],
      edges: [
        { source_ref: 'fetch', target_ref: 'score', type: 'EDGE_TYPE_SUCCESS', condition: 'true' },
        { source_ref: 'score', target_ref: 'tell', type: 'EDGE_TYPE_FAILURE' },
      ],
    };
    expect(told(BASE, after)).toEqual([
      'changed steps[fetch].retry.max_attempts 3 to 5',
      'added steps[fetch].retry.backoff',
      'changed steps[score].input.id "input.id" to "input.lead"',
      'added steps[tell]',
      'added edges[fetch -> score].condition',
      'added edges[score -> tell, on FAILURE]',
      'changed title "Leads" to "Leads of today"',
      'added timeout',
    ]);
    expect(told(after, BASE)).toHaveLength(8);
  });

  it('tells a first version as all new', () => {
    expect(told(null, BASE)).toEqual([
      'added steps[fetch]',
      'added steps[score]',
      'added edges[fetch -> score]',
      'added title',
    ]);
  });

  it('tells edges apart that differ by their conditions only', () => {
    const twice = [
      { source_ref: 'fetch', target_ref: 'score', type: 'EDGE_TYPE_SUCCESS', condition: 'a' },
      { source_ref: 'fetch', target_ref: 'score', type: 'EDGE_TYPE_SUCCESS', condition: 'b' },
    ];
    expect(told(BASE, { ...BASE, edges: twice })).toEqual([
      'added edges[fetch -> score].condition',
      'added edges[fetch -> score, 2]',
    ]);
  });

  const definitions = fc
    .record({
      title: fc.option(fc.constantFrom('', 'a', 'b'), { nil: undefined }),
      timeout: fc.option(fc.constantFrom('1s', '2s'), { nil: undefined }),
      handlers: fc.array(fc.constantFrom('x', 'y'), { maxLength: 3 }),
    })
    .map(({ title, timeout, handlers }): Definition => ({
      family_slug: 'any',
      steps: handlers.map((handler, index) => ({ ref: `s${index}`, type: 'STEP_TYPE_CALLBACK', args: { handler } })),
      ...(title === undefined ? {} : { title }),
      ...(timeout === undefined ? {} : { timeout }),
    }));

  it('finds nothing exactly where the digests agree', () => {
    fc.assert(
      fc.property(definitions, definitions, (a, b) => {
        expect(diffDefinitions(a, b).length === 0).toBe(definitionDigest(a) === definitionDigest(b));
      }),
    );
  });
});
