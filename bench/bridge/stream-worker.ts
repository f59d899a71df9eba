/** The worker of stream.ts: answers each task at once. */
import { credentials } from '@grpc/grpc-js';
import {
  BridgeServiceClient,
  WorkRequest,
  type TaskResult,
  type WorkResponse,
} from '../../engine/src/gen/ductor/v1/bridge.js';

const [port, slots] = process.argv.slice(2).map(Number);
const client = new BridgeServiceClient(`127.0.0.1:${port}`, credentials.createInsecure());
const stream = client.work();
const output = { data: Buffer.from('{"ok":true}'), encoding: 'json' };
let resultId = 0n;
let results: TaskResult[] = [];

/** Everything that was done in a turn goes as one message, as the SDK sends it. */
function flush(): void {
  stream.write(WorkRequest.fromPartial({ results, credits: results.length }));
  results = [];
}

stream.on('data', ({ tasks, ping }: WorkResponse) => {
  if (ping > 0n) stream.write(WorkRequest.fromPartial({ pong: ping }));
  for (const { runId, path, attempt, token } of tasks) {
    if (results.length === 0) setImmediate(flush);
    resultId += 1n;
    results.push({ resultId, runId, path, attempt, token, outcome: { $case: 'output', value: output } });
  }
});
stream.on('error', () => process.exit(0));
stream.write(
  WorkRequest.fromPartial({
    hello: {
      workerId: '00000000-0000-4000-8000-000000000001',
      slots: slots ?? 1,
      workflows: [{ definition: { familySlug: 'flow' }, handlers: ['work'] }],
    },
    credits: slots ?? 1,
  }),
);
