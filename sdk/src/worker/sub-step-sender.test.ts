import { describe, expect, it } from 'vitest';
import { AckState, Task } from '../gen/ductor/v1/bridge.js';
import { counter } from './result-outbox.js';
import { SubStepSender } from './sub-step-sender.js';

const TASK = Task.fromPartial({ runId: 'r', path: 'a', attempt: 1, token: Buffer.from('t1') });
const OUTPUT = { data: Buffer.from('1'), encoding: '' };
const state = AckState.ACK_STATE_RECORDED;

function sender() {
  const over: string[] = [];
  const parts = new SubStepSender<string>(counter(), ({ path }) => void over.push(path));
  parts.begin(TASK, 's1');
  const take = () =>
    [...parts.outbox.take((origin) => origin, 0)].flatMap(([stream, sent]) =>
      sent.map(({ resultId, name, token }) => ({ stream, resultId, name, token: token.toString() })),
    );
  return { parts, over, take };
}

/** Whether it resolved, rejected or waits. */
async function fateOf(promise: Promise<void>): Promise<string> {
  const waiting = new Promise((resolve) => setImmediate(resolve, 'waits'));
  return String(
    await Promise.race([
      promise.then(
        () => 'recorded',
        (error: Error) => error.message,
      ),
      waiting,
    ]),
  );
}

describe('SubStepSender', () => {
  it('sends on the stream of the task until the engine acknowledges', async () => {
    const { parts, take } = sender();
    const done = parts.record(TASK, 'x', OUTPUT);
    expect(take()).toMatchObject([{ stream: 's1', name: 'x', resultId: 1n }]);
    expect(await fateOf(done)).toBe('waits');
    parts.outbox.lost('s1');
    expect(take()).toMatchObject([{ resultId: 2n }]);
    expect(parts.acknowledge({ resultId: 2n, state, problem: '' })).toBe(true);
    expect(await fateOf(done)).toBe('recorded');
    expect(parts.acknowledge({ resultId: 2n, state, problem: '' })).toBe(false);
  });

  it('rejects what is refused, and says when the attempt is over', async () => {
    const { parts, over, take } = sender();
    const [bad, late] = [parts.record(TASK, 'bad', OUTPUT), parts.record(TASK, 'late', OUTPUT)];
    take();
    parts.acknowledge({ resultId: 1n, state: AckState.ACK_STATE_REFUSED, problem: 'too odd' });
    expect(await fateOf(bad)).toContain('refused sub-step bad of step a: too odd');
    parts.acknowledge({ resultId: 2n, state: AckState.ACK_STATE_ALREADY_SETTLED, problem: '' });
    expect([await fateOf(late), over]).toEqual(['waits', ['a']]);
  });

  it('takes what comes with the attempt, sent again, for recorded, and sends the rest with its new token', async () => {
    const { parts, take } = sender();
    const [x, y] = [parts.record(TASK, 'x', OUTPUT), parts.record(TASK, 'y', OUTPUT)];
    take();
    const subSteps = [{ name: 'x', output: OUTPUT }];
    parts.again({ ...TASK, token: Buffer.from('t2'), subSteps }, 's2');
    expect([await fateOf(x), await fateOf(y)]).toEqual(['recorded', 'waits']);
    expect(take()).toMatchObject([{ stream: 's2', name: 'y', token: 't2' }]);
  });

  it('forgets what an attempt left behind', () => {
    const { parts, take } = sender();
    void parts.record(TASK, 'x', OUTPUT);
    parts.end(TASK);
    void parts.record(TASK, 'y', OUTPUT);
    expect([take(), parts.outbox.size]).toEqual([[], 0]);
  });
});
