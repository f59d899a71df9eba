import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { jsonValue } from '../machine/index.js';
import { compilePlan, validateDefinition } from './index.js';

const cel = createCelCompiler();
const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] };

function problems(steps: readonly object[], more: object = {}): readonly string[] {
  return validateDefinition({ family_slug: 'f', steps, ...more }, cel).problems.map(
    ({ path, problem }) => `${path}: ${problem}`,
  );
}

describe('signals and approvals in a definition', () => {
  it('say their names, schemas and limits', () => {
    const steps = [
      { ref: 'paid', type: 'STEP_TYPE_SIGNAL', args: { name: 'payment', schema: AMOUNT, timeout: '1h' } },
      { ref: 'again', type: 'STEP_TYPE_SIGNAL', args: { name: 'payment', schema: AMOUNT } },
      {
        ref: 'review',
        type: 'STEP_TYPE_APPROVAL',
        args: {
          assignees: ['input.boss'],
          options: ['yes', 'no'],
          deadline: { expr: 'duration("2h")' },
          escalation: { after: '1h', assignees: '"eve"' },
        },
      },
    ];
    const { definition, problems: found } = validateDefinition({ family_slug: 'f', steps }, cel);
    expect(found).toEqual([]);
    const plan = definition === undefined ? undefined : compilePlan(definition, 1, cel);
    expect(plan?.receives).toBe(true);
    expect([...(plan?.signals.keys() ?? [])]).toEqual(['payment', 'review']);
    expect(plan?.signals.get('payment')?.check(jsonValue({ amount: 'x' }))).toEqual([
      expect.stringMatching(/^payload\.amount: /),
    ]);
    const review = plan?.stepByRef.get('review');
    const scope = { input: () => ({ boss: 'ada' }), stepOutput: () => undefined, stepError: () => undefined, run: {} };
    expect(review?.type === 'APPROVAL' && review.open(scope, 1_000)).toEqual({
      ...{ assignees: ['ada'], options: ['yes', 'no'] },
      escalation: { atUs: 3_600_001_000, assignees: ['eve'] },
    });
    expect(review?.type === 'APPROVAL' && review.deadlineUs(scope, 0)).toBe(7_200_000_000);
  });

  it('are refused where they could not be told apart, or say nothing that can be', () => {
    const approval = { type: 'STEP_TYPE_APPROVAL' };
    expect(
      problems([
        { ref: 'a', type: 'STEP_TYPE_SIGNAL', args: { name: 'x', schema: AMOUNT } },
        { ref: 'b', type: 'STEP_TYPE_SIGNAL', args: { name: 'x' } },
        { ref: 'c', ...approval, args: { name: 'x', options: ['y', 'y'] } },
        { ref: 'd', type: 'STEP_TYPE_SIGNAL', args: { name: 'not a name', timeout: '1 hour', schema: 7 } },
        { ref: 'e', ...approval, args: { options: ['no way'], assignees: ['oops('], escalation: { after: '1h' } } },
      ]),
    ).toEqual(
      expect.arrayContaining([
        'steps[1].args.name: is the signal of step a too, and not the same thing',
        'steps[2].args.name: is the signal of step a too, and not the same thing',
        'steps[2].args.options: names an option twice',
        expect.stringMatching(/^steps\[3\]\.args\.name: is not a name of letters/),
        'steps[3].args.timeout: is not a duration',
        'steps[3].args.schema: is a number, not a JSON Schema',
        expect.stringMatching(/^steps\[4\]\.args\.options\[0\]: is not a name/),
        'steps[4].args.escalation.assignees: is missing',
      ]),
    );
  });

  it('stand in a body only where a name is enough to find them', () => {
    const body = (step: object): object => ({
      ref: 's',
      type: 'STEP_TYPE_SCATTER',
      args: { items: 'input' },
      body: { steps: [step] },
    });
    expect(problems([body({ ref: 'a', type: 'STEP_TYPE_SIGNAL' })])).toEqual([]);
    expect(problems([body({ ref: 'a', type: 'STEP_TYPE_APPROVAL' })])).toEqual([
      'steps[0].body.steps[0].type: is not supported in a body by this version',
    ]);
  });

  it('let an edge wait for their timeout only where they have one', () => {
    const steps = [
      { ref: 'a', type: 'STEP_TYPE_SIGNAL' },
      { ref: 'b', type: 'STEP_TYPE_WAIT', args: { duration: '1s' } },
    ];
    const edges = [{ source_ref: 'a', target_ref: 'b', type: 'EDGE_TYPE_TIMEOUT' }];
    expect(problems(steps, { edges })).toEqual(['steps[1]: cannot be reached: none of its edges can ever fire']);
  });
});
