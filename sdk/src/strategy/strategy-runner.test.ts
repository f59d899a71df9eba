import { describe, expect, it } from 'vitest';
import { machine } from '../connection/system.js';
import { StrategyQuestion } from '../gen/ductor/v1/strategy.js';
import { type StrategyChoice, defineStrategy, type StrategyPick } from './define-strategy.js';
import { StrategyRunner } from './strategy-runner.js';

const quiet = (): void => undefined;

const question = (name = 'mine'): StrategyQuestion =>
  StrategyQuestion.fromPartial({
    ...{ questionId: 7n, name, timeoutMs: 20, poolName: 'agents' },
    work: { id: 'job', attributes: { size: 3 }, receivedAt: { seconds: 1n, nanos: 500_000_000 } },
    candidates: [
      { id: 'a', limit: 0, load: 2, attributes: { level: 1 }, costMicros: 5n },
      { id: 'b', limit: 4 },
    ],
  });

const answer = (choose: (choice: StrategyChoice) => StrategyPick | Promise<StrategyPick>, name?: string) =>
  new StrategyRunner([defineStrategy({ name: 'mine', choose })], machine, quiet).answer(question(name));

describe('strategies of an app', () => {
  it('are told the work and the candidates', async () => {
    let seen: StrategyChoice | undefined;
    await answer((choice) => {
      seen = choice;
      return undefined;
    });
    expect(seen?.work).toMatchObject({ id: 'job', attributes: { size: 3 }, receivedAt: new Date(1_500) });
    expect(seen?.candidates[0]).toMatchObject({ id: 'a', limit: undefined, load: 2, costMicros: 5n });
    expect(seen?.candidates[1]).toMatchObject({ id: 'b', limit: 4, attributes: {}, lastAssignedAt: undefined });
  });

  it('answer candidates, ids, one or many, or nobody', async () => {
    const picks: ((choice: StrategyChoice) => StrategyPick)[] = [
      ({ candidates }) => candidates[1],
      ({ candidates }) => candidates.toReversed(),
      () => 'a',
      () => ['b', 'a'],
      () => undefined,
    ];
    const answers = await Promise.all(picks.map((pick) => answer(pick)));
    expect(answers.map(({ outcome }) => outcome?.value)).toEqual(
      [['b'], ['b', 'a'], ['a'], ['b', 'a'], []].map((recipientIds) => ({ recipientIds })),
    );
    expect(answers.every(({ questionId }) => questionId === 7n)).toBe(true);
  });

  it('say why they do not choose', async () => {
    const thrown = await answer(() => {
      throw new RangeError('no map');
    });
    expect(thrown.outcome).toEqual({ $case: 'problem', value: 'RangeError: no map' });
    const unknown = await answer(() => 'a', 'other');
    expect(unknown.outcome?.value).toMatch(/has no strategy other/);
    const late = await answer(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    expect(late.outcome?.value).toMatch(/no answer within 20 ms/);
  });

  it('have names that pools can say, each its own', () => {
    const choose = (): StrategyPick => undefined;
    expect(() => defineStrategy({ name: '7th', choose })).toThrow(/is no name of a strategy/);
    expect(() => defineStrategy({ name: '', choose })).toThrow(/name is empty/);
    expect(() => defineStrategy({ name: 'x', version: 'v'.repeat(65), choose })).toThrow(/version is too long/);
    expect(() => defineStrategy({ name: 'x', choose: 'first' as never })).toThrow(/choose is no function/);
    const twice = [defineStrategy({ name: 'x', choose }), defineStrategy({ name: 'x', choose })];
    expect(() => new StrategyRunner(twice, machine, quiet)).toThrow(/one name/);
  });
});
