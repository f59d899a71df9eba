/** A worker for tests: one raw stream, every message it got, and a way to wait for the next one. */
import type { ClientDuplexStream } from '@grpc/grpc-js';
import {
  WorkRequest,
  type Task,
  type TaskResult,
  type WorkerHello,
  type WorkResponse,
} from '../../../gen/ductor/v1/bridge.js';
import type { DeepPartial } from '../../../gen/google/protobuf/struct.js';
import type { TestClient } from './test-client.js';

/** One stream. */
export interface TestWorker {
  readonly stream: ClientDuplexStream<WorkRequest, WorkResponse>;
  /** Everything received so far. */
  readonly received: WorkResponse[];
  send(message: DeepPartial<WorkRequest>): void;
  /** The first message, received before or yet to come, that the function finds something in. */
  next<T>(find: (message: WorkResponse) => T | undefined, timeoutMs?: number): Promise<T>;
  /** How the stream ended: null is well. */
  readonly ended: Promise<Error | null>;
}

/** Opens a stream and, when a hello is given, sends it. */
export function testWorker(client: TestClient, hello?: DeepPartial<WorkerHello>): TestWorker {
  const stream = client.bridge.work(client.metadata);
  const received: WorkResponse[] = [];
  const listeners = new Set<() => void>();
  stream.on('data', (message: WorkResponse) => {
    received.push(message);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<Error | null>((resolve) => {
    stream.on('error', resolve);
    stream.on('end', () => resolve(null));
  });
  const send = (message: DeepPartial<WorkRequest>): void => void stream.write(WorkRequest.fromPartial(message));
  let looked = 0;
  const next = <T>(find: (message: WorkResponse) => T | undefined, timeoutMs = 5_000): Promise<T> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new TypeError(`no such message within ${timeoutMs} ms`)), timeoutMs);
      const look = (): void => {
        while (looked < received.length) {
          const message = received[looked];
          looked += 1;
          const found = message === undefined ? undefined : find(message);
          if (found === undefined) continue;
          clearTimeout(timer);
          listeners.delete(look);
          resolve(found);
          return;
        }
      };
      listeners.add(look);
      look();
    });
  if (hello !== undefined) send({ hello });
  return { stream, received, send, next, ended };
}

/** The first task of a message. */
export const firstTask = ({ tasks }: WorkResponse): Task | undefined => tasks[0];

/** A result for a task. */
export function resultFor(task: Task, resultId: bigint, output: unknown): DeepPartial<TaskResult> {
  const { runId, path, attempt, token } = task;
  const value = { data: Buffer.from(JSON.stringify(output)), encoding: 'json' };
  return { resultId, runId, path, attempt, token, outcome: { $case: 'output', value } };
}
