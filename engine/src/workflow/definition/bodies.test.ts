/** Bodies in definitions: what is valid, what is wrong and where, and the plans they become. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { completed, drive, failed, jsonOf, start } from '../testing/drive.js';
import { runOutput, taskOf, wakeAtUs } from '../machine/index.js';
import { definitionDigest } from './canonical.js';
import { compilePlan } from './compile.js';
import type { Definition, Json, StepDefinition } from './definition.js';
import { diffDefinitions } from './diff.js';
import { validateDefinition } from './validate.js';

const cel = createCelCompiler();

const POST: StepDefinition = { ref: 'post', type: 'STEP_TYPE_CALLBACK', input: 'item' };

function scatter(more: Partial<StepDefinition> = {}, args: { readonly [key: string]: Json } = {}): StepDefinition {
  return {
    ref: 'offer',
    type: 'STEP_TYPE_SCATTER',
    args: { items: 'input.list', ...args },
    body: { steps: [POST], output: 'steps.post.output' },
    ...more,
  };
}

function definition(steps: readonly StepDefinition[], more: Partial<Definition> = {}): Definition {
  return { family_slug: 'bodies', steps, ...more };
}

function problems(steps: readonly StepDefinition[], more: Partial<Definition> = {}): readonly string[] {
  return validateDefinition(definition(steps, more), cel).problems.map(({ path, problem }) => `${path} ${problem}`);
}

describe('bodies are validated', () => {
  it('wherever they are, with paths into them', () => {
    const wait: StepDefinition = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: 'soon' } };
    const inner = scatter({ ref: 'inner', body: { steps: [wait], edges: [], output: 'steps.nobody.output' } });
    const found = problems([scatter({ body: { steps: [inner], output: { a: 'steps.inner.output.' } } })]);
    expect(found.map((one) => one.split(' ')[0])).toEqual([
      'steps[0].body.steps[0].body.steps[0].args.duration',
      'steps[0].body.steps[0].body.output',
      'steps[0].body.output.a',
    ]);
  });

  it.each<[string, readonly StepDefinition[], string]>([
    [
      'no body',
      [{ ref: 'offer', type: 'STEP_TYPE_SCATTER', args: { items: 'input.list' } }],
      'steps[0].body is missing',
    ],
    ['a body without steps', [scatter({ body: { steps: [] } })], 'steps[0].body.steps is empty'],
    [
      'a body where none runs',
      [{ ...POST, input: 'input', body: { steps: [POST] } }],
      'steps[0].body has no effect on STEP_TYPE_CALLBACK',
    ],
    [
      'a ref that is taken outside',
      [{ ...POST, input: 'input' }, scatter({ body: { steps: [{ ...POST }] } })],
      'steps[1].body.steps[0].ref is the ref of an earlier step',
    ],
    ['an item outside', [{ ...POST }], 'steps[0].input there is no variable "item"'],
    [
      'vars in a scatter',
      [scatter({ body: { steps: [{ ...POST, input: 'vars' }] } })],
      'steps[0].body.steps[0].input there is no variable "vars"',
    ],
    [
      'a step within read from outside',
      [scatter(), { ...POST, ref: 'after', input: 'steps.post.output' }],
      'steps[1].input steps.post runs within a body',
    ],
    [
      'the step around',
      [scatter({ body: { steps: [{ ...POST, input: 'steps.offer.output' }] } })],
      'steps[0].body.steps[0].input steps.offer runs this body',
    ],
    [
      'a step beside that is not before',
      [{ ...POST, ref: 'a', input: 'input' }, scatter({ body: { steps: [{ ...POST, input: 'steps.a.output' }] } })],
      'steps[1].body.steps[0].input steps.a is not before',
    ],
    [
      'too many at a time',
      [scatter({}, { max_parallel: 2000 })],
      'steps[0].args.max_parallel is not a whole number from 1 to 1000',
    ],
    ['an odd tolerance', [scatter({}, { tolerate: '101%' })], 'steps[0].args.tolerate is neither'],
    [
      'a GATHER of nothing',
      [{ ref: 'all', type: 'STEP_TYPE_GATHER', args: { of: 'ofer' } }, scatter()],
      'steps[0].args.of is no STEP_TYPE_SCATTER beside it',
    ],
    [
      'a GATHER beside',
      [{ ref: 'all', type: 'STEP_TYPE_GATHER', args: { of: 'offer' } }, scatter()],
      'steps[0].args.of is not before this step',
    ],
    [
      'a loop without a condition',
      [
        {
          ref: 'l',
          type: 'STEP_TYPE_LOOP',
          args: { max_iterations: 3 },
          body: { steps: [{ ...POST, input: 'vars' }] },
        },
      ],
      'steps[0].args.until is missing',
    ],
    [
      'a condition that is no bool',
      [
        {
          ref: 'l',
          type: 'STEP_TYPE_LOOP',
          args: { max_iterations: 3, until: 'index' },
          body: { steps: [{ ...POST, input: 'vars' }] },
        },
      ],
      'steps[0].args.until it yields an int, and a bool is wanted',
    ],
    [
      'endless loops',
      [
        {
          ref: 'l',
          type: 'STEP_TYPE_LOOP',
          args: { until: 'true', max_iterations: 10_001 },
          body: { steps: [{ ...POST, input: 'vars' }] },
        },
      ],
      'steps[0].args.max_iterations is not a whole number',
    ],
  ])('refuses %s', (_, steps, problem) => {
    expect(problems(steps)).toEqual([expect.stringContaining(problem)]);
  });

  it('refuses edges out of a body, compensations in it, and more under way than a run can hold', () => {
    const edges = [
      { source_ref: 'post', target_ref: 'after', type: 'EDGE_TYPE_SUCCESS' },
      { source_ref: 'post', target_ref: 'undo', type: 'EDGE_TYPE_COMPENSATE' },
    ];
    const undo: StepDefinition = { ref: 'undo', type: 'STEP_TYPE_CALLBACK' };
    const found = problems([scatter({ body: { steps: [POST, undo], edges } }), { ...undo, ref: 'after' }]);
    expect(found.join()).toContain('steps[0].body.edges[0].target_ref is no step of this definition');
    expect(found.join()).toContain('steps[0].body.edges[1].type is not supported within a body');
    const inner = scatter({ ref: 'inner' }, { items: 'item.list', max_parallel: 500 });
    expect(problems([scatter({ body: { steps: [inner] } }, { max_parallel: 100 })])).toEqual([
      expect.stringContaining('steps[0].body.steps[0].args.max_parallel lets 50000 items be under way'),
    ]);
  });

  it('refuses detached children that are to end with their parent, which would forget them', () => {
    const child = (args: { readonly [key: string]: Json }): StepDefinition => ({
      ...{ ref: 'child', type: 'STEP_TYPE_SUB_WORKFLOW', input: 'item' },
      args: { workflow: 'send', ...args },
    });
    const found = (args: { readonly [key: string]: Json }): readonly string[] =>
      problems([scatter({ body: { steps: [child(args)] } })]);
    for (const policy of ['cancel', 'terminate']) {
      const [problem, ...more] = found({ detach: true, parent_close_policy: policy });
      expect(problem).toMatch(/^steps\[0\]\.body\.steps\[0\]\.args\.parent_close_policy cannot be kept to in a body/);
      expect(more).toEqual([]);
      expect(problems([{ ...child({ detach: true, parent_close_policy: policy }), input: 'input' }])).toEqual([]);
      expect(found({ parent_close_policy: policy })).toEqual([]);
    }
    expect(found({ detach: true, parent_close_policy: 'abandon' })).toEqual([]);
    expect(found({ detach: true })).toEqual([]);
  });

  it('refuses bodies that are nested too deeply', () => {
    const nested = (depth: number): StepDefinition =>
      scatter({ ref: `s${depth}`, body: { steps: [depth === 0 ? POST : nested(depth - 1)] } }, { max_parallel: 1 });
    expect(problems([nested(4)])).toEqual([]);
    expect(problems([nested(5)]).join()).toContain('is nested deeper than 5 bodies');
  });
});

describe('bodies are compiled', () => {
  it('and run, with what stands around them', () => {
    const head: StepDefinition = {
      ref: 'head',
      type: 'STEP_TYPE_DATAFLOW',
      args: { operation: 'project', project: { id: 'input.id' } },
    };
    const post: StepDefinition = {
      ...POST,
      input: { item: 'item', at: 'index', of: 'steps.head.output.id' },
      retry: { max_attempts: 1 },
    };
    const all: StepDefinition = { ref: 'all', type: 'STEP_TYPE_GATHER', args: { of: 'offer', failed: 'error' } };
    const body = { steps: [post], output: { got: 'steps.post.output' } };
    const { definition: valid, problems: found } = validateDefinition(
      definition([head, scatter({ body }, { tolerate: '50%', max_parallel: 1 }), all], {
        edges: [
          { source_ref: 'head', target_ref: 'offer', type: 'EDGE_TYPE_SUCCESS' },
          { source_ref: 'offer', target_ref: 'all', type: 'EDGE_TYPE_SUCCESS' },
        ],
        output: 'steps.all.output',
      }),
      cel,
    );
    expect(found).toEqual([]);
    const run = drive(compilePlan(valid ?? expect.fail('invalid'), 1, cel));
    run.give(start({ id: 7, list: ['a', 'b'] }));
    expect(jsonOf(taskOf(run.plan, run.state, 'offer[0]/post')?.input ?? null)).toEqual({ item: 'a', at: 0, of: 7 });
    run.give(failed('offer[0]/post'));
    run.give(completed('offer[1]/post', 'B'));
    expect(jsonOf(runOutput(run.state))).toEqual([{ error: { code: 'boom', message: 'it broke' } }, { got: 'B' }]);
  });

  it('as loops that carry what they came to', () => {
    const pause: StepDefinition = { ref: 'pause', type: 'STEP_TYPE_WAIT', args: { duration: { expr: 'vars.wait' } } };
    const check: StepDefinition = { ref: 'check', type: 'STEP_TYPE_CALLBACK', input: 'index' };
    const loop: StepDefinition = {
      ref: 'poll',
      type: 'STEP_TYPE_LOOP',
      args: { vars: { wait: 1 }, until: 'steps.check.output == "done" || index == 5', max_iterations: 9 },
      body: {
        steps: [pause, check],
        edges: [{ source_ref: 'pause', target_ref: 'check', type: 'EDGE_TYPE_SUCCESS' }],
        output: { wait: 'vars.wait * 2.0' },
      },
    };
    const { definition: valid } = validateDefinition(definition([loop]), cel);
    const run = drive(compilePlan(valid ?? expect.fail('invalid'), 1, cel));
    run.give(start());
    for (const [index, answer] of ['more', 'more', 'done'].entries()) {
      expect((wakeAtUs(run.state) ?? 0) - run.nowUs).toBe(1_000_000 * 2 ** index);
      run.nowUs = wakeAtUs(run.state) ?? 0;
      run.give({ kind: 'wake' });
      run.give(completed(`poll[${index}]/check`, answer));
    }
    expect(jsonOf(runOutput(run.state))).toEqual({ poll: { wait: 8 } });
  });

  it('and told apart by what they mean', () => {
    const plain = definition([scatter()]);
    const wordy = definition([
      scatter({ body: { steps: [{ ...POST, title: '' }], edges: [], output: 'steps.post.output' } }),
    ]);
    expect(definitionDigest(wordy)).toBe(definitionDigest(plain));
    const other = definition([scatter({ body: { steps: [{ ...POST, queue: 'slow' }], output: 'steps.post.output' } })]);
    expect(diffDefinitions(plain, other).map(({ path }) => path)).toEqual(['steps[offer].body.steps[post].queue']);
  });
});
