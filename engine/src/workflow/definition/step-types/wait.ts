/** STEP_TYPE_WAIT: a durable timer, for a duration or until an instant. */
import type { JsonValue } from '../../../expressions/index.js';
import { parseTimestampUs } from '../../../kernel/index.js';
import { field, type JsonObject } from '../checking/shape.js';
import { createBuilder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { ExprField, LiteralField } from '../computing/field-spec.js';
import { compileDuration, durationField, MAX_WAIT_US } from './duration-arg.js';
import { overScope, type StepType } from './step-type.js';

const DURATION = durationField('"2s"');

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
    const us = compileDuration(field(args, 'duration') ?? null, 'args.duration', build);
    return { type: 'WAIT', wakeAtUs: (scope, nowUs) => nowUs + us(scope) };
  },
};
