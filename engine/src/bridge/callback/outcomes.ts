/** What a call to an app means for the attempt. Pure. */
import { equalBytes, type DuctorError } from '../../kernel/index.js';
import type { Task, TaskResult } from '../../gen/ductor/v1/bridge.js';
import type { CallAnswer } from './caller.js';
import { partsProblem } from './sub-step-desk.js';

/** Outcome of a result. */
export type Outcome = TaskResult['outcome'];

/** Why the answer is no result of this attempt; null: it is one. */
function resultProblem(task: Task, result: TaskResult): string | null {
  const isSame = result.runId === task.runId && result.path === task.path && result.attempt === task.attempt;
  if (!isSame || !equalBytes(result.token, task.token)) return 'the app answered with a result of something else';
  return result.outcome === undefined ? 'the app answered neither output nor error' : null;
}

/** Why the answer to a call is none that this attempt may have; null: it is fine. */
export function answerProblem(task: Task, answer: CallAnswer): string | null {
  if (answer.$case === 'strategyAnswer') return 'the app answered a question that was not asked';
  return answer.$case === 'result' ? resultProblem(task, answer.value) : partsProblem(task, answer.value);
}

/**
 * The outcome of a call that brought no result: a failure that another attempt may mend.
 *
 * @param told why the call had been told to stop; null: it had not
 */
export function failureOf({ code, message, retryAfterMs }: DuctorError, told: string | null): Outcome {
  if (told === 'cancelled') return { $case: 'cancelled', value: {} };
  // The engine must know an attempt that took too long as a timeout, whoever noticed first.
  const name = told === 'timed_out' || code === 'deadline_exceeded' ? 'timeout' : code;
  const value = { code: name, message, stack: '', nonRetryable: false, retryAfterMs: retryAfterMs ?? 0, causes: [] };
  return { $case: 'error', value };
}
