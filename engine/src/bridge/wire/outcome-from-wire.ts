/** What a worker says of an attempt, as the machine takes it. */
import { jsonTextProblems } from '../../kernel/index.js';
import type { Payload } from '../../gen/ductor/v1/common.js';
import type { SubStepResult, TaskError, TaskResult } from '../../gen/ductor/v1/bridge.js';
import { MAX_CAUSE_MESSAGE_CHARS, MAX_CAUSE_STACK_CHARS, MAX_ERROR_CAUSES } from '../limits.js';
import { MAX_ERROR_CODE_CHARS, MAX_ERROR_MESSAGE_CHARS, MAX_ERROR_STACK_CHARS, MAX_NAME_CHARS } from '../limits.js';
import { MAX_VALUE_BYTES, type AttemptOutcome, type ErrorCause, type SubStep } from '../ports.js';

/** Encodings whose text the engine shows and gives to expressions. */
const READABLE: ReadonlySet<string> = new Set(['', 'json', 'json-typed']);

/** An outcome, and what was wrong with the result if it was not taken as it stood. */
export interface TakenOutcome {
  readonly outcome: AttemptOutcome;
  /** Empty when nothing was. */
  readonly problem: string;
}

/** A failure in place of a result that cannot be taken: without it the attempt would run into its timeout. */
function failedInstead(code: string, problem: string): TakenOutcome {
  const outcome = {
    kind: 'failed',
    code,
    message: problem,
    stack: '',
    nonRetryable: true,
    retryAfterMs: null,
  } as const;
  return { outcome, problem };
}

function completed(what: string, { data, encoding }: Payload): TakenOutcome {
  if (data.length > MAX_VALUE_BYTES) {
    const problem = `${what} has ${data.length} bytes, at most ${MAX_VALUE_BYTES} are allowed`;
    return failedInstead('value_too_large', `${problem}; store it elsewhere and answer a reference`);
  }
  if (encoding.length > MAX_NAME_CHARS) {
    return failedInstead('invalid_argument', `the encoding of ${what} has ${encoding.length} characters`);
  }
  const [wrong] = READABLE.has(encoding) ? jsonTextProblems(data) : [];
  if (wrong !== undefined) {
    const where = wrong.path === '' ? '' : ` at ${wrong.path}`;
    return failedInstead('invalid_argument', `${what} ${wrong.problem}${where}; ${wrong.remedy}`);
  }
  return { outcome: { kind: 'completed', output: { data, encoding: encoding || 'json' } }, problem: '' };
}

/** What is behind an error, cut where it is too long; what names no error before it is the failure's own. */
function causesOf(causes: TaskError['causes']): readonly ErrorCause[] {
  return causes.slice(0, MAX_ERROR_CAUSES).map(({ name, message, stack, of, isMember }, index) => ({
    name: name.slice(0, MAX_ERROR_CODE_CHARS),
    message: message.slice(0, MAX_CAUSE_MESSAGE_CHARS),
    stack: stack.slice(0, MAX_CAUSE_STACK_CHARS),
    of: of <= index ? of : 0,
    isMember,
  }));
}

function failed({ code, message, stack, nonRetryable, retryAfterMs, causes }: TaskError): TakenOutcome {
  const outcome = {
    kind: 'failed',
    code: code.slice(0, MAX_ERROR_CODE_CHARS) || 'Error',
    message: message.slice(0, MAX_ERROR_MESSAGE_CHARS),
    stack: stack.slice(0, MAX_ERROR_STACK_CHARS),
    nonRetryable,
    retryAfterMs: retryAfterMs === 0 ? null : retryAfterMs,
    ...(causes.length === 0 ? {} : { causes: causesOf(causes) }),
  } as const;
  return { outcome, problem: '' };
}

/** The outcome of a result. */
export function outcomeFromWire({ path, outcome }: Pick<TaskResult, 'path' | 'outcome'>): TakenOutcome {
  switch (outcome?.$case) {
    case 'output':
      return completed(`the output of step ${path}`, outcome.value);
    case 'error':
      return failed(outcome.value);
    case 'cancelled':
      return { outcome: { kind: 'cancelled' }, problem: '' };
    case undefined:
      return failedInstead('invalid_argument', 'the result says neither output nor error nor cancelled');
  }
}

/** A part of the work of a body as the coordinator takes it, or why it cannot be taken. */
export function subStepFromWire({
  path,
  name,
  output,
}: Pick<SubStepResult, 'path' | 'name' | 'output'>): SubStep | { readonly problem: string } {
  if (name === '' || name.length > MAX_NAME_CHARS) {
    return { problem: `the name of a sub-step has ${name.length} characters, 1 to ${MAX_NAME_CHARS} are allowed` };
  }
  if (output === undefined) return { problem: `sub-step ${name} of step ${path} has no output` };
  const { outcome, problem } = completed(`the output of sub-step ${name} of step ${path}`, output);
  return outcome.kind === 'completed' ? { name, output: outcome.output } : { problem };
}
