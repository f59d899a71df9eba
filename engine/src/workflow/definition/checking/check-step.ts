/** Checks one step: its own fields, what its type takes, its args. */
import type { Join } from '../../machine/plan.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { isStepRef, TASK_NAME } from '../names.js';
import { STEP_TYPES, type StepOption, type StepType } from '../step-types/index.js';
import { didYouMean } from '../suggest.js';
import { readJoin } from './check-join.js';
import { checkDuration, checkRetry } from './check-retry.js';
import { checkSemaphores } from './check-semaphores.js';
import { checkExpression, checkTemplate, type ExpressionChecks } from './expressions.js';
import { checkFields } from './fields.js';
import { childPath } from './problems.js';
import {
  field,
  isJsonObject,
  jsonKind,
  optionalNumber,
  optionalText,
  refuseUnknown,
  requireField,
  requireText,
  type JsonObject,
  type ObjectReader,
} from './shape.js';

const OPTIONS: readonly StepOption[] = [
  ...(['input', 'retry', 'timeout', 'cancel_timeout', 'queue'] as const),
  ...(['schedule_to_start_timeout', 'heartbeat_timeout'] as const),
  ...(['priority', 'fairness_key', 'cost', 'idempotency_key'] as const),
  ...(['concurrency', 'rate_limit'] as const),
];
const STEP_FIELDS = ['ref', 'type', 'title', 'args', 'join', 'body', ...OPTIONS];

/** Step types of the language that this version does not have. */
const LATER_TYPES: ReadonlySet<string> = new Set(['ACTION', 'EMIT'].map((name) => `STEP_TYPE_${name}`));

/** A step as far as it could be read. */
export interface ReadStep {
  readonly reader: ObjectReader;
  /** Undefined when missing, malformed or taken. */
  readonly ref: string | undefined;
  readonly type: StepType | undefined;
  readonly args: JsonObject;
  readonly join: Join;
}

/** Checks a text for people: one line, not too long. */
export function checkTitle(reader: ObjectReader): void {
  const title = optionalText(reader, 'title');
  if (title === undefined) return;
  const path = childPath(reader.path, 'title');
  if (title.length > DEFINITION_LIMITS.titleCharacters) {
    reader.problems.add(path, title, `is longer than ${DEFINITION_LIMITS.titleCharacters} characters`, 'Shorten it.');
  }
  if (/\p{Cc}/u.test(title)) reader.problems.add(path, title, 'holds a control character', 'Write one line of text.');
}

function readType(reader: ObjectReader): StepType | undefined {
  const names = [...STEP_TYPES.keys()];
  const value = requireField(reader, 'type', '"STEP_TYPE_CALLBACK"');
  if (value === undefined) return undefined;
  const type = typeof value === 'string' ? STEP_TYPES.get(value) : undefined;
  if (type !== undefined) return type;
  const isLater = typeof value === 'string' && LATER_TYPES.has(value);
  const problem = isLater ? 'is not supported by this version' : 'is no type of step';
  const hint = typeof value === 'string' && !isLater ? didYouMean(value, names) : '';
  reader.problems.add(childPath(reader.path, 'type'), value, problem, `Use one of ${names.join(', ')}.${hint}`);
  return undefined;
}

/** Reads a step and checks all that needs no other step. `isTaken` says whether a ref was used before. */
export function readStep(reader: ObjectReader, isTaken: (ref: string) => boolean): ReadStep {
  refuseUnknown(reader, STEP_FIELDS, 'a step');
  let ref = requireText(reader, 'ref', {
    example: '"score"',
    isFine: isStepRef,
    wanted: 'made of letters, digits, "_" and "-", at most 64 (and not "__proto__")',
  });
  if (ref !== undefined && isTaken(ref)) {
    reader.problems.add(
      childPath(reader.path, 'ref'),
      ref,
      'is the ref of an earlier step',
      'Give each step its own ref.',
    );
    ref = undefined;
  }
  const type = readType(reader);
  checkTitle(reader);
  const args = field(reader.object, 'args') ?? {};
  if (!isJsonObject(args)) {
    reader.problems.add(
      childPath(reader.path, 'args'),
      args,
      `is ${jsonKind(args)}, not an object`,
      'Make it an object.',
    );
  }
  return { reader, ref, type, args: isJsonObject(args) ? args : {}, join: readJoin(reader) };
}

function refuseOptions({ reader }: ReadStep, type: StepType): void {
  for (const option of OPTIONS) {
    const value = field(reader.object, option);
    if (value === undefined || value === '' || type.options.has(option)) continue;
    const remedy = `Remove it: only steps with attempts (STEP_TYPE_CALLBACK and, in part, STEP_TYPE_HTTP) take it.`;
    reader.problems.add(childPath(reader.path, option), value, `has no effect on ${type.name}`, remedy);
  }
}

function checkQueue(reader: ObjectReader): void {
  const queue = optionalText(reader, 'queue');
  if (queue === undefined || TASK_NAME.test(queue)) return;
  const problem = 'is not a name of letters, digits, "_", "-", ".", "/" and ":", at most 128';
  reader.problems.add(childPath(reader.path, 'queue'), queue, problem, 'Rename it, such as "mail".');
}

/** Checks whose turn it is, and what it takes. */
function checkTurns(checks: ExpressionChecks, reader: ObjectReader, { options }: StepType): void {
  if (options.has('priority')) checkPriority(reader);
  if (options.has('concurrency')) checkSemaphores(checks, reader);
  if (options.has('cost')) optionalNumber(reader, 'cost', { min: 1, max: DEFINITION_LIMITS.cost, isWhole: true });
  for (const key of ['fairness_key', 'idempotency_key'] as const) {
    const text = options.has(key) ? optionalText(reader, key) : undefined;
    if (text !== undefined) checkExpression(checks, childPath(reader.path, key), text, 'step');
  }
}

/** Checks `priority`. */
export function checkPriority(reader: ObjectReader): void {
  optionalNumber(reader, 'priority', { min: 1, max: DEFINITION_LIMITS.priorities, isWhole: true });
}

function checkOptions(checks: ExpressionChecks, { reader }: ReadStep, type: StepType): void {
  const input = field(reader.object, 'input');
  if (input !== undefined && type.options.has('input')) {
    checkTemplate(checks, childPath(reader.path, 'input'), input, 'step');
  }
  if (type.options.has('retry')) checkRetry(reader);
  if (type.options.has('timeout')) checkDuration(reader, 'timeout', 1, DEFINITION_LIMITS.intervalMs);
  if (type.options.has('cancel_timeout')) checkDuration(reader, 'cancel_timeout', 0, DEFINITION_LIMITS.cancelTimeoutMs);
  if (type.options.has('queue')) checkQueue(reader);
  if (type.options.has('schedule_to_start_timeout')) {
    checkDuration(reader, 'schedule_to_start_timeout', 1, DEFINITION_LIMITS.waitMs);
  }
  if (type.options.has('heartbeat_timeout')) {
    const { heartbeatMinMs, intervalMs } = DEFINITION_LIMITS;
    checkDuration(reader, 'heartbeat_timeout', heartbeatMinMs, intervalMs);
  }
  checkTurns(checks, reader, type);
}

/** Checks what computes in a step, once the graph is known. */
export function checkStep(checks: ExpressionChecks, step: ReadStep): void {
  const { type, reader, args } = step;
  if (type === undefined) return;
  refuseOptions(step, type);
  checkOptions(checks, step, type);
  const path = childPath(reader.path, 'args');
  const fields = type.fieldsOf(args);
  if (fields !== undefined) checkFields(checks, path, args, fields, `the args of ${type.name}`);
  type.check?.(checks, path, args, field(reader.object, 'body') !== undefined);
}
