/** Tasks for tests of the bridge. */
import type { Task } from '../ports.js';

/** A tenant id by a small number. */
export function tenantId(number: number): string {
  return `00000000-0000-7000-8000-${(0xa000_0000 + number).toString(16).padStart(12, '0')}`;
}

/** A run id by a number; its shard is the number's last byte. */
export function runId(number: number): string {
  return `00000000-0000-7000-9000-${number.toString(16).padStart(12, '0')}`;
}

/** A task; everything has a default. */
export function task(parts: Partial<Task> = {}): Task {
  return {
    tenantId: tenantId(1),
    runId: runId(1),
    path: 'work',
    attempt: 1,
    familySlug: 'flow',
    version: 1,
    handler: 'work',
    queue: 'default',
    input: { data: Buffer.from('{"n":1}'), encoding: 'json' },
    idempotencyKey: `${parts.runId ?? runId(1)}/work`,
    timeoutMs: 60_000,
    heartbeatTimeoutMs: null,
    lastProgress: null,
    priority: 3,
    fairnessKey: '',
    slots: 1,
    ...parts,
  };
}
