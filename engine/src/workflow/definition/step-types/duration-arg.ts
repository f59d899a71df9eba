/** Durations among the args of steps: literal, or computed when the step begins. */
import type { JsonValue } from '../../../expressions/index.js';
import { parseDurationMs } from '../../../kernel/index.js';
import type { ExpressionScope } from '../../machine/plan.js';
import { DURATION_EXAMPLE, durationProblem } from '../checking/durations.js';
import { jsonKind } from '../checking/shape.js';
import { computedLiteral, type Builder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { LiteralField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { overScope } from './step-type.js';

/** The longest wait, microseconds. */
export const MAX_WAIT_US = DEFINITION_LIMITS.waitMs * 1000;

/**
 * A field that holds a duration, which may be computed.
 *
 * @param example as it is written in a definition
 */
export function durationField(example: string): LiteralField {
  return {
    kind: 'literal',
    isRequired: false,
    example,
    computable: true,
    problem: (value) => {
      if (typeof value !== 'string') return `is ${jsonKind(value)}, not a duration`;
      return durationProblem(value, 0, DEFINITION_LIMITS.waitMs);
    },
  };
}

function textDurationUs(text: string): number {
  const ms = parseDurationMs(text.replace(/^-/, ''));
  if (ms === undefined) return Number.NaN;
  return text.startsWith('-') ? 0 : ms * 1000;
}

/** Microseconds of a duration: its text (negative ones too), or a number of seconds. Past ones end at once. */
function durationUs(value: JsonValue, path: string): number {
  const us =
    typeof value === 'string' ? textDurationUs(value) : typeof value === 'number' ? value * 1_000_000 : Number.NaN;
  if (Number.isNaN(us)) {
    const remedy = `It must be a number of seconds, a duration of CEL, or a text such as ${DURATION_EXAMPLE}.`;
    valueFailed(`${path} is ${kindOfValue(value)} that is no duration`, remedy);
  }
  if (us > MAX_WAIT_US) valueFailed(`${path} is longer than 3650d`, 'Wait less, or in several steps.');
  return Math.max(0, Math.ceil(us));
}

/** Compiles a duration to microseconds. Computed when asked: throws expression_failed when that gives none. */
export function compileDuration(value: Json, path: string, build: Builder): (scope: ExpressionScope) => number {
  const text = computedLiteral(value);
  if (text === undefined) {
    const us = durationUs(value, path);
    return () => us;
  }
  const computed = build.expression(text, path, 'step');
  const read = overScope(computed, (evaluation) => computed.json(evaluation));
  return (scope) => durationUs(read(scope), path);
}
