/** Where the engine is and how calls to it are made: address, key, channel settings. */
import { type ChannelCredentials, type ClientOptions, credentials, Metadata } from '@grpc/grpc-js';
import { DuctorError } from '../errors.js';
import { type PayloadCodec, type ValueCoder, valueCoder } from '../values/payload-codec.js';
import type { OpenTelemetryApi } from './open-telemetry.js';

/** Certificates of a connection with TLS, as PEM texts. */
export interface EngineTls {
  /** Authorities of the engine's certificate. Default: those that Node.js trusts. */
  readonly ca?: string;
  /** Certificate of this app, where the engine asks for one. With `key`. Default: none. */
  readonly cert?: string;
  readonly key?: string;
}

/** How to reach the engine. */
export interface ConnectionOptions {
  /**
   * Address of an engine node, or of several: "127.0.0.1:7400", "http://host:7400" in clear, "https://host:7400" with
   * TLS.
   * Default: DUCTOR_ADDRESS, else 127.0.0.1:7400.
   */
  readonly engine?: string | readonly string[];
  /** API key. Default: DUCTOR_API_KEY. */
  readonly apiKey?: string;
  /** Of https addresses. Default: the authorities that Node.js trusts, no certificate of our own. */
  readonly engineTls?: EngineTls;
  /**
   * The app's OpenTelemetry, `import * as openTelemetry from '@opentelemetry/api'`: triggers and step bodies become
   * spans, linked over the engine. Default: none.
   */
  readonly openTelemetry?: OpenTelemetryApi;
  /**
   * Codes the bytes of values, such as by encryption: the engine then sees nothing of them. Client and workers of an
   * app need the same one. Default: none.
   */
  readonly payloadCodec?: PayloadCodec;
}

/** A resolved connection. */
export interface Connection {
  /** host:port of each node named. */
  readonly addresses: readonly string[];
  /** Turns values into payloads and back. */
  readonly values: ValueCoder;
  readonly credentials: ChannelCredentials;
  /** Of the nodes' URLs. */
  readonly scheme: 'http' | 'https';
  /** Value of the header of that name. */
  readonly authorization: string;
  readonly metadata: Metadata;
}

const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Settings of every channel: messages up to 8 MiB, pings so that a dead peer is noticed within 15 s. */
export const CHANNEL_OPTIONS: ClientOptions = {
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
};

/** Fills in defaults from the environment. Throws DuctorError invalid_argument naming what is missing or malformed. */
export function resolveConnection(
  options: ConnectionOptions,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Connection {
  const given = options.engine ?? env['DUCTOR_ADDRESS'] ?? '127.0.0.1:7400';
  const parsed = (typeof given === 'string' ? given.split(',') : given).map(parseAddress);
  const secure = parsed.some((address) => address.secure);
  const apiKey = options.apiKey ?? env['DUCTOR_API_KEY'];
  if (apiKey === undefined || apiKey === '') {
    throw new DuctorError('invalid_argument', 'no API key was given', { remedy: 'pass apiKey, or set DUCTOR_API_KEY' });
  }
  const metadata = new Metadata();
  const authorization = `Bearer ${apiKey}`;
  metadata.set('authorization', authorization);
  return {
    addresses: parsed.map((address) => address.hostPort),
    values: valueCoder(options.payloadCodec),
    credentials: channelCredentials(secure, options.engineTls),
    metadata,
    scheme: secure ? 'https' : 'http',
    authorization,
  };
}

/** Throws invalid_argument for certificates without a connection that would use them, or half of a pair. */
function channelCredentials(secure: boolean, tls: EngineTls | undefined): ChannelCredentials {
  if (tls === undefined) return secure ? credentials.createSsl() : credentials.createInsecure();
  const refused = (problem: string, remedy: string): DuctorError =>
    new DuctorError('invalid_argument', `engineTls ${problem}`, { remedy });
  if (!secure) throw refused('is given for addresses in clear', 'write the address as https://host:7400');
  const { ca, cert, key } = tls;
  if ((cert === undefined) !== (key === undefined)) throw refused('has only one of cert and key', 'pass both');
  const bytes = (pem: string | undefined): Buffer | null => (pem === undefined ? null : Buffer.from(pem));
  return credentials.createSsl(bytes(ca), bytes(key), bytes(cert));
}

/** One target for a channel that tries all addresses: host:port, or ipv4:a,b where there are several. */
export function channelTarget(addresses: readonly string[]): string {
  const [first, ...others] = addresses;
  if (first === undefined)
    throw new DuctorError('invalid_argument', 'the list of engine addresses is empty', { remedy: 'name at least one' });
  return others.length === 0 ? first : `ipv4:${addresses.join(',')}`;
}

function parseAddress(text: string): { hostPort: string; secure: boolean } {
  const match = /^(?:(https?):\/\/)?([^/\s:]+|\[[0-9a-fA-F:]+\]):(\d{1,5})\/?$/.exec(text.trim());
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) {
    throw new DuctorError('invalid_argument', `engine address ${JSON.stringify(text)} is not host:port`, {
      remedy: 'write it as 127.0.0.1:7400, http://host:7400 or https://host:7400',
    });
  }
  return { hostPort: `${match[2] ?? ''}:${port}`, secure: match[1] === 'https' };
}
