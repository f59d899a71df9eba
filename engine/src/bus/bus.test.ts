/** What every bus does, and what the one over Postgres has to survive. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/index.js';
import { testDatabase } from '../store/testing/index.js';
import { memoryBus, postgresBus, redisBus, type Bus } from './index.js';
import { hasRedis, TestRedis } from './testing/redis-server.js';

const clock = systemClock();
const test = testDatabase();
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Waits until the condition holds; fails after 5 s. */
async function until(isTrue: () => boolean): Promise<void> {
  await expect.poll(isTrue, { timeout: 5_000, interval: 2 }).toBe(true);
}

/** A bus over Postgres that is open, and closed after the test. */
async function openBus(options: { pingMs?: number; log?: (line: string) => void } = {}): Promise<Bus> {
  const bus = postgresBus({ connect: () => test.db.connect({ name: 'bus' }), clock, ...options });
  closing.push(() => bus.close());
  await bus.opened();
  return bus;
}

/** Collects what a bus hears. */
function heard(bus: Bus, topic: string): string[] {
  const bodies: string[] = [];
  bus.subscribe(topic, (body) => bodies.push(body));
  return bodies;
}

/** Counts the notifications that really go over the database. */
async function countNotifications(): Promise<() => number> {
  const session = await test.db.connect({ name: 'counter' });
  closing.push(() => session.close());
  let count = 0;
  session.onNotification(() => (count += 1));
  await session.query('listen ductor');
  return () => count;
}

/** Two nodes over a Redis of their own. */
async function openRedisPair(): Promise<readonly [Bus, Bus]> {
  const server = await TestRedis.start();
  const open = async (origin: string): Promise<Bus> => {
    const bus = redisBus({ url: server.url, channels: ['ductor:test'], origin, clock });
    closing.push(() => bus.close());
    await bus.opened();
    return bus;
  };
  const pair = [await open('a'), await open('b')] as const;
  closing.push(() => server.stop());
  return pair;
}

/** Two nodes that share a bus, or have one each. */
const kinds: Readonly<Record<string, () => Promise<readonly [Bus, Bus]>>> = {
  memory: () => {
    const bus = memoryBus(clock);
    return Promise.resolve([bus, bus]);
  },
  postgres: async () => [await openBus(), await openBus()],
  ...(hasRedis ? { redis: openRedisPair } : {}),
};

describe.each(Object.entries(kinds))('bus: %s', (_, make) => {
  it('tells the other nodes', async () => {
    const [here, there] = await make();
    const [atHere, atThere] = [heard(here, 'inbox'), heard(there, 'inbox')];
    here.publish('inbox', '7');
    await until(() => atThere.includes('7'));
    there.publish('inbox', '8');
    await until(() => atHere.includes('8'));
    expect([atHere, atThere]).toEqual([expect.arrayContaining(['8']), expect.arrayContaining(['7'])]);
  });

  it('keeps topics apart', async () => {
    const [here, there] = await make();
    const [runs, inbox] = [heard(there, 'runs'), heard(there, 'inbox')];
    here.publish('runs', 'a');
    here.publish('inbox', 'b');
    await until(() => runs.length > 0 && inbox.length > 0);
    expect([runs, inbox]).toEqual([['a'], ['b']]);
  });

  it('does not call listeners inside publish, nor after they stopped', async () => {
    const [here, there] = await make();
    const bodies: string[] = [];
    const stop = there.subscribe('runs', (body) => bodies.push(body));
    here.publish('runs', 'a');
    expect(bodies).toEqual([]);
    await until(() => bodies.length === 1);
    here.publish('runs', 'b');
    stop();
    stop();
    const other = heard(there, 'runs');
    here.publish('runs', 'c');
    await until(() => other.includes('c'));
    expect(bodies).toEqual(['a']);
  });

  it('tells the others when a listener throws', async () => {
    const [here, there] = await make();
    there.subscribe('runs', () => {
      throw new TypeError('mine');
    });
    const bodies = heard(there, 'runs');
    here.publish('runs', 'a');
    await until(() => bodies.length > 0);
    expect(bodies).toEqual(['a']);
  });

  it('carries bodies of any size and letters', async () => {
    const [here, there] = await make();
    const bodies = heard(there, 'runs');
    const long = Array.from(
      { length: 2_000 },
      (_unused, i) => `0198f000-0000-7000-8000-${String(i).padStart(12, '0')}`,
    );
    for (const body of [long.join(), '', 'ü 日本 🚀 "quoted" \\ \n']) here.publish('runs', body);
    await until(() => bodies.length === 3);
    expect(bodies).toEqual([long.join(), '', 'ü 日本 🚀 "quoted" \\ \n']);
  });
});

describe('postgres bus', () => {
  it('says 2,000 hints in few notifications, and the same one once', async () => {
    const [here, there] = [await openBus(), await openBus()];
    const notifications = await countNotifications();
    const bodies = heard(there, 'inbox');
    for (let i = 0; i < 2_000; i += 1) here.publish('inbox', String(i % 200));
    await until(() => bodies.length >= 200);
    await pause(50);
    expect(bodies.length).toBe(200);
    expect(notifications()).toBeLessThanOrEqual(3);
  });

  it('sends at most one notification an interval', async () => {
    const here = await openBus();
    const notifications = await countNotifications();
    const startMs = clock.monotonicMs();
    let said = 0;
    while (clock.monotonicMs() - startMs < 300) {
      here.publish('inbox', String((said += 1)));
      await pause(1);
    }
    await pause(50);
    expect(notifications()).toBeGreaterThan(3);
    expect(notifications()).toBeLessThanOrEqual(350 / 8 + 2);
  });

  it('does not hear its own hints', async () => {
    const [here, there] = [await openBus(), await openBus()];
    const [atHere, atThere] = [heard(here, 'inbox'), heard(there, 'inbox')];
    here.publish('inbox', '1');
    await until(() => atThere.includes('1'));
    // What comes from the other one comes after it on the same session.
    there.publish('inbox', '2');
    await until(() => atHere.includes('2'));
    expect(atHere).toEqual(['2']);
  });

  it('comes back after its session was ended, with what was said meanwhile', async () => {
    const lines: string[] = [];
    const [here, there] = [await openBus({ log: (line) => lines.push(line) }), await openBus()];
    const bodies = heard(there, 'inbox');
    const ended = await test.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like '%bus' and datname = current_database()`,
    );
    expect(ended.rowCount).toBe(2);
    await until(() => lines.length > 0);
    here.publish('inbox', 'later');
    // The other may still be away when the hint comes by, as any hint may be lost: say it until it is heard.
    await expect
      .poll(
        () => {
          here.publish('inbox', 'again');
          return bodies.includes('again');
        },
        { timeout: 5_000, interval: 20 },
      )
      .toBe(true);
  });

  it('passes over what others say on the channel', async () => {
    const bus = await openBus();
    const bodies = heard(bus, 'inbox');
    await test.db.query(`select pg_notify('ductor', 'not ours'), pg_notify('ductor', '1:1:0:1:[["inbox","x"]]')`);
    await until(() => bodies.length > 0);
    expect(bodies).toEqual(['x']);
  });

  it('is silent when nothing is said', async () => {
    await openBus();
    const count = async (): Promise<unknown> =>
      (
        await test.db.query(
          `select count(*) as changed from pg_stat_activity
            where application_name like '%bus' and query like 'listen%' and datname = current_database()`,
        )
      ).rows[0]?.['changed'];
    await pause(200);
    expect(await count()).toBe(1);
  });
});
