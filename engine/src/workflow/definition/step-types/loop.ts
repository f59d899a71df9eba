/** STEP_TYPE_LOOP: runs its body until a condition holds. */
import { field, type JsonObject } from '../checking/shape.js';
import { compileCondition, compileTemplate } from '../computing/template.js';
import { valueFailed } from '../computing/computed.js';
import type { LiteralField } from '../computing/field-spec.js';
import { DEFINITION_LIMITS } from '../limits.js';
import type { StepType } from './step-type.js';

/** An expression of the body: checked with what is read there. */
const UNTIL: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"steps.check.output.state == \\"done\\""',
  computable: { why: 'it is an expression as it stands' },
  problem: (value) => (typeof value === 'string' && value !== '' ? undefined : 'is not a CEL expression'),
};

const MAX_ITERATIONS: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '100',
  computable: { why: 'it bounds the run, which must be known before it' },
  problem: (value) => {
    const max = DEFINITION_LIMITS.iterations;
    const isFine = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max;
    return isFine ? undefined : `is not a whole number from 1 to ${max}`;
  },
};

function untilOf(args: JsonObject): string {
  const until = field(args, 'until');
  return typeof until === 'string' ? until : '';
}

/** args: until (expr, asked in the body once an iteration has ended), max_iterations, vars (template; default null). */
export const LOOP: StepType = {
  name: 'STEP_TYPE_LOOP',
  options: new Set(),
  fieldsOf: () => ({
    until: UNTIL,
    max_iterations: MAX_ITERATIONS,
    vars: { kind: 'template', isRequired: false, example: '{"cursor": "null"}', variables: 'step' },
  }),
  canFail: () => true,
  // It fails as its iteration does, by a timeout too.
  canTimeOut: () => true,
  body: { variables: ['index', 'vars'], conditions: ['until'] },
  compile: ({ args = {} }, cel, body) => {
    const inside = body();
    const condition = compileCondition(inside.cel, untilOf(args), 'args.until');
    const most = field(args, 'max_iterations');
    return {
      type: 'LOOP',
      vars: compileTemplate(cel, field(args, 'vars') ?? null, 'args.vars'),
      until: (scope) => {
        const holds = condition.evaluate(scope);
        return typeof holds === 'boolean' ? holds : valueFailed('args.until is no bool', 'Compare something.');
      },
      maxIterations: typeof most === 'number' ? most : 1,
      body: inside.body,
    };
  },
};
