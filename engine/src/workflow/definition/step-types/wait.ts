/** STEP_TYPE_WAIT: a durable timer, for a duration, until an instant or until the next slot of a cron pattern. */
import type { JsonValue } from '../../../expressions/index.js';
import { parseTimestampUs } from '../../../kernel/index.js';
import { cronProblem, cronSlots, zoneProblem } from '../../../schedules/index.js';
import { field, isJsonObject, jsonKind, type JsonObject } from '../checking/shape.js';
import { createBuilder } from '../computing/builder.js';
import { kindOfValue, valueFailed } from '../computing/computed.js';
import type { ExprField, LiteralField, ObjectField } from '../computing/field-spec.js';
import type { Json } from '../definition.js';
import { compileDuration, durationField, MAX_WAIT_US } from './duration-arg.js';
import { overScope, type PlanAction, type StepType } from './step-type.js';

const DURATION = durationField('"2s"');

const UNTIL: ExprField = {
  kind: 'expr',
  isRequired: false,
  example: '"input.due_at" or "timestamp(\\"2026-03-01T09:00:00Z\\")"',
  variables: 'step',
  result: 'dyn',
};

/** A literal text that cannot be computed: what a published version waits for can be read from it. */
function fixedText(example: string, problemOf: (text: string) => string | undefined): LiteralField {
  return {
    kind: 'literal',
    isRequired: true,
    example,
    computable: { why: 'it is part of the definition' },
    problem: (value: Json) => (typeof value === 'string' ? problemOf(value) : `is ${jsonKind(value)}, not a text`),
  };
}

const SCHEDULE: ObjectField = {
  kind: 'object',
  isRequired: false,
  example: '{"cron": "0 9 * * MON-FRI", "time_zone": "Europe/Berlin"}',
  fields: {
    cron: fixedText('"0 9 * * MON-FRI"', cronProblem),
    time_zone: fixedText('"Europe/Berlin"', zoneProblem),
  },
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
  return field(args, 'schedule') === undefined && typeof field(args, 'duration') !== 'string';
}

/** The next slot, looked up when the step begins: it is written down then, and no later version moves it. */
function untilSlot(schedule: Json): PlanAction {
  const text = (key: string): string => {
    const value = isJsonObject(schedule) ? field(schedule, key) : undefined;
    return typeof value === 'string' ? value : '';
  };
  const slots = cronSlots(text('cron'), text('time_zone'));
  return {
    type: 'WAIT',
    wakeAtUs: (_scope, nowUs) =>
      slots.nextAfter(nowUs) ?? valueFailed('args.schedule has no slot any more', 'Name days that are to come.'),
  };
}

const FORMS = ['duration', 'until', 'schedule'] as const;

/** args: exactly one of duration (literal), until (expr) and schedule. */
export const WAIT: StepType = {
  name: 'STEP_TYPE_WAIT',
  options: new Set(),
  fieldsOf: () => ({ duration: DURATION, until: UNTIL, schedule: SCHEDULE }),
  check({ problems }, path, args) {
    const said = FORMS.filter((form) => field(args, form) !== undefined);
    if (said.length === 0) {
      problems.add(path, args, 'says neither duration nor until nor schedule', 'Add one, such as "duration": "2s".');
    } else if (said.length > 1) {
      problems.add(path, args, `says ${said.join(' and ')}`, 'Leave one of them.');
    }
  },
  canFail: isComputed,
  compile({ args = {} }, cel) {
    const build = createBuilder(cel);
    const schedule = field(args, 'schedule');
    if (schedule !== undefined) return untilSlot(schedule);
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
