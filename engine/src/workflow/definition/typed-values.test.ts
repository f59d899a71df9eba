/** Expressions, schemas and outputs over values that are more than JSON, and over those the engine cannot read. */
import { describe, expect, it } from 'vitest';
import { createCelCompiler } from '../../expressions/index.js';
import { advance, emptyRun, runOutput, type Plan, type RunState } from '../machine/index.js';
import type { Value } from '../machine/value.js';
import { compilePlan, validateDefinition } from './index.js';

const cel = createCelCompiler();
const TYPED = {
  json: {
    due: '2026-01-01T00:00:00.000Z',
    cents: '9007199254740993',
    few: '5',
    huge: '1180591620717411303424',
    none: 'NaN',
    bytes: 'aGk=',
    by: [['eu', ['a', 'b']]],
    pairs: [[1, 'x']],
    list: [null],
  },
  types: [
    [['due'], 'Date'],
    [['cents'], 'bigint'],
    [['few'], 'bigint'],
    [['huge'], 'bigint'],
    [['none'], 'number'],
    [['bytes'], 'Uint8Array'],
    [['by'], 'Map'],
    [['by', 0, 1], 'Set'],
    [['pairs'], 'Map'],
    [['list', 0], 'undefined'],
    [['not', 'there'], 'Date'],
  ],
};

const value = (json: unknown, encoding: string): Value => ({ data: Buffer.from(JSON.stringify(json)), encoding });

function planOf(json: unknown): Plan {
  const { definition, problems } = validateDefinition(json, cel);
  expect(problems).toEqual([]);
  return compilePlan(definition ?? { family_slug: '', steps: [] }, 1, cel);
}

/** A run of DATAFLOW steps, from start to end. */
function run(plan: Plan, input: Value): RunState {
  const key = { tenantId: 't', runId: '00000000-0000-7000-8000-000000000001' };
  const context = { seed: 1, nowUs: 1_700_000_000_000_000, newId: () => '00000000-0000-7000-8000-000000000000' };
  return advance(plan, emptyRun(key), [{ kind: 'start', input, attributes: {} }], context).state;
}

function project(expressions: Readonly<Record<string, string>>, input: Value): unknown {
  const steps = [{ ref: 'a', type: 'STEP_TYPE_DATAFLOW', args: { operation: 'project', project: expressions } }];
  const state = run(planOf({ family_slug: 'f', steps, output: 'steps.a.output' }), input);
  const output = runOutput(state);
  return output === null ? state.error : JSON.parse(Buffer.from(output.data).toString('utf8'));
}

describe('values of json-typed', () => {
  it('are texts, numbers, maps and lists for expressions', () => {
    const found = project(
      {
        later: 'timestamp(input.due) + duration("1h")',
        isDue: 'input.due < "2027"',
        next: 'input.few + 1.0',
        more: 'string(input.cents + 1)',
        huge: 'input.huge',
        isNone: 'input.none != input.none',
        bytes: 'input.bytes',
        first: 'input.by.eu[0]',
        pairs: 'input.pairs',
        list: 'input.list',
      },
      value(TYPED, 'json-typed'),
    );
    expect(found).toEqual({
      later: '2026-01-01T01:00:00Z',
      isDue: true,
      next: 6,
      more: '9007199254740994',
      huge: '1180591620717411303424',
      isNone: true,
      bytes: 'aGk=',
      first: 'a',
      pairs: [[1, 'x']],
      list: [null],
    });
  });

  it('are checked by what JSON has of them, and stand so among the outputs of the last steps', () => {
    const steps = [{ ref: 'a', type: 'STEP_TYPE_COMPLETE', args: { output: 'input' } }];
    const input_schema = { properties: { due: { type: 'string', format: 'date-time' }, cents: { type: 'string' } } };
    const plan = planOf({ family_slug: 'f', steps, input_schema });
    const input = value(TYPED, 'json-typed');
    expect(plan.checkInput(input)).toEqual([]);
    expect(plan.checkInput(value({ json: { due: 1 }, types: [] }, 'json-typed'))).toHaveLength(1);
    expect(plan.checkInput(value({ due: 1 }, 'json-typed'))).toEqual(['input: is not JSON']);
    expect(runOutput(run(plan, input))).toEqual(input);
  });

  it('that are malformed fail the expression', () => {
    expect(project({ x: 'input.due' }, value([], 'json-typed'))).toMatchObject({ code: 'expression_failed' });
  });
});

describe("values in an app's own codec", () => {
  const secret: Value = { data: Buffer.from([1, 2, 3]), encoding: 'codec/aes' };

  it('are passed on whole, and no schema is asked', () => {
    const steps = [{ ref: 'a', type: 'STEP_TYPE_COMPLETE', args: { output: 'input' } }];
    const plan = planOf({ family_slug: 'f', steps, input_schema: { type: 'object' } });
    expect(plan.checkInput(secret)).toEqual([]);
    expect(runOutput(run(plan, secret))).toEqual(secret);
    expect(plan.checkInput({ ...secret, encoding: 'cbor' })).toHaveLength(1);
  });

  it('cannot be computed with, and it is said why', () => {
    expect(project({ x: 'input.amount' }, secret)).toMatchObject({
      code: 'expression_failed',
      message: expect.stringContaining('the input is encoded as "codec/aes"; expressions read only json'),
    });
  });
});
