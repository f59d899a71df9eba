import type { Task as WireTask } from '../../gen/ductor/v1/bridge.js';
import type { Task } from '../ports.js';

/** A task as it travels. The input is not copied. */
export function taskToWire(task: Task, token: Buffer): WireTask {
  const { data, encoding } = task.input;
  return {
    runId: task.runId,
    familySlug: task.familySlug,
    version: task.version,
    path: task.path,
    handler: task.handler,
    attempt: task.attempt,
    token,
    input: { data: Buffer.from(data.buffer, data.byteOffset, data.byteLength), encoding },
    idempotencyKey: task.idempotencyKey,
    timeoutMs: task.timeoutMs,
    lastProgress: undefined,
  };
}
