/** Joins, switches, ends and timeouts in definitions: what is wrong with them, and what they compile to. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { compilePlan, validateDefinition, type Definition } from './index.js';

const cel = createCelCompiler();

type Fields = { readonly [key: string]: unknown };

const callback = (ref: string, fields: Fields = {}): Fields => ({ ref, type: 'STEP_TYPE_CALLBACK', ...fields });
const edge = (source_ref: string, target_ref: string, fields: Fields = {}): Fields => ({
  source_ref,
  target_ref,
  type: 'EDGE_TYPE_SUCCESS',
  ...fields,
});
const pick = (fields: Fields = {}): Fields => ({
  ref: 'pick',
  type: 'STEP_TYPE_SWITCH',
  args: { cases: [{ name: 'a', when: 'input.n > 1.0' }], default: 'b' },
  ...fields,
});

function workflow(steps: readonly Fields[], edges: readonly Fields[] = [], fields: Fields = {}): Fields {
  return { family_slug: 'flow', steps, edges, ...fields };
}

function found(json: unknown): readonly string[] {
  return validateDefinition(json, cel).problems.map(({ path, problem }) => `${path}: ${problem}`);
}

function planOf(json: unknown) {
  const { definition, problems } = validateDefinition(json, cel);
  expect(problems).toEqual([]);
  return compilePlan(definition ?? ({ family_slug: '', steps: [] } satisfies Definition), 1, cel);
}

const AB = [callback('a'), callback('b')];
const TO_C = [edge('a', 'c'), edge('b', 'c')];

describe('what is wrong with', () => {
  it.each<[string, unknown, readonly (string | RegExp)[]]>([
    [
      'a mode that is none',
      workflow([...AB, callback('c', { join: { mode: 'some' } })], TO_C),
      ['steps[2].join.mode: is no way to join'],
    ],
    [
      'a join that is no object',
      workflow([...AB, callback('c', { join: 'any' })], TO_C),
      ['steps[2].join: is a string, not an object'],
    ],
    [
      'a count that is missing',
      workflow([...AB, callback('c', { join: { mode: 'n_of' } })], TO_C),
      ['steps[2].join.count: is missing'],
    ],
    [
      'a count that says nothing',
      workflow([...AB, callback('c', { join: { mode: 'any', count: 2 } })], TO_C),
      ['steps[2].join.count: has no effect on mode any'],
    ],
    [
      'losers of a join of all',
      workflow([...AB, callback('c', { join: { cancel_losers: true } })], TO_C),
      ['steps[2].join.cancel_losers: has no effect: a join of all has no losers'],
    ],
    [
      'a join without edges',
      workflow([callback('a', { join: { mode: 'any' } })]),
      ['steps[0].join: has no effect: no edge leads to the step'],
    ],
    [
      'a join that asks for more than there is',
      workflow([...AB, callback('c', { join: { mode: 'n_of', count: 3 } })], TO_C),
      ['steps[2].join.count: can never fire: at most 2 of its edges can fire in one run'],
    ],
    [
      'a join that asks for both outcomes of a step',
      workflow(
        [callback('a'), callback('c', { join: { mode: 'n_of', count: 2 } })],
        [edge('a', 'c'), edge('a', 'c', { type: 'EDGE_TYPE_FAILURE' })],
      ),
      ['steps[1].join.count: can never fire: at most 1 of its edges can fire in one run'],
    ],
    [
      'a join that asks for two cases',
      workflow(
        [pick(), callback('c', { join: { mode: 'n_of', count: 2 } })],
        [edge('pick', 'c', { case: 'a' }), edge('pick', 'c', { case: 'b' })],
      ),
      ['steps[1].join.count: can never fire: at most 1 of its edges can fire in one run'],
    ],
    [
      'a case that is none',
      workflow([pick(), callback('c')], [edge('pick', 'c', { case: 'z' })]),
      ['edges[0].case: is no case of pick'],
    ],
    [
      'a case of a step that has none',
      workflow([callback('a'), callback('c')], [edge('a', 'c', { case: 'z' })]),
      ['edges[0].case: has no effect: a is no STEP_TYPE_SWITCH'],
    ],
    [
      'a case on another outcome',
      workflow([pick(), callback('c')], [edge('pick', 'c', { case: 'a', type: 'EDGE_TYPE_FAILURE' })]),
      ['edges[0].case: has no effect on EDGE_TYPE_FAILURE'],
    ],
    [
      'cases without name or condition',
      workflow([pick({ args: { cases: [{ when: 'true' }, { name: 'x y', when: '1' }, { name: 'c' }] } })]),
      [
        'steps[0].args.cases[0].name: is missing',
        'steps[0].args.cases[1].name: is not a name of letters, digits, "_" and "-", at most 64',
        /^steps\[0\]\.args\.cases\[1\]\.when: /,
        'steps[0].args.cases[2].when: is missing',
      ],
    ],
    [
      'two cases of a name',
      workflow([pick({ args: { cases: ['a', 'a'].map((name) => ({ name, when: true })) } })]),
      ['steps[0].args.cases: names two cases'],
    ],
    [
      'an edge from a step that ends the run',
      workflow([{ ref: 'f', type: 'STEP_TYPE_FAIL', args: { code: 'x' } }, callback('a')], [edge('f', 'a')]),
      ['edges[0]: leads on from a STEP_TYPE_FAIL, which ends the run'],
    ],
    [
      'a failure without a code',
      workflow([{ ref: 'f', type: 'STEP_TYPE_FAIL', args: { code: 'two words', message: '1 + 1' } }]),
      [
        'steps[0].args.code: is not a code of letters, digits, "_", "-", "." and ":", at most 128',
        /^steps\[0\]\.args\.message: /,
      ],
    ],
    [
      'a timeout edge from a step without attempts',
      workflow(
        [{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } }, callback('a')],
        [edge('w', 'a', { type: 'EDGE_TYPE_TIMEOUT' })],
      ),
      ['steps[1]: cannot be reached: none of its edges can ever fire'],
    ],
    [
      'timeouts that are none',
      workflow(
        [
          callback('a', {
            heartbeat_timeout: '10ms',
            schedule_to_start_timeout: 'soon',
            retry: { total_timeout: '0s' },
          }),
        ],
        [],
        { timeout: '4000d', on_failure: 'stop', on_exhausted: 'parc' },
      ),
      [
        'timeout: is longer than 3650d',
        'on_failure: is no value of on_failure',
        'on_exhausted: is no value of on_exhausted',
        'steps[0].retry.total_timeout: is shorter than 1ms',
        'steps[0].schedule_to_start_timeout: is not a duration',
        'steps[0].heartbeat_timeout: is shorter than 500ms',
      ],
    ],
    [
      'options on a step that no worker runs',
      workflow([pick({ heartbeat_timeout: '5s', schedule_to_start_timeout: '5s' })]),
      [
        'steps[0].schedule_to_start_timeout: has no effect on STEP_TYPE_SWITCH',
        'steps[0].heartbeat_timeout: has no effect on STEP_TYPE_SWITCH',
      ],
    ],
  ])('%s is said', (_name, json, expected) => {
    expect(found(json)).toEqual(expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))));
  });

  it('a condition that may be asked before a step has ended is said, and where a step may ask is not', () => {
    const steps = [...AB, callback('j', { join: { mode: 'any' } }), callback('k', { input: 'has(steps.a.output)' })];
    const edges = [edge('a', 'j'), edge('b', 'j'), edge('j', 'k', { condition: 'has(steps.a.output)' })];
    expect(found(workflow(steps, edges))).toEqual([
      'edges[2].condition: steps.a may still be under way when this condition is asked',
    ]);
    expect(
      found(workflow(steps, [...edges.slice(0, 2), edge('j', 'k', { condition: 'has(steps.j.output)' })])),
    ).toEqual([]);
  });

  it('a step before all ways into a join has ended for sure', () => {
    const steps = [callback('root'), ...AB, callback('j', { join: { mode: 'any' } }), callback('k')];
    const ways = [edge('root', 'a'), edge('root', 'b'), edge('a', 'j'), edge('b', 'j')];
    expect(found(workflow(steps, [...ways, edge('j', 'k', { condition: 'has(steps.root.output)' })]))).toEqual([]);
  });
});

describe('compiles', () => {
  it('joins, cases, ends and timeouts', () => {
    const plan = planOf(
      workflow(
        [
          pick(),
          callback('c', { join: { mode: 'any', cancel_losers: true }, heartbeat_timeout: '2s' }),
          callback('d', { join: { mode: 'n_of', count: 2 }, schedule_to_start_timeout: '3s' }),
          { ref: 'f', type: 'STEP_TYPE_FAIL', args: { code: 'no', message: '"n is " + string(input.n)' } },
          { ref: 'e', type: 'STEP_TYPE_COMPLETE', args: { output: { n: 'input.n' } } },
        ],
        [
          edge('pick', 'c', { case: 'a' }),
          edge('pick', 'd'),
          edge('c', 'd', { type: 'EDGE_TYPE_TIMEOUT' }),
          edge('pick', 'f', { case: 'b' }),
          edge('c', 'e'),
        ],
        { timeout: '1h', on_failure: 'cancel', on_exhausted: 'park' },
      ),
    );
    expect(plan).toMatchObject({ timeoutMs: 3_600_000, onFailure: 'cancel', onExhausted: 'park' });
    const scope = { input: () => ({ n: 0 }), stepOutput: () => undefined, stepError: () => undefined, run: {} };
    const [first, c, d, f, e] = ['pick', 'c', 'd', 'f', 'e'].map((ref) => plan.stepByRef.get(ref));
    expect(first?.type === 'SWITCH' && first.choose(scope)).toBe('b');
    expect(first?.type === 'SWITCH' && first.choose({ ...scope, input: () => ({ n: 2 }) })).toBe('a');
    expect(first?.outgoing.map((one) => one.case)).toEqual(['a', null, 'b']);
    expect(c).toMatchObject({ join: { mode: 'n_of', count: 1, cancelLosers: true }, heartbeatTimeoutMs: 2000 });
    expect(d).toMatchObject({ join: { mode: 'n_of', count: 2, cancelLosers: false }, scheduleToStartTimeoutMs: 3000 });
    expect(f?.type === 'FAIL' && [f.code, f.message(scope)]).toEqual(['no', 'n is 0']);
    expect(e?.type === 'COMPLETE' && e.output.evaluate(scope)).toEqual({ n: 0 });
  });

  it('what says nothing to the same content', () => {
    const plain = planOf(workflow([callback('a')]));
    const full = planOf(
      workflow([callback('a', { join: { mode: '' }, heartbeat_timeout: '' })], [], { timeout: '', on_failure: '' }),
    );
    expect(full.digest).toBe(plain.digest);
    expect(full).toMatchObject({ timeoutMs: null, onFailure: 'drain', onExhausted: 'fail' });
    expect(full.steps[0]?.join).toEqual({ mode: 'all' });
  });
});
