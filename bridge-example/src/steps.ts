/**
 * How this app lends its steps to the engine. Three forms, one protocol: a stream that the app holds (the default), a
 * gRPC service that the engine dials, signed HTTP calls of the engine. The workflow is the same in each.
 */
import { createServer } from 'node:http';
import { type AnyWorkflow, createWorker, expressCallback, registerEndpoint, serveCallbacks } from '@ductor/sdk';
import express from 'express';

/** The forms, as BRIDGE names them. */
export const FORMS = ['stream', 'grpc', 'http'] as const;

/** A form. */
export type Form = (typeof FORMS)[number];

const AT_ONCE = 50;

/**
 * Runs the steps; resolves when the engine knows where.
 *
 * @param port where the engine calls, for the forms in which it does; 0 for any free one
 */
export async function serveSteps(form: Form, workflow: AnyWorkflow, port: number): Promise<void> {
  const workflows = [workflow];
  if (form === 'stream') {
    await createWorker({ workflows, capacity: AT_ONCE }).ready;
  } else if (form === 'grpc') {
    const callbacks = serveCallbacks({ name: 'leads', workflows, port, concurrency: AT_ONCE });
    process.once('SIGTERM', () => void callbacks.stop());
    await callbacks.ready;
  } else {
    await serveHttp(workflows, port);
  }
}

async function serveHttp(workflows: readonly AnyWorkflow[], port: number): Promise<void> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  process.once('SIGTERM', () => server.close());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/callbacks`;
  const { signingKeys } = await registerEndpoint({ name: 'leads', form: 'http', url, workflows, concurrency: AT_ONCE });
  app.post('/callbacks', expressCallback({ workflows, signingKey: signingKeys, audience: url }));
}
