/** STEP_TYPE_WAIT: a durable timer, for a duration or until an instant. */
import type { JsonValue } from '../../../expressions/index.js';
import { parseDurationMs, parseTimestampUs } from '../../../kernel/index.js';
import { DURATION_EXAMPLE, durationProblem } from '../checking/durations.js';
import { field, jsonKind, type JsonObject } from '../checking/shape.js';
import { computedLiteral, createBuilder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { ExprField, LiteralField } from '../computing/field-spec.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { overScope, type StepType } from './step-type.js';

const MAX_WAIT_US = DEFINITION_LIMITS.waitMs * 1000;

const DURATION: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"2s"',
  computable: true,
  problem: (value) => {
    if (typeof value !== 'string') return `is ${jsonKind(value)}, not a duration`;
    return durationProblem(value, 0, DEFINITION_LIMITS.waitMs);
  },
};

const UNTIL: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"input.due_at" or "timestamp(\\"2026-03-01T09:00:00Z\\")"',
  variables: 'step',
  result: 'dyn',
};

const SCHEDULE: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"duration": "1h"',
  computable: { why: 'waiting for the next slot of a schedule is not supported by this version' },
  problem: () => 'is not supported by this version: a wait for the next slot of a schedule',
};

/** Microseconds of a computed duration: its text (negative ones too), or a number of seconds. Past ones end at once. */
function computedDurationUs(value: JsonValue): number {
  const us =
    typeof value === 'string' ? textDurationUs(value) : typeof value === 'number' ? value * 1_000_000 : Number.NaN;
  if (Number.isNaN(us)) {
    const remedy = `It must be a number of seconds, a duration of CEL, or a text such as ${DURATION_EXAMPLE}.`;
    valueFailed(`args.duration is ${kindOfValue(value)} that is no duration`, remedy);
  }
  if (us > MAX_WAIT_US) valueFailed('args.duration is longer than 3650d', 'Wait less, or in several steps.');
  return Math.max(0, Math.ceil(us));
}

function textDurationUs(text: string): number {
  const ms = parseDurationMs(text.replace(/^-/, ''));
  if (ms === undefined) return Number.NaN;
  return text.startsWith('-') ? 0 : ms * 1000;
}

function computedInstantUs(value: JsonValue, nowUs: number): number {
  const us = typeof value === 'string' ? parseTimestampUs(value) : undefined;
  if (us === undefined) {
    const remedy = 'It must be a timestamp of CEL, or a text of RFC 3339 with its zone: 2026-03-01T09:00:00Z.';
    return valueFailed(`args.until is ${kindOfValue(value)} that is no instant`, remedy);
  }
  if (us - nowUs > MAX_WAIT_US) valueFailed('args.until is more than 3650d away', 'Wait less, or in several steps.');
  return Math.max(us, nowUs);
}

function isComputed(args: JsonObject): boolean {
  return typeof field(args, 'duration') !== 'string';
}

/** args: exactly one of duration (literal) and until (expr). */
export const WAIT: StepType = {
  name: 'STEP_TYPE_WAIT',
  options: new Set(),
  fieldsOf: () => ({ duration: DURATION, until: UNTIL, schedule: SCHEDULE }),
  check({ problems }, path, args) {
    const [duration, until, schedule] = ['duration', 'until', 'schedule'].map((key) => field(args, key));
    if (schedule !== undefined) return;
    if (duration === undefined && until === undefined) {
      problems.add(path, args, 'says neither duration nor until', 'Add one, such as "duration": "2s".');
    } else if (duration !== undefined && until !== undefined) {
      problems.add(path, args, 'says both duration and until', 'Remove one of them.');
    }
  },
  canFail: isComputed,
  compile({ args = {} }, cel) {
    const build = createBuilder(cel);
    const until = field(args, 'until');
    if (until !== undefined) {
      const instant = build.expr(until, 'args.until', UNTIL);
      const read = overScope(instant, (evaluation) => instant.json(evaluation));
      return { type: 'WAIT', wakeAtUs: (scope, nowUs) => computedInstantUs(read(scope), nowUs) };
    }
    const duration = field(args, 'duration') ?? null;
    const text = computedLiteral(duration);
    if (text === undefined) {
      const us = computedDurationUs(duration);
      return { type: 'WAIT', wakeAtUs: (_scope, nowUs) => nowUs + us };
    }
    const computed = build.expression(text, 'args.duration', 'step');
    const read = overScope(computed, (evaluation) => computed.json(evaluation));
    return { type: 'WAIT', wakeAtUs: (scope, nowUs) => nowUs + computedDurationUs(read(scope)) };
  },
};
