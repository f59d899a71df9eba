/** STEP_TYPE_CALLBACK: an app's process runs the handler that it registered. */
import { compileSemaphores } from '../computing/semaphores.js';
import { compileKey, compileTemplate } from '../computing/template.js';
import type { LiteralField } from '../computing/field-spec.js';
import { TASK_NAME } from '../names.js';
import { durationOr, durationOrNull, retryPlan, STEP_DEFAULTS } from '../retry.js';
import type { StepType } from './step-type.js';

const HANDLER: LiteralField = {
  kind: 'literal',
  isRequired: false,
  example: '"score-lead"',
  computable: { why: 'workers are matched by the names of handlers, which must be known before a run' },
  problem: (value) =>
    typeof value === 'string' && TASK_NAME.test(value)
      ? undefined
      : 'is not a name of letters, digits, "_", "-", ".", "/" and ":", at most 128',
};

/** args: handler (default: the step's ref). Receives `input` (default: the run's input). */
export const CALLBACK: StepType = {
  name: 'STEP_TYPE_CALLBACK',
  options: new Set([
    ...(['input', 'retry', 'timeout', 'cancel_timeout', 'queue'] as const),
    ...(['schedule_to_start_timeout', 'heartbeat_timeout'] as const),
    ...(['priority', 'fairness_key', 'cost', 'idempotency_key'] as const),
    ...(['concurrency', 'rate_limit'] as const),
  ]),
  canTimeOut: () => true,
  canCompensate: true,
  fieldsOf: () => ({ handler: HANDLER }),
  canFail: () => true,
  compile(step, cel) {
    const handler = step.args?.['handler'];
    return {
      type: 'CALLBACK',
      handler: typeof handler === 'string' ? handler : step.ref,
      queue: step.queue ?? STEP_DEFAULTS.queue,
      input: compileTemplate(cel, step.input === undefined ? 'input' : step.input, 'input'),
      retry: retryPlan(step.retry),
      timeoutMs: durationOr(step.timeout, STEP_DEFAULTS.timeoutMs),
      cancelTimeoutMs: durationOr(step.cancel_timeout, STEP_DEFAULTS.cancelTimeoutMs),
      scheduleToStartTimeoutMs: durationOrNull(step.schedule_to_start_timeout),
      heartbeatTimeoutMs: durationOrNull(step.heartbeat_timeout),
      priority: step.priority ?? null,
      cost: step.cost ?? 1,
      fairnessKey: compileKey(cel, step.fairness_key, 'fairness_key'),
      idempotencyKey: compileKey(cel, step.idempotency_key, 'idempotency_key'),
      semaphores: compileSemaphores(cel, step),
      takes: null,
    };
  },
};
