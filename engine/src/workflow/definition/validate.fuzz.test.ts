import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { validateDefinition } from './index.js';

const cel = createCelCompiler();

describe('arbitrary JSON', () => {
  /** JSON that looks like a definition often enough to reach every check. */
  const word = fc.oneof(
    fc.constantFrom(
      'a',
      'b',
      'steps.a.output',
      'input',
      '"x"',
      'item.x',
      '1 +',
      '2s',
      'STEP_TYPE_WAIT',
      'EDGE_TYPE_SUCCESS',
      '',
      '__proto__',
    ),
    fc.string(),
  );
  const anything = fc.oneof({ weight: 3, arbitrary: word }, fc.jsonValue());
  const record = (keys: readonly string[], known: Record<string, fc.Arbitrary<unknown>> = {}): fc.Arbitrary<object> => {
    const fields = Object.fromEntries([...keys.map((key) => [key, anything] as const), ...Object.entries(known)]);
    return fc.record(fields, { requiredKeys: [] });
  };
  const args = record(
    ['operation', 'project', 'filter', 'map', 'source', 'duration', 'until', 'handler', 'assert', 'keep'],
    {
      operation: fc.oneof(
        fc.constantFrom('project', 'filter', 'map', 'merge', 'sort', 'aggregate', 'dedupe', 'assert'),
        anything,
      ),
      sort: fc.oneof(fc.array(record(['by', 'order'])), anything),
      aggregate: fc.oneof(fc.dictionary(word, record(['sum', 'count'])), anything),
    },
  );
  const type = fc.constantFrom(
    'STEP_TYPE_CALLBACK',
    'STEP_TYPE_DATAFLOW',
    'STEP_TYPE_WAIT',
    'STEP_TYPE_SIGNAL',
    'STEP_TYPE_APPROVAL',
    'x',
  );
  const step = record(['ref', 'title', 'input', 'queue', 'timeout', 'extra'], {
    type,
    args: fc.oneof(args, anything),
    retry: fc.oneof(record(['max_attempts', 'jitter', 'max_interval', 'non_retryable']), anything),
  });
  const definition = record(['family_slug', 'title', 'output', 'extra'], {
    steps: fc.oneof({ weight: 5, arbitrary: fc.array(fc.oneof(step, anything), { maxLength: 6 }) }, anything),
    edges: fc.oneof(fc.array(record(['source_ref', 'target_ref', 'type', 'condition']), { maxLength: 6 }), anything),
    input_schema: fc.oneof(
      record(['type', 'properties', 'items', 'anyOf', '$ref', '$defs', 'pattern', 'format', 'enum', 'if', 'required']),
      anything,
    ),
  });

  it('never makes validation throw, and every problem is complete', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: definition }, anything), (json) => {
        const result = validateDefinition(json, cel);
        expect(result.definition === undefined).toBe(result.problems.length > 0);
        const incomplete = result.problems.filter(
          ({ path, value, problem, remedy }) => path === '' || problem === '' || remedy === '' || value.length > 200,
        );
        expect(incomplete).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  }, 120_000);
});
