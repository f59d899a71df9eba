/** STEP_TYPE_FAIL: ends the run with an error. */
import { field } from '../checking/shape.js';
import { createBuilder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { ExprField, LiteralField } from '../computing/field-spec.js';
import { overScope, type StepType } from './step-type.js';

const CODE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/;
const MAX_MESSAGE = 4096;

const CODE: LiteralField = {
  kind: 'literal',
  isRequired: true,
  example: '"credit_refused"',
  computable: { why: 'people and programs look runs up by their codes' },
  problem: (value) =>
    typeof value === 'string' && CODE_NAME.test(value)
      ? undefined
      : 'is not a code of letters, digits, "_", "-", "." and ":", at most 128',
};

const MESSAGE: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"\\"no credit for \\" + input.customer"',
  variables: 'step',
  result: 'string',
};

/** args: code (literal), message (expr, a string; default: that the step ended the run). */
export const FAIL: StepType = {
  name: 'STEP_TYPE_FAIL',
  options: new Set(),
  fieldsOf: () => ({ code: CODE, message: MESSAGE }),
  canFail: () => true,
  endsRun: true,
  compile({ ref, args = {} }, cel) {
    const code = field(args, 'code');
    const text = field(args, 'message');
    const message = text === undefined ? null : createBuilder(cel).expr(text, 'args.message', MESSAGE);
    return {
      type: 'FAIL',
      code: typeof code === 'string' ? code : 'failed',
      message:
        message === null
          ? () => `step ${ref} ended the run`
          : overScope(message, (evaluation) => {
              const value = message.json(evaluation);
              if (typeof value === 'string') return value.slice(0, MAX_MESSAGE);
              return valueFailed(`args.message is ${kindOfValue(value)}, not a string`, 'Convert it: string(input.a).');
            }),
    };
  },
};
