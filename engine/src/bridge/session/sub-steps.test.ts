import { describe, expect, it } from 'vitest';
import { AckState } from '../../gen/ductor/v1/bridge.js';
import { bridgeHarness } from '../testing/harness.js';
import { acksOf, refOf } from '../testing/seen.js';
import { task } from '../testing/tasks.js';

const output = { data: Buffer.from('1'), encoding: '' };

describe('a sub-step on a stream', () => {
  it('is acknowledged by its number once the coordinator has it', async () => {
    const { join, tokens, told } = bridgeHarness();
    const worker = await join();
    const ref = refOf(task());
    const named = { runId: ref.runId, path: ref.path, attempt: ref.attempt, token: tokens.issue(ref) };
    worker.send({ subResults: [{ ...named, resultId: 7n, name: 'charge', output }] });
    expect(told.kept).toMatchObject([{ ref, subStep: { name: 'charge', output: { encoding: 'json' } } }]);
    expect(acksOf(worker)).toEqual([]);
    told.kept[0]?.answer('recorded');
    worker.send({});
    expect(acksOf(worker)).toEqual([{ resultId: 7n, state: AckState.ACK_STATE_RECORDED, problem: '' }]);
  });

  it('is refused with its reason when token, name or output are wrong', async () => {
    const { join, tokens, told } = bridgeHarness();
    const worker = await join();
    const ref = refOf(task());
    const named = { runId: ref.runId, path: ref.path, attempt: ref.attempt, token: tokens.issue(ref), output };
    const large = { data: Buffer.alloc(2 * 1024 * 1024 + 1, 0x31), encoding: '' };
    worker.send({
      subResults: [
        { ...named, resultId: 1n, name: 'a', attempt: 2 },
        { ...named, resultId: 2n, name: '' },
        { ...named, resultId: 3n, name: 'x'.repeat(129) },
        { ...named, resultId: 4n, name: 'none', output: undefined },
        { ...named, resultId: 5n, name: 'large', output: large },
        { ...named, resultId: 6n, name: 'nul', output: { data: Buffer.from('"\\u0000"'), encoding: '' } },
      ],
    });
    expect(told.kept).toEqual([]);
    const problems = acksOf(worker).map((ack) => (ack as { problem: string }).problem);
    expect(problems).toEqual([
      'the token was not made for this attempt',
      'the name of a sub-step has 0 characters, 1 to 128 are allowed',
      'the name of a sub-step has 129 characters, 1 to 128 are allowed',
      expect.stringContaining('sub-step none of step work has no output'),
      expect.stringContaining('the output of sub-step large of step work has 2097153 bytes'),
      expect.stringContaining('the output of sub-step nul of step work'),
    ]);
  });
});
