import { describe, expect, it } from 'vitest';
import { everyNight, report } from '../../docs/patterns/cron.js';
import { patternWorld } from '../support/pattern-world.js';
import { until } from '../support/wait.js';

const gates: (() => void)[] = [];
const workflow = report(async () => {
  await new Promise<void>((resolve) => gates.push(resolve));
  return { rows: 7 };
});
const client = await patternWorld([workflow]);

describe('the nightly report', () => {
  it('is one schedule however often the app starts, for half past two in the morning there', async () => {
    const first = await everyNight(client, workflow);
    const second = await everyNight(client, workflow);
    expect(second.id).toBe(first.id);
    const inZone = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'America/Los_Angeles' });
    expect(first.nextSlots.map((slot) => inZone.format(slot))).toEqual(['02:30', '02:30', '02:30', '02:30', '02:30']);
  });

  it('runs one at a time: a second slot waits, a third is skipped with its reason', async () => {
    const { id } = await everyNight(client, workflow);
    const one = await client.schedules.trigger(id);
    await until('the first to run', () => gates.length === 1);
    const two = await client.schedules.trigger(id);
    await client.schedules.trigger(id);
    const outcomes = async (): Promise<string[]> =>
      (await client.schedules.slots(id)).slots.map(({ outcome }) => outcome).toReversed();
    await until('the third to be skipped', async () => (await outcomes()).some((each) => each.startsWith('SKIPPED')));
    expect(gates).toHaveLength(1);
    gates[0]?.();
    await until('the second to run', () => gates.length === 2);
    gates[1]?.();
    const runs = (await client.schedules.slots(id)).slots.flatMap(({ runId }) => runId ?? []);
    expect(runs).toHaveLength(2);
    for (const run of runs) await client.run(run).result({ timeoutMs: 20_000 });
    expect([one.slotAt, two.slotAt].every((at) => at !== undefined)).toBe(true);
    const skipped = (await client.schedules.slots(id)).slots.filter(({ runId }) => runId === undefined);
    expect(skipped).toHaveLength(1);
    expect(skipped[0]?.reason).not.toBe('');
  });
});
