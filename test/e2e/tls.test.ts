/** An engine whose port speaks TLS: client and worker of the SDK, and the command line, over https. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWorker, defineWorkflow, DuctorClient } from '@ductor/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { developmentKey } from '../support/api-key.js';
import { ROOT, startChild } from '../support/child.js';
import { type Engine, startEngine } from '../support/engine.js';
import { cleanUpProcesses } from '../support/processes.js';

const fixture = (name: string): string => join(ROOT, 'test/fixtures/tls', name);
const pem = (name: string): string => readFileSync(fixture(name), 'utf8');
const test = testDatabase();
cleanUpProcesses();

const double = defineWorkflow({
  slug: 'double',
  input: z.object({ number: z.number() }),
  build: (w) => w.step('double', { run: ({ number }) => Promise.resolve({ number: number * 2 }) }).output,
});

let engine: Engine;
let apiKey: string;
beforeAll(async () => {
  ({ apiKey } = await developmentKey(test.db));
  const env = {
    DUCTOR_TLS_CERT: fixture('server.pem'),
    DUCTOR_TLS_KEY: fixture('server-key.pem'),
    DUCTOR_TLS_CLIENT_CA: fixture('ca.pem'),
  };
  engine = await startEngine({ databaseUrl: test.url, env });
});

/** The name that the certificate has: grpc-js gives an IP address as server name otherwise, which TLS knows none of. */
const https = (): string => `https://${engine.address.replace('127.0.0.1', 'localhost')}`;
const own = { ca: pem('ca.pem'), cert: pem('client.pem'), key: pem('client-key.pem') };

describe('an engine that speaks TLS and asks for certificates', () => {
  it('serves client and worker that have one', async () => {
    const connection = { engine: https(), apiKey, engineTls: own };
    const worker = createWorker({ ...connection, workflows: [double] });
    await worker.ready;
    const client = new DuctorClient(connection);
    const run = await client.trigger(double, { number: 21 });
    expect(await run.result({ timeoutMs: 30_000 })).toEqual({ number: 42 });
    client.close();
    await worker.stop();
  });

  it.each([
    ['in clear', { engine: () => engine.address }],
    ['without a certificate', { engine: https, engineTls: { ca: own.ca } }],
    ['with an authority that did not sign the engine', { engine: https, engineTls: {} }],
  ])('is out of reach %s', async (_, { engine: address, ...rest }) => {
    const client = new DuctorClient({ engine: address(), apiKey, ...rest });
    const tried = client.trigger(double, { number: 1 });
    await expect(tried).rejects.toMatchObject({ code: 'engine_unreachable' });
    client.close();
  });

  it.each([
    ['half of the files', { DUCTOR_TLS_CERT: fixture('server.pem') }, 'DUCTOR_TLS_KEY'],
    ['a file that is not there', { DUCTOR_TLS_CERT: '/nowhere.pem', DUCTOR_TLS_KEY: '/nowhere.pem' }, '/nowhere.pem'],
    ['a port that is taken', {}, 'cannot listen on'],
  ])('ends at once when it is started with %s', async (_, settings, message) => {
    const port = engine.address.replace(/.*:/, '');
    const env = { DATABASE_URL: test.url, DUCTOR_SECRET: 'x'.repeat(40), DUCTOR_PORT: port, ...settings };
    const child = startChild({ name: 'refused', args: [join(ROOT, 'engine/bin/ductor.js'), 'start'], env });
    expect((await child.exited).code).toBe(1);
    expect(child.output).toContain(message);
  });
});
