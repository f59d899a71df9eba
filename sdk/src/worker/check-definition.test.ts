import { describe, expect, it } from 'vitest';
import { DuctorError } from '../errors.js';
import type { DefinitionJson } from '../workflow/definition-json.js';
import { checkDefinition } from './check-definition.js';

const FULL: DefinitionJson = {
  family_slug: 'full',
  title: 'Everything',
  steps: [
    {
      ...{ ref: 'a', type: 'STEP_TYPE_CALLBACK', title: 'A', args: { handler: 'h' }, input: { x: ['input'] } },
      retry: { max_attempts: 3, backoff: 1.5, jitter: 0, non_retryable: ['x'], initial_interval: '1s' },
      ...{ timeout: '1s', queue: 'q', join: { mode: 'n_of', count: 1, cancel_losers: true } },
    },
  ],
  edges: [{ source_ref: 'a', target_ref: 'b', type: 'EDGE_TYPE_SUCCESS', condition: 'true', case: 'c' }],
  output: null,
  input_schema: { type: 'object' },
  ...{ timeout: '1h', on_failure: 'drain', on_exhausted: 'park' },
};

/** `path: value` of everything that is wrong, whatever the types say of it. */
function found(definition: unknown): readonly string[] {
  try {
    checkDefinition(definition as DefinitionJson);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_argument' });
    return error instanceof DuctorError ? error.details.map(({ path, value }) => `${path}: ${value}`) : ['no refusal'];
  }
}

describe('checkDefinition', () => {
  it('takes what the message can hold, also what the engine will refuse', () => {
    expect(found(FULL)).toEqual([]);
    expect(found({ family_slug: '', steps: [{ ref: 'a' }] })).toEqual([]);
  });

  it('names everything that the message cannot hold', () => {
    const step = { ref: 5, type: 'STEP_TYPE_WIAT', args: [], tilte: 'x', retry: { max_attempts: -1 } };
    expect(found({ ...FULL, titel: 1, steps: [step, 'pause'] })).toEqual([
      'steps[0].ref: 5',
      'steps[0].type: STEP_TYPE_WIAT',
      'steps[0].args: a list',
      'steps[0].retry.max_attempts: -1',
      'steps[0].tilte: tilte',
      'steps[1]: pause',
      'titel: titel',
    ]);
    expect(found(null)).toEqual(['definition: null']);
  });

  it('names texts that UTF-8 would change, however deep they stand', () => {
    let deep: unknown = 'a\ud800';
    for (let depth = 0; depth < 10_000; depth += 1) deep = [deep];
    expect(found({ ...FULL, title: '\udc00', output: deep })[1]).toBe('title: \ufffd');
    expect(found({ ...FULL, output: { text: '\ud83d\ude00' } })).toEqual([]);
  });
});
