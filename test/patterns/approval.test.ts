import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { refund } from '../../docs/patterns/approval.js';
import { patternWorld } from '../support/pattern-world.js';
import { until } from '../support/wait.js';

const asked: string[] = [];
const paid: string[] = [];
const told: string[] = [];
const workflow = refund(
  {
    ask: async (people, order) => void asked.push(`${people.join()} about ${order}`),
    payOut: async (order, cents) => void paid.push(`${cents} for ${order}`),
    tell: async (customer, text) => void told.push(`${customer}: ${text}`),
  },
  { agent: '1s', all: '3s' },
);
const client = await patternWorld([workflow]);

const start = async (order: string) => {
  const run = await client.trigger(workflow, { order, customer: 'kim', cents: 9_900, agent: 'jo' });
  await until('the decision to be waited for', async () => (await client.get(run.id)).state === 'WAITING');
  return run;
};

describe('the approval', () => {
  it('pays what the agent lets pass, and hears nobody else', async () => {
    const run = await start('o-1');
    await until('the agent to be asked', () => asked.includes('jo about o-1'));
    await expect(run.decide('decision', 'pay', { by: 'sam' })).rejects.toMatchObject({ name: 'DuctorError' });
    await expect(run.decide('decision', 'maybe', { by: 'jo' })).rejects.toMatchObject({ name: 'DuctorError' });
    await run.decide('decision', 'pay', { by: 'jo' });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toEqual({ option: 'pay' });
    expect(paid).toEqual(['9900 for o-1']);
  });

  it('lets the team lead decide once the agent did not', async () => {
    const run = await start('o-2');
    await expect(run.decide('decision', 'refuse', { by: 'team-lead' })).rejects.toMatchObject({ name: 'DuctorError' });
    await sleep(1_200);
    await run.decide('decision', 'refuse', { by: 'team-lead', comment: 'bought last year' });
    await expect(run.result({ timeoutMs: 20_000 })).resolves.toEqual({ option: 'refuse' });
    expect(told).toEqual(['kim: no refund: bought last year']);
    expect(paid).toHaveLength(1);
  });

  it('lapses when nobody decides', async () => {
    told.length = 0;
    const run = await start('o-3');
    await until('the run to close', async () => (await client.get(run.id)).state !== 'WAITING');
    await run.result({ timeoutMs: 20_000 }).catch(() => undefined);
    expect(told).toEqual(['kim: nobody decided in time; please ask again']);
    expect(paid).toHaveLength(1);
  });
});
