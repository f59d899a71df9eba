/** What the bus over Redis has to survive; what every bus does: bus.test.ts. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/index.js';
import { redisBus, type Bus } from './index.js';
import { hasRedis, TestRedis } from './testing/redis-server.js';

const clock = systemClock();
const closing: (() => Promise<void>)[] = [];
const lines: string[] = [];
let server: TestRedis;
let nodes = 0;

async function openBus(channels: readonly string[] = ['ductor:a']): Promise<Bus> {
  const origin = `node-${(nodes += 1)}`;
  const bus = redisBus({
    ...{ url: server.url, channels, origin, clock, pingMs: 300 },
    log: (line) => lines.push(line),
  });
  closing.push(() => bus.close());
  await bus.opened();
  return bus;
}

function heard(bus: Bus): string[] {
  const bodies: string[] = [];
  bus.subscribe('inbox', (body) => bodies.push(body));
  return bodies;
}

/** Says it until it is heard: any hint may be lost. */
async function sayUntilHeard(bus: Bus, body: string, bodies: readonly string[]): Promise<void> {
  await expect
    .poll(
      () => {
        bus.publish('inbox', body);
        return bodies.includes(body);
      },
      { timeout: 20_000, interval: 20 },
    )
    .toBe(true);
}

describe.runIf(hasRedis)('redis bus', () => {
  beforeAll(async () => {
    server = await TestRedis.start();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    lines.length = 0;
  });
  afterAll(() => server.stop());

  it('says 2,000 hints in few messages, and the same one once; does not hear its own', async () => {
    const [here, there] = [await openBus(), await openBus()];
    const [atHere, atThere] = [heard(here), heard(there)];
    for (let i = 0; i < 2_000; i += 1) here.publish('inbox', String(i % 200));
    await expect.poll(() => atThere.length, { timeout: 5_000 }).toBe(200);
    await sayUntilHeard(there, 'from there', atHere);
    expect(atHere.every((body) => body === 'from there')).toBe(true);
  });

  it('keeps clusters with other channels apart; one that turns to a new secret hears both', async () => {
    const [old, turning, other] = [
      await openBus(['ductor:old']),
      await openBus(['ductor:new', 'ductor:old']),
      await openBus(['ductor:other']),
    ];
    const [atOld, atTurning, atOther] = [heard(old), heard(turning), heard(other)];
    old.publish('inbox', 'a');
    turning.publish('inbox', 'b');
    await expect.poll(() => [atOld, atTurning], { timeout: 5_000 }).toEqual([['b'], ['a']]);
    expect(atOther).toEqual([]);
  });

  it('comes back after Redis was killed and started again, and never waits meanwhile', async () => {
    const [here, there] = [await openBus(), await openBus()];
    const bodies = heard(there);
    await server.stop();
    await expect.poll(() => lines.length, { timeout: 5_000 }).toBeGreaterThan(0);
    for (let i = 0; i < 20_000; i += 1) here.publish('inbox', `lost ${i}`);
    await pause(200);
    expect(bodies).toEqual([]);
    await server.restart();
    await sayUntilHeard(here, 'again', bodies);
  });

  it('gives a connection up that answers nothing', async () => {
    const [here, there] = [await openBus(), await openBus()];
    const bodies = heard(there);
    server.signal('SIGSTOP');
    await expect.poll(() => lines.join(), { timeout: 10_000 }).toContain('is given up');
    server.signal('SIGCONT');
    await sayUntilHeard(here, 'again', bodies);
  });

  it('passes over what others say on the channel', async () => {
    const [here, there] = [await openBus(), await openBus()];
    const bodies = heard(there);
    const stranger = redisBus({ url: server.url, channels: ['ductor:a'], origin: 'x [["inbox","forged"', clock });
    closing.push(() => stranger.close());
    await stranger.opened();
    stranger.publish('inbox', 'y');
    await sayUntilHeard(here, 'ours', bodies);
    expect(new Set(bodies)).toEqual(new Set(['ours']));
  });
});
