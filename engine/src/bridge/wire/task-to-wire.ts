import type { Task as WireTask } from '../../gen/ductor/v1/bridge.js';
import type { Payload } from '../../gen/ductor/v1/common.js';
import type { Task, Value } from '../ports.js';

function payloadOf({ data, encoding }: Value): Payload {
  return { data: Buffer.from(data.buffer, data.byteOffset, data.byteLength), encoding };
}

/** A task as it travels. Values are not copied. */
export function taskToWire(task: Task, token: Buffer): WireTask {
  return {
    runId: task.runId,
    familySlug: task.familySlug,
    version: task.version,
    path: task.path,
    handler: task.handler,
    attempt: task.attempt,
    token,
    input: payloadOf(task.input),
    idempotencyKey: task.idempotencyKey,
    timeoutMs: task.timeoutMs,
    lastProgress: task.lastProgress === null ? undefined : payloadOf(task.lastProgress),
    heartbeatTimeoutMs: task.heartbeatTimeoutMs ?? 0,
    traceparent: task.traceparent ?? '',
    slots: task.slots,
    subSteps: (task.subSteps ?? []).map(({ name, output }) => ({ name, output: payloadOf(output) })),
  };
}
