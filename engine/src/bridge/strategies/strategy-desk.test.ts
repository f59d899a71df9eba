import { describe, expect, it } from 'vitest';
import type { StrategyAnswer, StrategyQuestion as WireQuestion } from '../../gen/ductor/v1/strategy.js';
import { manualClock } from '../../kernel/testing/manual-clock.js';
import type { StrategyQuestion, StrategyReply } from '../../routing/index.js';
import { StrategyDesk } from './strategy-desk.js';

const question: StrategyQuestion = {
  ...{ tenantId: 't', decisionId: 'd', poolId: 'p', poolName: 'agents', name: 'mine', version: '', timeoutMs: 500 },
  ask: {
    routable: {
      ...{ id: 'job', type: '', attributes: {}, priority: 0, channel: '', requiredSkills: [], dedupeKey: '' },
      ...{ expiresUs: undefined, receivedUs: undefined },
    },
    ...{ poolId: 'p', recipientId: undefined, excluded: [], previous: [] },
  },
  candidates: [],
};

function desk() {
  const clock = manualClock();
  const sent: (readonly [session: string, question: WireQuestion])[] = [];
  const strategies = new StrategyDesk<string>(clock, (session, put) => void sent.push([session, put]));
  const join = (session: string, version = '', tenantId = 't'): void =>
    strategies.join(session, tenantId, `app ${session}`, [{ name: 'mine', version }]);
  const rank = (session: string, questionId: bigint, ids: string[]): void => {
    const answer: StrategyAnswer = { questionId, outcome: { $case: 'ranking', value: { recipientIds: ids } } };
    strategies.answered(session, answer);
  };
  const late = async (asked: Promise<StrategyReply>): Promise<StrategyReply> => {
    clock.advance(500);
    return asked;
  };
  return { clock, sent, strategies, join, rank, late };
}

const none = (why: string): StrategyReply => ({ kind: 'none', why });

describe('questions to strategies in code', () => {
  it('go to one app of the tenant, in turns, and are answered by it alone', async () => {
    const { sent, strategies, join, rank } = desk();
    for (const session of ['a', 'b']) join(session);
    join('foreign', '', 'u');
    const asked = [1, 2, 3, 4].map(() => strategies.ask(question));
    expect(sent.map(([session]) => session).sort()).toEqual(['a', 'a', 'b', 'b']);
    const [first] = sent;
    rank(first?.[0] === 'a' ? 'b' : 'a', first?.[1].questionId ?? 0n, ['forged']);
    for (const [session, { questionId }] of sent) rank(session, questionId, [`by-${session}`]);
    const replies = await Promise.all(asked);
    expect(replies).toEqual(
      sent.map(([session]) => ({ kind: 'ranking', ids: [`by-${session}`], by: `app ${session}` })),
    );
    rank(first?.[0] ?? '', first?.[1].questionId ?? 0n, ['again']);
  });

  it('go to apps of the version that is asked for', async () => {
    const { sent, strategies, join } = desk();
    join('old', '1');
    expect(await strategies.ask({ ...question, version: '2' })).toEqual(none('is served by no app'));
    join('new', '2');
    void strategies.ask({ ...question, version: '2' });
    expect(sent.map(([session, { version }]) => [session, version])).toEqual([['new', '2']]);
  });

  it('go on to another app when theirs goes away, with the time that is left', async () => {
    const { clock, sent, strategies, join, rank } = desk();
    join('a');
    const asked = strategies.ask(question);
    join('b');
    clock.advance(200);
    strategies.leave('a');
    expect(sent.map(([session, { timeoutMs }]) => [session, timeoutMs])).toEqual([
      ['a', 500],
      ['b', 300],
    ]);
    rank('b', sent[1]?.[1].questionId ?? 0n, ['x']);
    expect(await asked).toMatchObject({ kind: 'ranking', by: 'app b' });
    const last = strategies.ask(question);
    strategies.leave('b');
    expect(await last).toEqual(none('is served by no app'));
  });

  it('do not wait longer than they may, and not at all for an app that keeps silent', async () => {
    const { clock, sent, strategies, join, rank, late } = desk();
    join('a');
    for (let times = 0; times < 5; times += 1) {
      expect(await late(strategies.ask(question))).toEqual(none('did not answer within 500 ms'));
    }
    expect(await strategies.ask(question)).toEqual(none('is served by apps that do not answer at the moment'));
    expect(sent).toHaveLength(5);
    clock.advance(1_000);
    const probe = strategies.ask(question);
    expect(await strategies.ask(question)).toEqual(none('is served by apps that do not answer at the moment'));
    rank('a', sent[5]?.[1].questionId ?? 0n, []);
    expect(await probe).toEqual({ kind: 'ranking', ids: [], by: 'app a' });
    void strategies.ask(question);
    expect(sent).toHaveLength(7);
  });

  it('show what an app says of its failure, shortened', async () => {
    const { sent, strategies, join } = desk();
    join('a');
    const asked = [strategies.ask(question), strategies.ask(question)];
    const [first, second] = sent;
    strategies.answered('a', {
      questionId: first?.[1].questionId ?? 0n,
      outcome: { $case: 'problem', value: `no\nmap ${'x'.repeat(300)}` },
    });
    strategies.answered('a', { questionId: second?.[1].questionId ?? 0n, outcome: undefined });
    const [failed, empty] = await Promise.all(asked);
    expect(failed).toMatchObject({ why: expect.stringMatching(/^failed: no map x{193}$/) });
    expect(empty).toEqual(none('answered nothing'));
  });
});
