/**
 * An engine that loses its database while it starts, its port already bound, ends its process and says why: whoever
 * watches it can start it again, and does so on the same port.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { startEngine, type Engine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';
import { startTcpProxy, throughPort, upstreamOf, type TcpProxy } from '../support/tcp-proxy.js';

const test = testDatabase();
cleanUpProcesses();
let proxy: TcpProxy;
let engine: Engine;
beforeAll(async () => {
  proxy = await startTcpProxy(upstreamOf(test.url));
  engine = await startEngine({ databaseUrl: throughPort(test.url, proxy.port) });
});
afterAll(() => proxy.stop());

it('ends, and can be started again on its port', { timeout: 120_000 }, async () => {
  const { address } = engine;
  await engine.stop();
  // By then the doors are open.
  const cut = proxy.cutNext('ensure_journal_partitions', 'before');
  await expect(engine.start()).rejects.toThrow('ended before it was ready');
  await cut;
  expect((await engine.child.exited).code).toBe(1);
  expect(engine.child.output).toContain('database_unavailable');
  await engine.start();
  expect(engine.address).toBe(address);
});
