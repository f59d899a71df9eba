/**
 * The bus that nodes of tests share: by default a local one, or the database's. With DUCTOR_TEST_BUS=redis, which
 * `npm run verify -- --ci` sets for the tests of several nodes, all of them talk over a Redis server of the test file.
 */
import { redisBus } from '../../engine/src/bus/index.js';
import { TestRedis } from '../../engine/src/bus/testing/redis-server.js';
import { systemClock } from '../../engine/src/kernel/index.js';
import type { Bus } from '../../engine/src/workflow/coordinator/index.js';
import { localBus } from './postgres-node.js';

const isRedis = process.env['DUCTOR_TEST_BUS'] === 'redis';
let redis: Promise<TestRedis> | undefined;
let channels = 0;
const closing: (() => Promise<void>)[] = [];

async function started(): Promise<TestRedis> {
  const server = await TestRedis.start();
  process.on('exit', () => server.signal('SIGKILL'));
  return server;
}

async function redisUrl(): Promise<string> {
  redis ??= started();
  return (await redis).url;
}

/** Settings of engine processes; without Redis none, so that their hints go over the database. */
export async function busSettings(): Promise<Readonly<Record<string, string>>> {
  return isRedis ? { REDIS_URL: await redisUrl() } : {};
}

/**
 * A bus for nodes of this process, which all hold it. One of Redis says on one connection and hears on the other, as
 * two nodes would: a node of Redis does not hear itself. Resolves once it hears.
 */
export async function sharedBus(): Promise<Bus> {
  if (!isRedis) return localBus();
  const url = await redisUrl();
  const shared = { url, channels: [`ductor:test-${(channels += 1)}`], clock: systemClock() };
  const [says, hears] = [redisBus({ ...shared, origin: 'says' }), redisBus({ ...shared, origin: 'hears' })];
  closing.push(
    () => says.close(),
    () => hears.close(),
  );
  await hears.opened();
  return {
    publish: (topic, body) => says.publish(topic, body),
    subscribe: (topic, listener) => hears.subscribe(topic, listener),
  };
}

/** Closes what was opened here, and ends the server. */
export async function closeTestBus(): Promise<void> {
  for (const close of closing.splice(0)) await close();
  const server = redis;
  redis = undefined;
  await (await server)?.stop();
}
