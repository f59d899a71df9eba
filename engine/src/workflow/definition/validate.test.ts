import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import type { Problem } from '../../kernel/index.js';
import { validateDefinition } from './index.js';
import { BROKEN_DEFINITIONS, callback, edge, workflow } from './testing/broken-definitions.js';

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
        { ref: 'b', type: 'STEP_TYPE_ACTION' },
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
      'steps[4].args: says neither duration nor until nor schedule',
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

  it.each(BROKEN_DEFINITIONS)('says what is wrong with %s', (_name, json, expected) => {
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
