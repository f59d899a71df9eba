/** Batches of triggers over a stream to a server of this process, which answers, breaks, ends and keeps silent. */
import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  RunServiceClient,
  RunServiceService,
  TriggerOutcome,
  TriggerRunRequest,
  type StreamTriggersRequest,
  type StreamTriggersResponse,
} from '../gen/ductor/v1/run.js';
import { resolveConnection } from '../connection/connection.js';
import { machine } from '../connection/system.js';
import { TriggerStream } from './trigger-stream.js';

type ServerCall = ServerDuplexStream<StreamTriggersRequest, StreamTriggersResponse>;

const LIMIT_MS = 5_000;
let server: Server;
let client: RunServiceClient;
let stream: TriggerStream;
/** Streams that were opened, in order. */
let calls: ServerCall[];
let received: StreamTriggersRequest[];
/** How the server takes a batch. */
let onBatch: (call: ServerCall, batch: StreamTriggersRequest) => void;

const batch = (...slugs: string[]): TriggerRunRequest[] =>
  slugs.map((familySlug) => TriggerRunRequest.fromPartial({ familySlug }));

function answer(call: ServerCall, { batchId, items }: StreamTriggersRequest): void {
  const outcomes = items.map(({ familySlug }) => TriggerOutcome.fromPartial({ runId: `run-${familySlug}` }));
  call.write({ batchId, outcomes });
}

beforeEach(async () => {
  [calls, received, onBatch] = [[], [], answer];
  server = new Server();
  server.addService(
    { streamTriggers: RunServiceService.streamTriggers },
    {
      streamTriggers(call: ServerCall) {
        calls.push(call);
        call.on('end', () => call.end());
        call.on('data', (message: StreamTriggersRequest) => {
          received.push(message);
          onBatch(call, message);
        });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const connection = resolveConnection({ engine: `127.0.0.1:${port}`, apiKey: 'dk_test' });
  client = new RunServiceClient(`127.0.0.1:${port}`, connection.credentials);
  stream = new TriggerStream(client, connection, machine);
});
afterEach(() => {
  stream.close();
  client.close();
  server.forceShutdown();
});

const ids = (outcomes: readonly TriggerOutcome[]): readonly string[] => outcomes.map(({ runId }) => runId);

it('gives each batch its own answer, in whatever order they come', async () => {
  onBatch = (call, message) => {
    if (received.length < 2) return;
    answer(call, message);
    answer(call, received[0] ?? message);
  };
  const both = await Promise.all([stream.send(batch('a', 'b'), LIMIT_MS), stream.send(batch('c'), LIMIT_MS)]);
  expect(both.map(ids)).toEqual([['run-a', 'run-b'], ['run-c']]);
  expect(calls).toHaveLength(1);
});

it('refuses what was under way when the stream breaks, sends none of it again, and opens another', async () => {
  onBatch = (call) => void call.emit('error', { code: status.UNAVAILABLE, details: 'gone' });
  const lost = await Promise.allSettled([stream.send(batch('a'), LIMIT_MS), stream.send(batch('b'), LIMIT_MS)]);
  expect(lost).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'engine_unreachable', retryable: true }) },
    { status: 'rejected', reason: expect.objectContaining({ code: 'engine_unreachable', retryable: true }) },
  ]);
  onBatch = answer;
  expect(ids(await stream.send(batch('c'), LIMIT_MS))).toEqual(['run-c']);
  expect(received.map(({ items }) => items[0]?.familySlug).filter((slug) => slug === 'a')).toHaveLength(1);
  expect(calls).toHaveLength(2);
});

it('refuses what an engine left unanswered that ended the stream', async () => {
  onBatch = (call) => call.end();
  await expect(stream.send(batch('a'), LIMIT_MS)).rejects.toMatchObject({ code: 'engine_unreachable' });
  onBatch = answer;
  expect(ids(await stream.send(batch('b'), LIMIT_MS))).toEqual(['run-b']);
});

it('waits for an answer as long as it may, and takes a late one for nothing', async () => {
  onBatch = () => undefined;
  await expect(stream.send(batch('a'), 30)).rejects.toMatchObject({ code: 'deadline_exceeded', retryable: true });
  onBatch = (call, message) => {
    for (const each of received) answer(call, each);
    expect(message.items).toHaveLength(1);
  };
  expect(ids(await stream.send(batch('b'), LIMIT_MS))).toEqual(['run-b']);
});

it('refuses everything once it is closed', async () => {
  onBatch = () => undefined;
  const waiting = stream.send(batch('a'), LIMIT_MS);
  stream.close();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  await expect(stream.send(batch('b'), LIMIT_MS)).rejects.toMatchObject({ code: 'cancelled' });
});

it('ends a stream on which nothing happens', async () => {
  await stream.send(batch('a'), LIMIT_MS);
  const ended = new Promise<void>((resolve) => calls[0]?.on('end', resolve));
  await ended;
  expect(ids(await stream.send(batch('b'), LIMIT_MS))).toEqual(['run-b']);
  expect(calls).toHaveLength(2);
});
