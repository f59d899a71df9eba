/** Checks retries and timeouts of a step. */
import { parseDurationMs } from '../../../kernel/index.js';
import type { Json } from '../definition.js';
import { DEFINITION_LIMITS } from '../limits.js';
import { retryPlan } from '../retry.js';
import { DURATION_EXAMPLE, durationProblem } from './durations.js';
import { childPath } from './problems.js';
import {
  field,
  optionalList,
  optionalNumber,
  optionalText,
  readObject,
  refuseUnknown,
  type ObjectReader,
} from './shape.js';

const RETRY_FIELDS = ['max_attempts', 'initial_interval', 'backoff', 'max_interval', 'jitter', 'non_retryable'].concat(
  'total_timeout',
);
const MAX_CODE = 128;

/** Checks an optional duration; returns its text when it is fine. */
export function checkDuration(reader: ObjectReader, key: string, minMs: number, maxMs: number): string | undefined {
  const text = optionalText(reader, key);
  if (text === undefined) return undefined;
  const problem = durationProblem(text, minMs, maxMs);
  if (problem === undefined) return text;
  reader.problems.add(childPath(reader.path, key), text, problem, `Write it such as ${DURATION_EXAMPLE}.`);
  return undefined;
}

function checkNonRetryable(reader: ObjectReader): void {
  const codes = optionalList(reader, 'non_retryable') ?? [];
  const path = childPath(reader.path, 'non_retryable');
  if (codes.length > DEFINITION_LIMITS.nonRetryable) {
    const problem = `has more than ${DEFINITION_LIMITS.nonRetryable} codes`;
    reader.problems.add(path, codes.length, problem, 'List the codes of errors that end the step at once.');
  }
  for (const [index, code] of codes.entries()) {
    if (typeof code === 'string' && code.length > 0 && code.length <= MAX_CODE) continue;
    const remedy = 'Use the name or code of an error, such as "ValidationError".';
    reader.problems.add(childPath(path, index), code, `is not a text of 1 to ${MAX_CODE} characters`, remedy);
  }
}

/** Checks `retry`. */
export function checkRetry(step: ObjectReader): void {
  const value: Json | undefined = field(step.object, 'retry');
  if (value === undefined) return;
  const reader = readObject(step.problems, childPath(step.path, 'retry'), value);
  if (reader === undefined) return;
  refuseUnknown(reader, RETRY_FIELDS, 'retry');
  optionalNumber(reader, 'max_attempts', { min: 1, max: DEFINITION_LIMITS.maxAttempts, isWhole: true });
  optionalNumber(reader, 'backoff', { min: 1, max: DEFINITION_LIMITS.backoff });
  optionalNumber(reader, 'jitter', { min: 0, max: 1 });
  const initial = checkDuration(reader, 'initial_interval', 1, DEFINITION_LIMITS.intervalMs);
  const max = checkDuration(reader, 'max_interval', 1, DEFINITION_LIMITS.intervalMs);
  checkDuration(reader, 'total_timeout', 1, DEFINITION_LIMITS.waitMs);
  const { initialIntervalMs } = retryPlan(initial === undefined ? {} : { initial_interval: initial });
  const maxMs = max === undefined ? undefined : parseDurationMs(max);
  if (maxMs !== undefined && maxMs < initialIntervalMs) {
    const remedy = 'Raise max_interval, or lower initial_interval (default "1s").';
    reader.problems.add(childPath(reader.path, 'max_interval'), max, 'is shorter than initial_interval', remedy);
  }
  checkNonRetryable(reader);
}
