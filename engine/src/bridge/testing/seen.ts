/** Looks at what a stream of the harness got, and what goes into it. */
import type { DeepPartial } from '../../gen/google/protobuf/struct.js';
import type { TaskResult } from '../../gen/ductor/v1/bridge.js';
import type { AttemptRef, Task } from '../ports.js';
import type { FakeWorker } from './harness.js';
import { runId, task } from './tasks.js';

/** Only the names of an attempt. */
export const refOf = ({ tenantId, runId: run, path, attempt }: AttemptRef): AttemptRef => ({
  tenantId,
  runId: run,
  path,
  attempt,
});

/** Run ids of all tasks received. */
export const tasksOf = ({ received }: FakeWorker): string[] =>
  received.flatMap(({ tasks }) => tasks.map((it) => it.runId));

/** All acknowledgements received. */
export const acksOf = ({ received }: FakeWorker): unknown[] => received.flatMap(({ acks }) => acks);

/** All aborts received. */
export const abortsOf = ({ received }: FakeWorker): unknown[] => received.flatMap(({ aborts }) => aborts);

/** Tasks of runs numbered on. */
export const some = (count: number, from = 0, parts: Partial<Task> = {}): Task[] =>
  Array.from({ length: count }, (_, run) => task({ runId: runId(from + run), ...parts }));

/** Two tasks. */
export const two = (): [Task, Task] => [task({ runId: runId(0) }), task({ runId: runId(1) })];

/** A result of an attempt. */
export function resultOf(
  token: Buffer,
  attempt: AttemptRef,
  parts: DeepPartial<TaskResult> = {},
): DeepPartial<TaskResult> {
  const { runId: run, path, attempt: number } = attempt;
  const outcome = { $case: 'output' as const, value: { data: Buffer.from('1'), encoding: '' } };
  return { resultId: 1n, runId: run, path, attempt: number, token, outcome, ...parts };
}
