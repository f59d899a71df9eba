/** Requests of people and signs of life of workers, through the coordinator. */
import { describe, expect, it } from 'vitest';
import { jsonValue } from '../machine/index.js';
import { CoordinatorKit, TENANT } from '../testing/coordinator-kit.js';
import { planOf, sequence, type StepSpec } from '../testing/plan-builder.js';

const WORKER = 'worker-1';

type Callback = Extract<StepSpec, { readonly type: 'CALLBACK' }>;

/** A node with one run of the plan, its first attempts queued. */
async function withRun(plan = sequence('a', 'b')) {
  const kit = new CoordinatorKit({ plans: [plan] });
  const node = kit.node();
  await kit.flush();
  node.coordinator.workerConnected(WORKER, []);
  const [run] = await kit.start(node, 1);
  const runId = run?.runId ?? '';
  return { kit, node, runId, key: { tenantId: TENANT, runId }, stored: () => kit.stored(runId) };
}

const step = (parts: Omit<Callback, 'type'>) => planOf({ steps: { a: { type: 'CALLBACK', ...parts } } });

describe('a pause', () => {
  it('takes back what no worker has, and a resume sends it again', async () => {
    const { kit, node, key, stored } = await withRun();
    expect(node.invoker.queued.size).toBe(1);
    await Promise.all([node.coordinator.pause(key, 'look first', 'someone'), kit.flush()]);
    expect([stored()?.status, node.invoker.queued.size]).toEqual(['PAUSED', 0]);
    await kit.pass(60_000, 500);
    expect(node.invoker.queued.size).toBe(0);
    await Promise.all([node.coordinator.resume(key, 'someone'), kit.flush()]);
    expect([stored()?.status, node.invoker.queued.size]).toEqual(['RUNNING', 1]);
  });

  it('records what a worker had, and goes on from there at the resume', async () => {
    const { kit, node, key, stored } = await withRun();
    const refs = kit.take(node, WORKER);
    await Promise.all([node.coordinator.pause(key, '', 'someone'), kit.flush()]);
    const acks = kit.settle(node, refs);
    await kit.flush();
    expect(acks).toEqual(['recorded']);
    expect([stored()?.status, stored()?.steps.get('a')?.status]).toEqual(['PAUSED', 'COMPLETED']);
    await Promise.all([node.coordinator.resume(key, 'someone'), kit.flush()]);
    expect(stored()?.steps.get('b')?.status).toBe('SCHEDULED');
  });

  it('does not outlive the worker that had an attempt: after the resume it is lost, and tried again', async () => {
    const { kit, node, key, stored } = await withRun();
    kit.take(node, WORKER);
    await kit.pass(1_100);
    expect(stored()?.steps.get('a')?.status).toBe('RUNNING');
    await Promise.all([node.coordinator.pause(key, '', 'someone'), kit.flush()]);
    kit.kill(node);
    const other = kit.node();
    await kit.pass(10_000, 500);
    await Promise.all([other.coordinator.resume(key, 'someone'), kit.flush()]);
    await kit.pass(17_000, 500);
    expect(stored()?.steps.get('a')).toMatchObject({ attempt: 2, error: { code: 'worker_lost' } });
  });
});

describe('a termination', () => {
  it('closes the run at once and tells its worker; what it still answers is settled already', async () => {
    const { kit, node, key, stored } = await withRun();
    const refs = kit.take(node, WORKER);
    await Promise.all([node.coordinator.terminate(key, 'now', 'someone'), kit.flush()]);
    expect(stored()?.status).toBe('TERMINATED');
    expect(node.invoker.aborted.map(({ reason }) => reason)).toEqual(['cancelled']);
    const acks = kit.settle(node, refs);
    await kit.flush();
    expect(acks).toEqual(['already_settled']);
    const late = node.coordinator.pause(key, '', 'someone').catch((error: unknown) => error);
    await kit.flush();
    expect(await late).toMatchObject({ code: 'run_closed' });
  });
});

describe('a retry', () => {
  it('lets a parked run go on with a new attempt at once', async () => {
    const steps = { a: { type: 'CALLBACK', retry: { maxAttempts: 1, initialIntervalMs: 60_000 } } } as const;
    const { kit, node, key, stored } = await withRun(planOf({ steps, onExhausted: 'park' }));
    const [ref] = kit.take(node, WORKER);
    if (ref === undefined) expect.fail('nothing was sent');
    const failure = { code: 'boom', message: '', stack: '', nonRetryable: false, retryAfterMs: null };
    node.coordinator.settle(ref, { kind: 'failed', ...failure }, () => undefined);
    await kit.flush();
    expect(stored()?.parked).toMatchObject({ code: 'attempts_exhausted', step: 'a' });
    await Promise.all([node.coordinator.retry(key, 'someone'), kit.flush()]);
    expect(kit.take(node, WORKER)).toMatchObject([{ path: 'a', attempt: 2 }]);
  });

  it('of a run that nobody knows is not_found', async () => {
    const { kit, node } = await withRun();
    const key = { tenantId: TENANT, runId: '01890a5d-ac96-774b-bcce-b302099a8057' };
    const unknown = node.coordinator.retry(key, '').catch((error: unknown) => error);
    await kit.flush();
    expect(await unknown).toMatchObject({ code: 'not_found' });
    await expect(node.coordinator.terminate({ ...key, runId: 'x' }, '', '')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('heartbeats', () => {
  const plan = step({ heartbeatTimeoutMs: 1_000, retry: { initialIntervalMs: 10 } });

  it('keep an attempt alive; without them it fails, is stopped, and its progress goes to the next', async () => {
    const { kit, node, runId, stored } = await withRun(plan);
    const [ref] = kit.take(node, WORKER);
    if (ref === undefined) expect.fail('nothing was sent');
    await kit.flush();
    expect(stored()?.steps.get('a')?.status).toBe('RUNNING');
    for (let page = 1; page <= 5; page += 1) {
      await kit.pass(600);
      node.coordinator.heartbeat(ref, jsonValue({ page }));
    }
    // A sign of life alone takes nothing back.
    node.coordinator.heartbeat(ref, null);
    await kit.pass(950);
    expect(stored()?.steps.get('a')).toMatchObject({ status: 'RUNNING', attempt: 1 });
    await kit.pass(150);
    expect(stored()?.steps.get('a')).toMatchObject({ attempt: 2, error: { code: 'heartbeat_timeout' } });
    expect(node.invoker.aborted.map(({ reason }) => reason)).toEqual(['timed_out']);
    const next = [...node.invoker.queued.values()].find((task) => task.runId === runId);
    expect(String(next?.lastProgress?.data)).toBe('{"page":5}');
    expect(next?.heartbeatTimeoutMs).toBe(1_000);
  });

  it('count anew after a takeover, and progress that was recorded outlives the node', async () => {
    const { kit, node, stored } = await withRun(plan);
    const [ref] = kit.take(node, WORKER);
    if (ref === undefined) expect.fail('nothing was sent');
    node.coordinator.heartbeat(ref, jsonValue('half'));
    const failure = { code: 'boom', message: '', stack: '', nonRetryable: false, retryAfterMs: 20_000 };
    node.coordinator.settle(ref, { kind: 'failed', ...failure }, () => undefined);
    await kit.flush();
    kit.kill(node);
    const other = kit.node();
    other.coordinator.workerConnected(WORKER, []);
    await kit.pass(25_000, 250);
    const [again] = kit.take(other, WORKER);
    expect(again).toMatchObject({ attempt: 2 });
    expect(String(stored()?.steps.get('a')?.progress?.data)).toBe('"half"');
  });

  it('are not asked of a step that does not want them', async () => {
    const { kit, node, stored } = await withRun(step({}));
    kit.take(node, WORKER);
    await kit.pass(30_000, 1_000);
    expect(stored()?.steps.get('a')).toMatchObject({ status: 'RUNNING', attempt: 1 });
  });
});

describe('the time to wait for a worker', () => {
  it('is over for an attempt nobody took, and not for one that a worker began', async () => {
    const plan = step({ scheduleToStartTimeoutMs: 500 });
    const waiting = await withRun(plan);
    await waiting.kit.pass(600);
    expect(waiting.stored()).toMatchObject({ status: 'FAILED', error: { code: 'schedule_to_start_timeout' } });
    expect(waiting.node.invoker.queued.size).toBe(0);
    const taken = await withRun(plan);
    await taken.kit.pass(300);
    taken.kit.take(taken.node, WORKER);
    await taken.kit.pass(5_000);
    expect(taken.stored()?.steps.get('a')?.status).toBe('RUNNING');
  });
});
