/**
 * A gRPC callback service: the app hosts it, the engine dials it.
 *
 *   starting (bound, refuses calls) --registered--> serving --stop()--> draining --> stopped
 */
import {
  Server,
  ServerCredentials,
  status,
  type Metadata,
  type ServerWritableStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { BridgeCallbackServiceService, type InvokeResponse } from '../gen/ductor/v1/callback.js';
import { DuctorError } from '../errors.js';
import { CallbackApp, type CallbackAppOptions } from './callback-app.js';
import { givenKeys, isLoopback, noKeys } from './development.js';
import { type EndpointOptions, registerEndpoint } from './register-endpoint.js';
import { CallbackVerifier, type HeaderValues } from './verify.js';

/** What serveCallbacks takes. */
export interface ServeCallbacksOptions extends CallbackAppOptions, Omit<EndpointOptions, 'form' | 'url' | 'name'> {
  /** Port to listen on; 0 for any free one. */
  readonly port: number;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** PEM texts. Default: no TLS, which the engine dials only within networks that it allows. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Names the endpoint in the tenant. Default "callbacks". */
  readonly name?: string;
  /** Where the engine dials it. Default: the address it listens on. */
  readonly url?: string;
  /**
   * Keys to verify with where the app does not register itself. Default: the app registers, and takes the keys that the
   * engine answers with; then DUCTOR_SIGNING_KEY counts for nothing.
   */
  readonly signingKey?: string | readonly string[];
  /** Takes unsigned calls and does not register; works on the loopback only. Never in production. Default false. */
  readonly insecureDevelopment?: boolean;
  /** How long `stop` waits for running bodies, ms. Default 10,000. */
  readonly drainTimeoutMs?: number;
}

/** A callback service that runs. */
export interface CallbackServer {
  /** Resolves when it is bound, and registered unless keys were given. Rejects with what was refused. */
  readonly ready: Promise<void>;
  /** Where it listens; 0 before it is bound. */
  readonly port: number;
  /** Takes no more calls, lets running bodies finish, closes. */
  stop(): Promise<void>;
}

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
const STATUS_OF: Readonly<Record<string, number>> = {
  unauthenticated: status.UNAUTHENTICATED,
  invalid_argument: status.INVALID_ARGUMENT,
  limit_exceeded: status.RESOURCE_EXHAUSTED,
  node_starting: status.UNAVAILABLE,
};

type InvokeCall = ServerWritableStream<Buffer, InvokeResponse>;

/** The method with its request as it came: bytes are verified before they are read. */
const SERVICE: ServiceDefinition = {
  invoke: {
    ...BridgeCallbackServiceService.invoke,
    requestDeserialize: (bytes: Buffer) => bytes,
    requestSerialize: (bytes: Buffer) => bytes,
  },
};

/** Starts one. Throws DuctorError invalid_argument for options that cannot work. */
export function serveCallbacks(options: ServeCallbacksOptions): CallbackServer {
  return new CallbackProcess(options);
}

class CallbackProcess implements CallbackServer {
  readonly ready: Promise<void>;
  readonly #options: ServeCallbacksOptions;
  readonly #app: CallbackApp;
  readonly #server = new Server({ 'grpc.max_receive_message_length': MESSAGE_BYTES_MAX });
  #verifier: CallbackVerifier | null = null;
  #port = 0;

  constructor(options: ServeCallbacksOptions) {
    this.#options = options;
    if (options.insecureDevelopment === true && !isLoopback(options.host ?? '127.0.0.1')) {
      throw new DuctorError('invalid_argument', `insecureDevelopment does not work on ${options.host}`, {
        remedy: 'listen on 127.0.0.1, or leave insecureDevelopment out',
      });
    }
    if (options.signingKey !== undefined && givenKeys(options.signingKey).length === 0) throw noKeys();
    this.#app = new CallbackApp(options);
    this.#server.addService(SERVICE, { invoke: (call: InvokeCall) => this.#invoke(call) });
    this.ready = this.#start();
    // Nobody has to listen: a service that nobody waits for reports through its log.
    this.ready.catch((error: unknown) => this.#app.log('error', 'callbacks are not served', { error: String(error) }));
  }

  get port(): number {
    return this.#port;
  }

  async stop(): Promise<void> {
    await this.ready.catch(() => undefined);
    const timeoutMs = this.#options.drainTimeoutMs ?? 10_000;
    const timer = this.#app.system.after(timeoutMs, () => {
      this.#app.abortAll();
      this.#server.forceShutdown();
    });
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    timer.cancel();
  }

  async #start(): Promise<void> {
    const { host = '127.0.0.1', port, signingKey, insecureDevelopment } = this.#options;
    this.#port = await this.#bind(`${host.includes(':') ? `[${host}]` : host}:${port}`);
    const { url = this.#address(host), audience } = this.#options;
    if (insecureDevelopment === true) this.#verifyWith('unsigned', audience);
    else if (signingKey !== undefined) this.#verifyWith(givenKeys(signingKey), audience);
    else this.#verifyWith(await this.#register(url), audience ?? url);
  }

  /** Where it listens, as a URL. */
  #address(host: string): string {
    const scheme = this.#options.tls === undefined ? 'http' : 'https';
    return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${this.#port}`;
  }

  #verifyWith(keys: readonly string[] | 'unsigned', audience: string | undefined): void {
    this.#verifier = new CallbackVerifier({ keys, audience, now: () => this.#app.system.now() });
  }

  #bind(address: string): Promise<number> {
    const { tls } = this.#options;
    const pair = tls && [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }];
    const security = pair === undefined ? ServerCredentials.createInsecure() : ServerCredentials.createSsl(null, pair);
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, security, (error, port) => (error === null ? resolve(port) : reject(error)));
    });
  }

  async #register(url: string): Promise<readonly string[]> {
    const named = { ...this.#options, url, form: 'grpc' as const, name: this.#options.name ?? 'callbacks' };
    const { signingKeys } = await registerEndpoint(named);
    return signingKeys;
  }

  #invoke(call: InvokeCall): void {
    const stop = new AbortController();
    call.on('cancelled', () => stop.abort());
    const answer = async (): Promise<void> => {
      if (this.#verifier === null) throw new DuctorError('node_starting', 'this app is not registered yet');
      const verified = this.#verifier.verify(headersOf(call.metadata), call.request);
      const token = 'task' in verified ? verified.task.token : Buffer.alloc(0);
      const event = await this.#app.handle(verified, {
        signal: stop.signal,
        beat: (beat) => call.write({ event: { $case: 'heartbeat', value: { ...beat, token } } }),
      });
      if (stop.signal.aborted) return;
      call.write({ event });
      call.end();
    };
    answer().catch((error: unknown) => {
      const known = error instanceof DuctorError ? error : undefined;
      const code = (known && STATUS_OF[known.code]) ?? status.INTERNAL;
      const problem = error instanceof Error ? error.message : String(error);
      this.#app.log('warn', 'a callback was refused', { code: known?.code ?? 'internal', problem });
      call.emit('error', { code, details: known === undefined ? 'the app failed' : problem });
    });
  }
}

function headersOf(metadata: Metadata): HeaderValues {
  return (name) => metadata.get(name).map(String);
}
