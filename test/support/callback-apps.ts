/** Apps that the engine calls, in this process: by signed HTTP and by gRPC, well-behaved or not. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import {
  type ConnectionOptions,
  type EndpointOptions,
  expressCallback,
  registerEndpoint,
  serveCallbacks,
} from '@ductor/sdk';

/** A form of the bridge where the engine calls. */
export type CallbackForm = 'http' | 'grpc';

/** A call of the engine, as it came by HTTP. */
export interface RecordedCall {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** An app. */
export interface CallbackTestApp {
  readonly url: string;
  readonly signingKeys: readonly string[];
  /** HTTP only. */
  readonly calls: readonly RecordedCall[];
  stop(): Promise<void>;
}

/** What an app is made of. */
export interface AppOptions extends Partial<EndpointOptions> {
  readonly connection: ConnectionOptions;
  readonly name: string;
  /** HTTP: sees a call before the handler does; true: it has answered it. */
  readonly before?: (call: RecordedCall, response: ServerResponse) => boolean;
}

/** Listens on a free port of the loopback. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The whole body. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Starts and registers an HTTP app. */
export async function httpApp(options: AppOptions): Promise<CallbackTestApp> {
  const { connection, workflows = [], strategies = [], before, ...endpoint } = options;
  const calls: RecordedCall[] = [];
  let handle: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const call = { headers: request.headers, body };
      calls.push(call);
      if (before?.(call, response) !== true) handle(Object.assign(request, { body }), response);
    });
  });
  const url = `http://127.0.0.1:${await listen(server)}/callbacks`;
  const served = { workflows, strategies };
  const { signingKeys } = await registerEndpoint({ ...connection, ...served, form: 'http', url, ...endpoint });
  handle = expressCallback({ ...served, signingKey: signingKeys, audience: url, log: () => undefined });
  return {
    ...{ url, signingKeys, calls },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Starts a gRPC app, which registers itself. */
export async function grpcApp(options: AppOptions): Promise<CallbackTestApp> {
  const { connection, before: _, ...endpoint } = options;
  const server = serveCallbacks({ ...connection, port: 0, log: () => undefined, ...endpoint });
  await server.ready;
  return {
    ...{ url: `http://127.0.0.1:${server.port}`, signingKeys: [], calls: [] },
    stop: () => server.stop(),
  };
}

/** Starts an app of the form. */
export function callbackApp(form: CallbackForm, options: AppOptions): Promise<CallbackTestApp> {
  return form === 'http' ? httpApp(options) : grpcApp(options);
}
