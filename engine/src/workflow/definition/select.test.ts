/** SELECT steps in definitions: what is valid, and what is wrong and where. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { compilePlan } from './compile.js';
import type { Json, StepDefinition } from './definition.js';
import { validateDefinition } from './validate.js';

const cel = createCelCompiler();

const POST: StepDefinition = { ref: 'post', type: 'STEP_TYPE_CALLBACK', input: 'item' };
const BODY = { steps: [POST] };

function select(args: { readonly [key: string]: Json }, more: Partial<StepDefinition> = {}): StepDefinition {
  return { ref: 'buyers', type: 'STEP_TYPE_SELECT', args: { pool: 'solar', ...args }, ...more };
}

function problems(...steps: readonly StepDefinition[]): readonly string[] {
  const { problems: found } = validateDefinition({ family_slug: 'selects', steps }, cel);
  return found.map(({ path, problem }) => `${path} ${problem}`);
}

describe('a SELECT step', () => {
  it.each<[string, StepDefinition]>([
    ['nothing but its pool', select({})],
    ['a body for each', select({ max_parallel: 2, tolerate: '50%' }, { body: BODY })],
    ['a body for the ranked ones', select({ mode: 'ranked' }, { body: BODY })],
    ['a body for the slate', select({ mode: 'slate' }, { body: BODY })],
  ])('may have %s', (_, step) => {
    expect(problems(step)).toEqual([]);
  });

  it.each<[string, StepDefinition, string]>([
    ['a mode that is none', select({ mode: 'all' }, { body: BODY }), 'args.mode is none of each, ranked, slate'],
    ['a mode without a body', select({ mode: 'ranked' }), 'args.mode has no effect without a body'],
    ['a parallelism without a body', select({ max_parallel: 2 }), 'args.max_parallel has no effect without a body'],
    [
      'a tolerance where one is tried after the other',
      select({ mode: 'ranked', tolerate: 1 }, { body: BODY }),
      'args.tolerate has no effect in mode ranked',
    ],
    ['a body without steps', select({}, { body: { steps: [] } }), 'body.steps is empty'],
  ])('may not have %s', (_, step, problem) => {
    expect(problems(step)).toContain(`steps[0].${problem}`);
  });

  it('has no time that runs out without a body, so that no edge can wait for that', () => {
    const late: StepDefinition = { ref: 'late', type: 'STEP_TYPE_CALLBACK' };
    const edges = ['EDGE_TYPE_TIMEOUT', 'EDGE_TYPE_SUCCESS'].map((type) => {
      return { source_ref: 'buyers', target_ref: 'late', type };
    });
    const said = (step: StepDefinition): readonly string[] => {
      const { problems: found } = validateDefinition({ family_slug: 'selects', steps: [step, late], edges }, cel);
      return found.map(({ path, value, problem, remedy }) => `${path} ${String(value)}: ${problem}. ${remedy}`);
    };
    expect(said(select({}, { body: BODY }))).toEqual([]);
    expect(said(select({}))).toEqual([
      'edges[0].type EDGE_TYPE_TIMEOUT: can never fire: buyers is a STEP_TYPE_SELECT without a body, which has no ' +
        'time to run out. Make it an EDGE_TYPE_FAILURE, or give the step a body.',
    ]);
  });

  it('counts its recipients among what may be under way', () => {
    const inner = select({ slate: 20 }, { body: BODY });
    const outer: StepDefinition = {
      ref: 'all',
      type: 'STEP_TYPE_SCATTER',
      args: { items: 'input.list', max_parallel: 1000 },
      body: { steps: [inner] },
    };
    expect(problems(outer)).toContainEqual(expect.stringMatching(/20000 items be under way at a time/));
  });

  it('cannot be read from its own body, whose steps nobody outside can read', () => {
    const own = select({}, { body: { steps: [{ ...POST, input: 'steps.buyers.output' }] } });
    expect(problems(own)).toHaveLength(1);
    const other: StepDefinition = { ref: 'other', type: 'STEP_TYPE_CALLBACK', input: 'steps.post.output' };
    expect(problems(select({}, { body: BODY }), other)).toHaveLength(1);
  });

  it('has its body in the plan, of which it is a part', () => {
    const steps = [select({ mode: 'ranked' }, { body: BODY })];
    const plan = compilePlan({ family_slug: 'selects', steps }, 1, cel);
    expect([...plan.stepByRef.keys()].toSorted()).toEqual(['buyers', 'post']);
    expect(plan.steps[0]).toMatchObject({ type: 'SELECT', mode: 'ranked', body: { steps: [{ ref: 'post' }] } });
    expect(plan.selects).toBe(true);
  });
});

describe('a step whose assignments end with the run', () => {
  const step = (type: string, value: Json): StepDefinition => {
    return { ref: 'desk', type, args: { pool: 'solar', ends_with_run: value } };
  };

  it.each(['STEP_TYPE_ROUTE', 'STEP_TYPE_CLAIM'])(
    'is a %s that says so, and makes the end of its runs look',
    (type) => {
      for (const value of [true, false]) {
        const steps = [step(type, value)];
        expect(problems(...steps)).toEqual([]);
        expect(compilePlan({ family_slug: 'ends', steps }, 1, cel).selects).toBe(value);
      }
      expect(problems(step(type, 'yes'))).toEqual(['steps[0].args.ends_with_run is neither true nor false']);
    },
  );
});

describe('a ROUTE step that takes a seat for its family', () => {
  const step = (args: { readonly [key: string]: Json }, type = 'STEP_TYPE_ROUTE'): StepDefinition => {
    return { ref: 'turn', type, args: { pool: 'seats', ...args } };
  };

  it('says so, and makes the end of its runs look at the family', () => {
    expect(problems(step({ seat_for: 'family' }))).toEqual([]);
    for (const [args, looks] of [
      [{ seat_for: 'family' }, true],
      [{}, false],
    ] as const) {
      expect(compilePlan({ family_slug: 'seats', steps: [step(args)] }, 1, cel).selects).toBe(looks);
    }
  });

  it('has no other word for whose seat it is, and hints at the one that there is', () => {
    const said = (one: StepDefinition): readonly string[] => {
      const { problems: found } = validateDefinition({ family_slug: 'seats', steps: [one] }, cel);
      return found.map(({ path, problem, remedy }) => `${path} ${problem}. ${remedy}`);
    };
    expect(said(step({ seat_for: 'familly' }))).toEqual([
      'steps[0].args.seat_for is not family. Write it such as "family". Did you mean "family"?',
    ]);
    expect(said(step({ seat_for: { expr: 'input.x' } }))).toHaveLength(1);
    expect(said(step({ seat_for: 'family' }, 'STEP_TYPE_CLAIM'))).toHaveLength(1);
  });
});
