import { describe, expect, it } from 'vitest';
import { research, type Ask } from '../../docs/patterns/seats.js';
import { patternWorld } from '../support/pattern-world.js';

const asked: string[] = [];
let limited = new Set<string>();
const ask: Ask = async (seat, model, prompt) => {
  asked.push(`${seat} ${model} ${prompt}`);
  await Promise.resolve();
  if (limited.has(seat)) return { resetAtMs: Date.now() + 60_000 };
  return { text: `<${prompt}>`, isGood: model === 'large' || !prompt.includes('hard') };
};
const workflow = research(ask);
const client = await patternWorld([workflow]);
const run = async (question: string): Promise<readonly string[]> => {
  asked.length = 0;
  await (await client.trigger(workflow, { question })).result({ timeoutMs: 20_000 });
  return [...asked];
};

describe('account seats and models', () => {
  it('keep one seat for a run, and move it when that is rate limited', async () => {
    expect(await run('tides')).toEqual(['north small notes on tides', 'north small report of <notes on tides>']);
    limited = new Set(['south']);
    expect(await run('winds')).toEqual([
      'south small notes on winds',
      'north small notes on winds',
      'north small report of <notes on winds>',
    ]);
  });

  it('climb with each retry, and do not go down again', async () => {
    expect(await run('hard')).toEqual([
      'north small notes on hard',
      'north large notes on hard',
      'north large report of <notes on hard>',
    ]);
  });

  it('fall back when every account is rate limited', async () => {
    limited = new Set(['north', 'south']);
    expect((await run('rain')).map((call) => call.split(' ')[0])).toEqual(['north', 'pay-as-you-go', 'pay-as-you-go']);
  });
});
