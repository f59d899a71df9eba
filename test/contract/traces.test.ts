/** One trace from the client's trigger to the step body, over the engine and over its restart. */
import * as openTelemetry from '@opentelemetry/api';
import { createWorker, defineWorkflow, DuctorClient, type Worker } from '@ductor/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSettings } from '../../engine/src/config.js';
import { clusterSecret } from '../../engine/src/kernel/index.js';
import { testDatabase } from '../../engine/src/store/testing/index.js';
import { createLog } from '../../engine/src/telemetry/index.js';
import { type RunningEngine, startEngine } from '../../engine/src/wire.js';
import { type RecordedSpan, type RecordingTelemetry, recordTelemetry } from '../support/recording-telemetry.js';
import { until } from '../support/wait.js';

const test = testDatabase();
const SECRET = 'a secret for tests, 32 bytes long';
const ANSWER = z.object({ data: z.object({ id: z.string() }) });
const TRACE = '0af7651916cd43dd8448eb211c80319c';

let telemetry: RecordingTelemetry;
let engine: RunningEngine;
let client: DuctorClient;
let worker: Worker;
let port = 0;

const twoSteps = defineWorkflow({
  slug: 'traced',
  input: z.object({}),
  build(w) {
    const first = w.step('first', {
      run: () => {
        openTelemetry.trace.getTracer('app').startSpan('inside first', {}, openTelemetry.context.active()).end();
        return Promise.resolve(1);
      },
    });
    const pause = w.wait('pause', { duration: '2s', after: first });
    return w.step('second', { after: pause, run: () => Promise.resolve(2) }).output;
  },
});
const failing = defineWorkflow({
  slug: 'failing',
  input: z.object({}),
  build: (w) =>
    w.step('fails', { retry: { maxAttempts: 1 }, run: () => Promise.reject(new RangeError('too far')) }).output,
});

async function start(): Promise<void> {
  const settings = readSettings({
    ...{ DATABASE_URL: test.url, DUCTOR_PORT: String(port), DUCTOR_ALLOW_UNSAFE_DATABASE: 'true' },
  });
  const log = createLog({ level: 'silent' });
  engine = await startEngine({ url: test.url, settings, secret: clusterSecret(SECRET), log });
  port = Number(engine.address.split(':').at(-1));
}

beforeAll(async () => {
  telemetry = recordTelemetry();
  await start();
  const { apiKey } = await engine.tenancy.ensureDevelopmentTenant(null);
  const connection = { engine: engine.address, apiKey, openTelemetry };
  worker = createWorker({ ...connection, workflows: [twoSteps, failing], handleSignals: false, log: () => undefined });
  await worker.ready;
  client = new DuctorClient(connection);
});
afterAll(async () => {
  client.close();
  await worker.stop();
  await engine.stop();
  telemetry.disable();
});

/** The only span of this name about the run. */
function spanOf(name: string, runId: string): RecordedSpan {
  const found = telemetry.spans.filter((span) => span.name === name && span.attributes['ductor.run_id'] === runId);
  expect(found.map((span) => span.name)).toEqual([name]);
  const [span] = found;
  if (span === undefined) throw new Error(`there is no span ${name}`);
  return span;
}

describe('a run in a trace', () => {
  it('has its trigger, its waits for a worker and its steps in the trace, also after a restart', async () => {
    const parent = { traceId: TRACE, spanId: 'b7ad6b7169203331', traceFlags: 1 };
    const outside = openTelemetry.trace.setSpanContext(openTelemetry.ROOT_CONTEXT, parent);
    const run = await openTelemetry.context.with(outside, () => client.trigger(twoSteps, {}));
    await until('the first step to be done', () => telemetry.spans.some(({ name }) => name === 'step first'));
    await engine.stop();
    await start();
    expect(await run.result({ timeoutMs: 30_000 })).toBe(2);

    const trigger = spanOf('trigger traced', run.id);
    const received = spanOf('ductor.trigger', run.id);
    expect(trigger).toMatchObject({ traceId: TRACE, parentId: parent.spanId });
    expect(received).toMatchObject({ traceId: TRACE, parentId: trigger.spanId });
    for (const step of ['first', 'second']) {
      const ofStep = { traceId: TRACE, parentId: received.spanId };
      expect(spanOf(`step ${step}`, run.id)).toMatchObject({ ...ofStep, attributes: { 'ductor.attempt': 1 } });
      const waits = telemetry.spans.filter(
        ({ name, attributes }) => name === 'ductor.dispatch' && attributes['ductor.step'] === step,
      );
      expect(waits[0]).toMatchObject(ofStep);
    }
    const inside = telemetry.spans.find(({ name }) => name === 'inside first');
    expect(inside).toMatchObject({ traceId: TRACE, parentId: spanOf('step first', run.id).spanId });
    const commits = telemetry.spans.filter(({ links }) => links.some(({ spanId }) => spanId === received.spanId));
    expect(commits.length).toBeGreaterThanOrEqual(3);
    for (const { name, attributes } of commits) {
      expect(name).toBe('ductor.commit');
      expect(attributes['ductor.run_id']).toContain(run.id);
    }
  });

  it('marks the span of a body that failed', async () => {
    const run = await client.trigger(failing, {});
    await expect(run.result({ timeoutMs: 20_000 })).rejects.toThrow('too far');
    await until('the span to end', () => telemetry.spans.some(({ name }) => name === 'step fails'));
    expect(spanOf('step fails', run.id)).toMatchObject({
      failed: true,
      traceId: spanOf('trigger failing', run.id).traceId,
    });
  });

  it('takes the header of a plain HTTP call, and none that says nothing', async () => {
    const { apiKey } = await engine.tenancy.ensureDevelopmentTenant(null);
    const post = async (traceparent: string): Promise<string> => {
      const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', traceparent };
      const url = `http://${engine.address}/api/workflows/failing:trigger`;
      const answer = await fetch(url, { method: 'POST', headers, body: '{"input": {}}' });
      return ANSWER.parse(await answer.json()).data.id;
    };
    const traced = await post(`00-${TRACE}-00f067aa0ba902b7-01`);
    expect(spanOf('ductor.trigger', traced)).toMatchObject({ traceId: TRACE, parentId: '00f067aa0ba902b7' });
    const untraced = await post('nonsense');
    expect(spanOf('ductor.trigger', untraced).parentId).toBeUndefined();
  });
});
