import { describe, expect, it } from 'vitest';
import { InvokeRequest } from '../../gen/ductor/v1/callback.js';
import type { SubStepResult, TaskResult } from '../../gen/ductor/v1/bridge.js';
import { clusterSecret, DuctorError } from '../../kernel/index.js';
import type { Endpoint } from '../endpoint/endpoint.js';
import type { AttemptRef, Task } from '../ports.js';
import { bridgeHarness, promises, workerId, type BridgeHarness } from '../testing/harness.js';
import { some } from '../testing/seen.js';
import { runId, task, tenantId } from '../testing/tasks.js';
import type { CallbackCall, CallbackCaller } from './caller.js';
import { EndpointWorker } from './endpoint-worker.js';
import { callbackSigner } from './signer.js';

/** A call that the test answers. */
interface OpenCall extends CallbackCall {
  readonly request: InvokeRequest;
  answer(parts?: Partial<TaskResult>): void;
  /** Says that these sub-steps are done. */
  did(names: readonly string[], parts?: Partial<SubStepResult>): void;
  fail(error: DuctorError): void;
}

interface Fixture extends BridgeHarness {
  readonly calls: OpenCall[];
  readonly worker: EndpointWorker;
  /** Lets everything happen that is due. */
  readonly turn: () => Promise<void>;
  readonly dispatch: (tasks: readonly Task[]) => Promise<void>;
}

const ENDPOINT: Endpoint = {
  ...{ tenantId: tenantId(1), endpointId: workerId(9), name: 'web', form: 'http', url: 'https://a/', audience: 'a' },
  ...{ queues: ['default'], concurrency: 10, timeoutMs: 30_000, revision: 1, createdAtUs: 0, updatedAtUs: 0 },
  strategies: [],
  workflows: [{ familySlug: 'flow', handlers: ['work'], pinnedVersion: null }],
};
const OUTPUT = { $case: 'output', value: { data: Buffer.from('1'), encoding: '' } } as const;
const down = (): DuctorError => new DuctorError('host_unreachable', 'nobody is there');

/** An endpoint on a bridge, with calls that are written down. */
async function endpoint(parts: Partial<Endpoint> = {}, nodes = 1, hasHeartbeats = true): Promise<Fixture> {
  const harness = bridgeHarness();
  const { bridge, clock } = harness;
  const calls: OpenCall[] = [];
  const call: CallbackCaller['call'] = (made) =>
    new Promise((resolve, reject) => {
      const request = InvokeRequest.decode(made.body);
      const { runId: run = '', path = '', attempt = 0, token = Buffer.alloc(0) } = request.task ?? {};
      const result = { resultId: 0n, runId: run, path, attempt, token, outcome: OUTPUT };
      const gone = (): void => reject(new DuctorError('request_cancelled', 'given up'));
      made.signal.addEventListener('abort', gone);
      const part = { resultId: 0n, runId: run, path, attempt, token, output: OUTPUT.value };
      calls.push({
        ...{ ...made, request, fail: reject },
        answer: (other = {}) => resolve({ $case: 'result', value: { ...result, ...other } }),
        did: (names, other = {}) =>
          resolve({ $case: 'subResults', value: { results: names.map((name) => ({ ...part, name, ...other })) } }),
      });
    });
  let ids = 100;
  const worker = new EndpointWorker(
    {
      ...{ bridge, clock, newId: () => workerId((ids += 1)), nodes: () => nodes, log: () => undefined },
      signer: callbackSigner(clusterSecret('a secret for tests, 32 bytes long')),
      callerOf: () => ({ hasHeartbeats, call, close: () => undefined }),
    },
    { ...ENDPOINT, ...parts },
  );
  const turn = async (): Promise<void> => {
    for (let count = 0; count < 5; count += 1) {
      clock.settle();
      await promises();
    }
  };
  worker.start();
  await turn();
  const dispatch = async (tasks: readonly Task[]): Promise<void> => {
    bridge.dispatch(tasks);
    await turn();
  };
  return { ...harness, calls, worker, turn, dispatch };
}

/** Lets calls fail until the circuit is open. */
async function tripped(parts: Partial<Endpoint> = {}): Promise<Fixture> {
  const fixture = await endpoint(parts);
  await fixture.dispatch(some(5));
  for (const { fail } of fixture.calls) fail(down());
  await fixture.turn();
  return fixture;
}

const attemptOf = ({ runId: run, path, attempt }: AttemptRef): unknown => [run, path, attempt];

describe('an endpoint’s worker', () => {
  it('calls with the task, for the endpoint’s audience, and hands the result in', async () => {
    const { calls, dispatch, turn, told } = await endpoint();
    await dispatch([task()]);
    expect(calls).toMatchObject([{ url: 'https://a/', timeoutMs: 30_000, request: { audience: 'a' } }]);
    expect(calls[0]?.request.task).toMatchObject({ runId: runId(1), path: 'work', attempt: 1, timeoutMs: 30_000 });
    calls[0]?.answer();
    await turn();
    expect(told.settled).toMatchObject([{ outcome: { kind: 'completed' } }]);
    expect(told.settled.map(({ ref }) => attemptOf(ref))).toEqual([[runId(1), 'work', 1]]);
  });

  it('has at most its share of calls under way', async () => {
    const { calls, dispatch, turn, worker } = await endpoint({ concurrency: 10 }, 3);
    await dispatch(some(8));
    expect(calls).toHaveLength(3);
    calls[0]?.answer();
    await turn();
    expect([calls.length, worker.status().inFlight]).toEqual([4, 3]);
  });

  it('takes an answer about something else, or about nothing, for a failure', async () => {
    for (const wrong of [
      { token: Buffer.from('x') },
      { attempt: 2 },
      { path: 'other' },
      { runId: runId(7) },
      { outcome: undefined },
    ]) {
      const { calls, dispatch, turn, told } = await endpoint();
      await dispatch([task()]);
      calls[0]?.answer(wrong);
      await turn();
      const failed = { kind: 'failed', code: 'callback_invalid', nonRetryable: false };
      expect(told.settled).toMatchObject([{ ref: { runId: runId(1), attempt: 1 }, outcome: failed }]);
    }
  });

  it('gives a call up after the shorter of the two times, as a timeout', async () => {
    for (const [timeoutMs, endpointMs] of [
      [60_000, 2_000],
      [2_000, 60_000],
    ] as const) {
      const { dispatch, turn, told, clock, calls } = await endpoint({ timeoutMs: endpointMs });
      await dispatch([task({ timeoutMs })]);
      clock.advance(1_999);
      await turn();
      expect(told.settled).toEqual([]);
      clock.advance(1);
      await turn();
      expect(calls[0]?.signal.aborted).toBe(true);
      expect(told.settled).toMatchObject([{ outcome: { kind: 'failed', code: 'timeout', nonRetryable: false } }]);
    }
  });

  it('tells the app of a cancel, and the engine that it ended', async () => {
    const { dispatch, turn, told, bridge, calls, worker } = await endpoint();
    await dispatch([task()]);
    bridge.abort([{ ...task(), reason: 'cancelled' }]);
    await turn();
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(told.settled).toMatchObject([{ outcome: { kind: 'cancelled' } }]);
    expect(worker.status().failures).toBe(0);
  });

  it('beats for a form without heartbeats, only where the step asks for them', async () => {
    const { dispatch, turn, told, clock, calls } = await endpoint({}, 1, false);
    await dispatch([task({ heartbeatTimeoutMs: 3_000 }), task({ runId: runId(2) })]);
    clock.advance(1_000);
    await turn();
    expect(told.beats.map(({ ref }) => ref.runId)).toEqual([runId(1), runId(1)]);
    for (const { answer } of calls) answer();
    await turn();
    clock.advance(5_000);
    await turn();
    expect(told.beats).toHaveLength(2);
  });
});

describe('the circuit of an endpoint', () => {
  it('opens after five failures: tasks wait and no attempt is spent', async () => {
    const { calls, dispatch, told, worker, bridge } = await tripped();
    expect(worker.status()).toMatchObject({ circuit: 'open', failures: 5, lastError: expect.stringMatching(/nobody/) });
    await dispatch(some(3, 10));
    expect([calls.length, told.settled.length, bridge.stats().queuedTasks]).toEqual([5, 5, 3]);
  });

  it('lets exactly one call try, and closes when that works', async () => {
    const { calls, dispatch, turn, clock, worker } = await tripped();
    await dispatch(some(6, 10));
    clock.advance(1_000);
    await turn();
    expect([calls.length, worker.status().circuit]).toEqual([6, 'half_open']);
    calls[5]?.answer();
    await turn();
    expect([calls.length, worker.status().circuit]).toEqual([11, 'closed']);
  });

  it('stays open twice as long when it does not', async () => {
    const { calls, dispatch, turn, clock } = await tripped();
    await dispatch(some(6, 10));
    clock.advance(1_000);
    await turn();
    calls[5]?.fail(down());
    await turn();
    clock.advance(1_999);
    await turn();
    expect(calls).toHaveLength(6);
    clock.advance(1);
    await turn();
    expect(calls).toHaveLength(7);
  });
});

describe('an endpoint that goes', () => {
  it('takes no more, finishes what it has, and leaves', async () => {
    const { calls, dispatch, turn, told, worker, bridge } = await endpoint();
    await dispatch([task()]);
    const drained = worker.drain().then(() => worker.leave());
    await turn();
    await dispatch(some(1, 5));
    expect(calls).toHaveLength(1);
    calls[0]?.answer();
    await drained;
    await turn();
    told.settled[0]?.answer('recorded');
    await turn();
    expect(bridge.stats()).toMatchObject({ sessions: 0, queuedTasks: 1 });
  });
});

describe('an app that answers with sub-steps', () => {
  it('is called again for the attempt once they are recorded, for the rest of its time', async () => {
    const { calls, clock, dispatch, turn, told } = await endpoint();
    await dispatch([task({ timeoutMs: 40_000 })]);
    clock.advance(15_000);
    calls[0]?.did(['a', 'b']);
    await turn();
    expect([calls.length, told.kept.map(({ subStep }) => subStep.name)]).toEqual([1, ['a', 'b']]);
    for (const { answer } of told.kept) answer('recorded');
    await turn();
    expect(calls[1]?.request.task).toMatchObject({ attempt: 1, timeoutMs: 25_000 });
    expect(calls[1]?.request.task?.subSteps.map(({ name }) => name)).toEqual(['a', 'b']);
    calls[1]?.did(['b', 'c']);
    await turn();
    expect(told.kept.map(({ subStep }) => subStep.name)).toEqual(['a', 'b', 'c']);
    told.kept[2]?.answer('recorded');
    await turn();
    calls[2]?.answer();
    await turn();
    expect(told.settled).toMatchObject([{ outcome: { kind: 'completed' } }]);
  });

  it('fails when they are of something else, nothing new, or refused', async () => {
    for (const [names, parts] of [
      [['a'], { attempt: 2 }],
      [['a'], { token: Buffer.from('x') }],
      [['a'], { output: undefined }],
      [[], {}],
    ] as const) {
      const { calls, dispatch, turn, told } = await endpoint();
      await dispatch([task()]);
      calls[0]?.did(names, parts);
      await turn();
      expect(told.settled).toMatchObject([{ outcome: { kind: 'failed', code: 'callback_invalid' } }]);
    }
  });

  it('is not called again when the attempt has ended meanwhile', async () => {
    const { calls, dispatch, turn, told } = await endpoint();
    await dispatch([task()]);
    calls[0]?.did(['a']);
    await turn();
    told.kept[0]?.answer('already_settled');
    await turn();
    expect([calls.length, told.settled.length]).toEqual([1, 1]);
  });
});
