import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import type { Problem } from '../../kernel/index.js';
import { validateDefinition } from './index.js';

const cel = createCelCompiler();

function problemsOf(json: unknown): readonly Problem[] {
  return validateDefinition(json, cel).problems;
}

/** `path: problem` of everything that is wrong. */
function found(json: unknown): readonly string[] {
  return problemsOf(json).map(({ path, problem }) => `${path}: ${problem}`);
}

const HELLO = {
  family_slug: 'hello-world',
  title: 'Hello World',
  steps: [
    {
      ref: 'greet',
      type: 'STEP_TYPE_DATAFLOW',
      title: 'Build greeting',
      args: { operation: 'project', project: { message: '"hello"' } },
    },
    { ref: 'pause', type: 'STEP_TYPE_WAIT', title: 'Short delay', args: { duration: '2s' } },
  ],
  edges: [{ source_ref: 'greet', target_ref: 'pause', type: 'EDGE_TYPE_SUCCESS' }],
};

const callback = (ref: string, more: object = {}): object => ({ ref, type: 'STEP_TYPE_CALLBACK', ...more });
const edge = (source_ref: string, target_ref: string, more: object = {}): object => {
  return { source_ref, target_ref, type: 'EDGE_TYPE_SUCCESS', ...more };
};
const workflow = (steps: unknown, more: object = {}): object => ({ family_slug: 'flow', steps, ...more });

describe('validateDefinition', () => {
  it('accepts the example of the introduction', () => {
    expect(validateDefinition(HELLO, cel)).toEqual({ definition: HELLO, problems: [] });
  });

  it('leaves out fields that say nothing', () => {
    const step = callback('a', { title: '', args: {}, retry: { non_retryable: [] }, queue: '', timeout: '' });
    const { definition } = validateDefinition(workflow([step], { title: '', edges: [], input_schema: {} }), cel);
    expect(definition).toEqual({ family_slug: 'flow', steps: [{ ref: 'a', type: 'STEP_TYPE_CALLBACK' }] });
  });

  it('finds everything at once', () => {
    const json = {
      family_slug: 'Bad Slug',
      titel: 'x',
      steps: [
        callback('a', { retry: { max_attempts: 0, backof: 2 }, timeout: '5 m' }),
        callback('a', { input: { x: 'steps.b.output +' } }),
        { ref: 'b', type: 'STEP_TYPE_SIGNAL' },
        { ref: 'c!', type: 'STEP_TYPE_WIAT' },
        { type: 'STEP_TYPE_WAIT' },
        7,
      ],
      edges: [edge('a', 'nowhere'), { source_ref: 'a', type: 'SUCCESS' }],
      output: 'inpt.x',
      input_schema: { type: 'objekt' },
    };
    expect(found(json)).toEqual([
      'titel: is not a field of a definition',
      expect.stringMatching(/^family_slug: must be made of lower-case letters, digits and hyphens/),
      'steps[1].ref: is the ref of an earlier step',
      'steps[2].type: is not supported by this version',
      'steps[3].ref: must be made of letters, digits, "_" and "-", at most 64 (and not "__proto__")',
      'steps[3].type: is no type of step',
      'steps[4].ref: is missing',
      'steps[5]: is a number, not an object',
      'edges[0].target_ref: is no step of this definition',
      'edges[1].target_ref: is missing',
      'edges[1].type: is no type of edge',
      'steps[0].retry.backof: is not a field of retry',
      'steps[0].retry.max_attempts: is not a whole number from 1 to 1000',
      'steps[0].timeout: is not a duration',
      expect.stringMatching(/^steps\[1\]\.input\.x: .*line 1, column/),
      'steps[4].args: says neither duration nor until',
      expect.stringMatching(/^output: .*inpt.*line 1, column 1/),
      'input_schema.type: is no type',
    ]);
  });

  it('suggests what was meant', () => {
    const remedies = problemsOf(
      workflow([callback('score', { titel: 'x' }), callback('b', { input: 'steps.scroe.output' })], {
        edges: [edge('scor', 'b')],
      }),
    ).map(({ remedy }) => /Did you mean "(.*)"\?/.exec(remedy)?.[1]);
    expect(remedies).toEqual(['title', 'score', 'score']);
  });

  it.each<[string, unknown, readonly (string | RegExp)[]]>([
    ['no object', null, ['definition: is null, not an object']],
    ['nothing', {}, ['family_slug: is missing', 'steps: is missing']],
    ['no steps', workflow([]), ['steps: is empty']],
    ['a long title', workflow([callback('a')], { title: 'x'.repeat(257) }), ['title: is longer than 256 characters']],
    [
      'a title of two lines',
      workflow([callback('a', { title: 'a\nb' })]),
      ['steps[0].title: holds a control character'],
    ],
    ['a ref that no object can hold', workflow([callback('__proto__')]), [/^steps\[0\]\.ref: must be made of/]],
    [
      'an edge to itself',
      workflow([callback('a')], { edges: [edge('a', 'a')] }),
      ['edges[0]: leads from a step to itself'],
    ],
    [
      'an edge twice',
      workflow([callback('a'), callback('b')], { edges: [edge('a', 'b'), edge('a', 'b', { condition: 'true' })] }),
      ['edges[1]: repeats edges[0]'],
    ],
    [
      'options of later versions',
      workflow([callback('a', { priority: 'high' })], { queries: {} }),
      ['queries: is not supported by this version', 'steps[0].priority: is not supported by this version'],
    ],
    [
      'a retry that makes no sense',
      workflow([
        callback('a', {
          retry: { initial_interval: '2m', max_interval: '1m', jitter: 2, backoff: '2', non_retryable: ['', 5] },
        }),
      ]),
      [
        'steps[0].retry.backoff: is a string, not a number from 1 to 100',
        'steps[0].retry.jitter: is not a number from 0 to 1',
        'steps[0].retry.max_interval: is shorter than initial_interval',
        'steps[0].retry.non_retryable[0]: is not a text of 1 to 128 characters',
        'steps[0].retry.non_retryable[1]: is not a text of 1 to 128 characters',
      ],
    ],
    [
      'timeouts out of bounds',
      workflow([callback('a', { timeout: '0s', cancel_timeout: '2d' })]),
      ['steps[0].timeout: is shorter than 1ms', 'steps[0].cancel_timeout: is longer than 1d'],
    ],
    [
      'names with spaces',
      workflow([callback('a', { queue: 'my queue', args: { handler: 'my handler' } })]),
      [/^steps\[0\]\.queue: is not a name/, /^steps\[0\]\.args\.handler: is not a name/],
    ],
    [
      'a computed handler',
      workflow([callback('a', { args: { handler: { expr: 'input.h' } } })]),
      [/^steps\[0\]\.args\.handler: cannot be computed/],
    ],
    [
      'options without effect',
      workflow([
        { ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: '1s' }, retry: { max_attempts: 1 }, input: 'input' },
      ]),
      ['steps[0].input: has no effect on STEP_TYPE_WAIT', 'steps[0].retry: has no effect on STEP_TYPE_WAIT'],
    ],
    [
      'a wait for both',
      workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: '1s', until: 'input.at' } }]),
      ['steps[0].args: says both duration and until'],
    ],
    [
      'a wait for a slot',
      workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { schedule: 'daily' } }]),
      [/^steps\[0\]\.args\.schedule: is not supported by this version/],
    ],
    [
      'a wait that is no duration',
      workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: 'soon' } }]),
      ['steps[0].args.duration: is not a duration'],
    ],
    [
      'a wait of a number',
      workflow([{ ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: 5 } }]),
      ['steps[0].args.duration: is a number, not a duration'],
    ],
    [
      'a condition that is no bool',
      workflow([callback('a'), callback('b')], { edges: [edge('a', 'b', { condition: '1 + 1' })] }),
      [/^edges\[0\]\.condition: .*bool.*line 1, column 1/],
    ],
    [
      'an operation that is not known',
      workflow([{ ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'fliter', source: 'input' } }]),
      ['steps[0].args.operation: is no operation of a DATAFLOW step'],
    ],
    ['no operation', workflow([{ ref: 'd', type: 'STEP_TYPE_DATAFLOW' }]), ['steps[0].args.operation: is missing']],
    [
      'a field of another operation',
      workflow([{ ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'map', source: 'input', filter: 'true' } }]),
      ['steps[0].args.filter: is not a field of the args of STEP_TYPE_DATAFLOW', 'steps[0].args.map: is missing'],
    ],
    [
      'two functions in one aggregate',
      workflow([
        {
          ref: 'd',
          type: 'STEP_TYPE_DATAFLOW',
          args: {
            operation: 'aggregate',
            source: 'input',
            aggregate: { a: { sum: 'item', max: 'item' }, group: { count: true } },
            group_by: 'item',
          },
        },
      ]),
      [
        /^steps\[0\]\.args\.aggregate\.a: does not have exactly one of count/,
        'steps[0].args.aggregate.group: is the name of the key of a group',
      ],
    ],
    [
      'fields of the wrong kind',
      workflow([
        callback('a', { retry: [], args: 5, queue: 7 }),
        { ref: 'b', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'sort', source: ['x'], sort: 'item' } },
        { ref: 'c', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'sort', source: 'input', sort: [5, {}] } },
        { ref: 'd', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'aggregate', source: 'input', aggregate: [] } },
        { ref: 'e', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'merge', merge: [], mode: 'shalow' } },
        { ref: 'f', type: 'STEP_TYPE_DATAFLOW', args: { operation: { expr: 'input' } } },
        { ref: 'g', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'aggregate', source: 'input', aggregate: {} } },
        {
          ref: 'h',
          type: 'STEP_TYPE_DATAFLOW',
          args: { operation: 'aggregate', source: 'input', aggregate: { n: 'x' } },
        },
        { ref: 'i', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'filter', source: 'input', filter: 5 } },
      ]),
      [
        'steps[0].args: is a number, not an object',
        'steps[0].retry: is a list, not an object',
        'steps[0].queue: is a number, not a string',
        'steps[1].args.source: is a list, not a CEL expression',
        'steps[1].args.sort: is a string, not a list',
        'steps[2].args.sort[0]: is a number, not an object',
        'steps[2].args.sort[1].by: is missing',
        'steps[3].args.aggregate: is a list, not an object',
        'steps[4].args.merge: is empty',
        'steps[4].args.mode: is none of shallow, deep, concat',
        'steps[5].args.operation: is no operation of a DATAFLOW step',
        'steps[6].args.aggregate: is empty',
        'steps[7].args.aggregate.n: is a string, not an object',
        'steps[8].args.filter: is a number, not a CEL expression',
      ],
    ],
    [
      'too many codes',
      workflow([callback('a', { retry: { non_retryable: Array.from({ length: 101 }, () => 'x') } })]),
      ['steps[0].retry.non_retryable: has more than 100 codes'],
    ],
    [
      'lists that are none',
      workflow('x', { edges: 5 }),
      ['steps: is a string, not a list', 'edges: is a number, not a list'],
    ],
    [
      'an input schema that is none',
      workflow([callback('a')], { input_schema: [] }),
      ['input_schema: is a list, not an object'],
    ],
    [
      'item outside of a list',
      workflow([callback('a', { input: 'item' })]),
      [/^steps\[0\]\.input: .*item.*line 1, column 1/],
    ],
  ])('says what is wrong with %s', (_name, json, expected) => {
    expect(found(json)).toEqual(expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))));
  });

  describe('order of steps', () => {
    const steps = [callback('a'), callback('b'), callback('c'), callback('d')];

    it('names each cycle and what waits for it', () => {
      const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'a'), edge('c', 'd')];
      const [cycle, behind] = problemsOf(workflow(steps, { edges }));
      expect(cycle).toMatchObject({ path: 'steps[0]', value: 'a -> b -> c -> a', problem: 'is on a cycle of edges' });
      expect(behind?.path).toBe('steps[3]');
      expect(behind?.problem).toContain('cannot be reached');
    });

    it('says which steps can never start', () => {
      const wait = { ref: 'w', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } };
      const edges = [edge('w', 'a', { type: 'EDGE_TYPE_FAILURE' }), edge('a', 'b', { type: 'EDGE_TYPE_ALWAYS' })];
      expect(found(workflow([wait, callback('a'), callback('b')], { edges }))).toEqual([
        'steps[1]: cannot be reached: none of its edges can ever fire',
        'steps[2]: cannot be reached: none of its edges can ever fire',
      ]);
      const computed = { ...wait, args: { duration: { expr: 'input.s' } } };
      expect(found(workflow([computed, callback('a'), callback('b')], { edges }))).toEqual([]);
    });

    it('lets a step read only steps before it', () => {
      const edges = [edge('a', 'b'), edge('b', 'c')];
      const reads = (text: string): readonly string[] =>
        found(workflow([callback('a'), callback('b'), callback('c', { input: text }), callback('d')], { edges }));
      expect(reads('steps.a.output.x + steps.b.output.y')).toEqual([]);
      expect(reads('has(steps.a.output) ? steps["a"].output : null')).toEqual([]);
      expect(reads('steps.d.output.x == steps.d.output.y')).toEqual([
        'steps[2].input: steps.d is not before this step',
      ]);
      expect(reads('steps.c.output')).toEqual(['steps[2].input: steps.c is the step itself']);
      expect(reads('steps.x.output')).toEqual(['steps[2].input: steps.x is no step of this definition']);
      expect(reads('steps[input.name].output')).toEqual(['steps[2].input: reads steps without naming one']);
      expect(reads('steps.a.result')).toEqual([expect.stringMatching(/result.*line 1/)]);
      expect(reads('steps.a.error.stack')).toEqual([expect.stringMatching(/stack.*line 1/)]);
    });

    it('lets a condition read the source of its edge, and the output read every step', () => {
      const edges = [
        edge('a', 'b', { condition: 'steps.a.output.ok' }),
        edge('b', 'c', { condition: 'steps.c.output.ok' }),
      ];
      expect(found(workflow(steps, { edges, output: { d: 'steps.d.output', none: 'steps.e.output' } }))).toEqual([
        'edges[1].condition: steps.c is the step itself',
        'output.none: steps.e is no step of this definition',
      ]);
    });
  });

  it('tells how to write a literal text', () => {
    expect(problemsOf(workflow([callback('a', { input: { to: 'hello world' } })]))[0]?.remedy).toContain(
      '"\\"text\\""',
    );
  });

  describe('limits', () => {
    const many = (count: number): readonly object[] =>
      Array.from({ length: count }, (_, index) => callback(`s${index}`));

    it('takes 1,000 steps in a row, quickly, and no more', () => {
      const edges = many(999).map((_, index) => edge(`s${index}`, `s${index + 1}`));
      const steps = many(1000).map((step, index) =>
        index < 2 ? step : { ...step, input: `steps.s${index - 2}.output` },
      );
      expect(found(workflow(steps, { edges }))).toEqual([]);
      expect(found(workflow(many(1001)))).toEqual(['steps: has 1001 steps, more than 1000']);
    });

    it('takes no more than 10,000 edges', () => {
      const edges = Array.from({ length: 10_001 }, () => edge('s0', 's1'));
      expect(found(workflow(many(2), { edges }))).toEqual(['edges: has 10001 edges, more than 10000']);
    });

    it('takes no more than 1 MiB and 64 levels', () => {
      expect(found(workflow(many(1), { output: `"${'x'.repeat(1024 * 1024)}"` }))).toEqual([
        expect.stringMatching(/^definition: is larger than 1 MiB \(\d+ bytes\)$/),
      ]);
      let nested: unknown = 'input';
      for (let depth = 0; depth < 100_000; depth += 1) nested = [nested];
      expect(found(workflow(many(1), { output: nested }))).toEqual([
        expect.stringMatching(/nested more than 64 deep$/),
      ]);
      let doubled: unknown = 'input';
      for (let depth = 0; depth < 40; depth += 1) doubled = [doubled, doubled];
      expect(found(workflow(many(1), { output: doubled }))).toEqual(['definition: is larger than 1 MiB']);
    });

    it('lists 1,000 problems and counts the rest', () => {
      const steps = many(1000).map((step) => ({ ...step, a: 1, b: 2 }));
      const problems = problemsOf(workflow(steps));
      expect(problems).toHaveLength(1001);
      expect(problems.at(-1)?.problem).toBe('has 1000 more problems');
    });
  });

  it('refuses what is not JSON', () => {
    expect(found({ ...HELLO, title: undefined })).toEqual([]);
    expect(found({ ...HELLO, output: [Number.NaN, new Map(), () => 1, 1n, undefined] })).toHaveLength(5);
  });
});
