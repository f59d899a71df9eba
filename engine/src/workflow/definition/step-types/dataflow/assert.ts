/** assert: fails the step unless all conditions hold. */
import type { JsonValue } from '../../../../expressions/index.js';
import { DuctorError } from '../../../../kernel/index.js';
import { isJsonObject } from '../../checking/shape.js';
import type { Builder } from '../../computing/builder.js';
import { jsonComputed, type Computed } from '../../computing/computed.js';
import type { ExprField, LiteralField } from '../../computing/field-spec.js';
import type { Json } from '../../definition.js';
import { argOf, asBoolean, isList, type Operation } from './operation.js';

const MAX_MESSAGE = 1000;

const THAT: ExprField = {
  kind: 'expr',
  isRequired: true,
  example: '"input.amount > 0.0"',
  variables: 'step',
  result: 'bool',
};

const MESSAGE: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"the amount must be positive"',
  computable: true,
  problem: (value) =>
    typeof value === 'string' && value.length > 0 && value.length <= MAX_MESSAGE
      ? undefined
      : `is not a text of 1 to ${MAX_MESSAGE} characters`,
};

interface Assertion {
  readonly that: Computed;
  readonly message: Computed;
  readonly place: string;
}

function compileAssertion(value: Json, index: number, build: Builder): Assertion {
  const entry = isJsonObject(value) ? value : {};
  const place = `args.assert[${index}]`;
  const that = argOf(entry, 'that');
  return {
    that: build.expr(that, `${place}.that`, THAT),
    message: build.literal(entry['message'] ?? `${JSON.stringify(that)} does not hold`, `${place}.message`, MESSAGE),
    place,
  };
}

/** The message has been checked to be a text, when it was validated or computed. */
function textOf(message: JsonValue): string {
  return typeof message === 'string' ? message : JSON.stringify(message);
}

/** True when all conditions hold; the first that does not fails the step with assertion_failed and its message. */
export const ASSERT: Operation = {
  name: 'assert',
  fields: {
    assert: {
      kind: 'list',
      isRequired: true,
      example: '[{"that": "input.amount > 0.0", "message": "the amount must be positive"}]',
      item: {
        kind: 'object',
        isRequired: true,
        example: '{"that": "input.amount > 0.0"}',
        fields: { that: THAT, message: MESSAGE },
      },
    },
  },
  compile(args, build) {
    const list = argOf(args, 'assert');
    const assertions = (isList(list) ? list : []).map((value, index) => compileAssertion(value, index, build));
    const references = assertions.flatMap(({ that, message }) => [...that.references, ...message.references]);
    return jsonComputed(references, (evaluation) => {
      for (const { that, message, place } of assertions) {
        if (asBoolean(that.json(evaluation), `${place}.that`)) continue;
        throw new DuctorError('assertion_failed', `${place}: ${textOf(message.json(evaluation))}`);
      }
      return true;
    });
  },
};
