/**
 * gRPC callbacks: the engine dials BridgeCallbackService of an app.
 *
 * A channel leads to the address that the guard checked and to no other: it resolves no name and takes no proxy. A call
 * whose URL leads elsewhere by now gets a new channel. Calls are bounded by their signal.
 */
import { Client, credentials, Metadata, status, type ChannelOptions, type ServiceError } from '@grpc/grpc-js';
import { DuctorError } from '../../kernel/index.js';
import { orAborted, type EgressGuard, type EgressTarget } from '../../egress/index.js';
import { BridgeCallbackServiceService } from '../../gen/ductor/v1/callback.js';
import { MAX_ANSWER_BYTES, readEvent, type CallAnswer, type CallbackCall, type CallbackCaller } from './caller.js';

/** Channels that are kept. */
const MAX_CHANNELS = 1_000;
const MAX_SENT_BYTES = 8 * 1024 * 1024;
const INVOKE_PATH = BridgeCallbackServiceService.invoke.path;

const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_ANSWER_BYTES,
  'grpc.max_send_message_length': MAX_SENT_BYTES,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
};

const asIs = (bytes: Buffer): Buffer => bytes;

function channelTo({ address, port, hostname, isPlain, url }: EgressTarget): Client {
  const target = address.includes(':') ? `ipv6:[${address}]:${port}` : `ipv4:${address}:${port}`;
  const options = { ...CHANNEL_OPTIONS, 'grpc.default_authority': url.host };
  if (isPlain) return new Client(target, credentials.createInsecure(), options);
  return new Client(target, credentials.createSsl(), { ...options, 'grpc.ssl_target_name_override': hostname });
}

/** What a failed call means. */
function meaningOf({ code, details }: ServiceError): DuctorError {
  const text = details.slice(0, 200).replaceAll(/\p{Cc}+/gu, ' ');
  if (code === status.UNAVAILABLE) return new DuctorError('host_unreachable', `the host did not answer: ${text}`);
  return new DuctorError('callback_refused', `the app answered ${status[code] ?? code}: ${text}`);
}

/** The call on this channel. */
function invoke(client: Client, { body, signature, signal, beat }: CallbackCall): Promise<CallAnswer> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(signature)) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    const stream = client.makeServerStreamRequest(INVOKE_PATH, asIs, asIs, body, metadata);
    const end = (outcome: CallAnswer | DuctorError): void => {
      signal.removeEventListener('abort', give);
      if (outcome instanceof DuctorError) reject(outcome);
      else resolve(outcome);
      stream.cancel();
    };
    const give = (): void => end(new DuctorError('request_cancelled', 'the call was given up'));
    stream.on('data', (bytes: Buffer) => {
      try {
        const event = readEvent(bytes);
        if (event.$case === 'heartbeat') beat(event.value);
        else end(event);
      } catch (error) {
        end(DuctorError.from(error));
      }
    });
    stream.on('error', (error: ServiceError) => end(meaningOf(error)));
    stream.on('end', () => end(new DuctorError('callback_invalid', 'the app ended the call without a result')));
    signal.addEventListener('abort', give);
    if (signal.aborted) give();
  });
}

/** A caller behind this guard. */
export function grpcCaller(guard: EgressGuard): CallbackCaller {
  const channels = new Map<string, Client>();
  const channel = (target: EgressTarget): Client => {
    const key = `${target.url.origin} ${target.address}`;
    const known = channels.get(key);
    if (known !== undefined) return known;
    if (channels.size >= MAX_CHANNELS) close();
    const made = channelTo(target);
    channels.set(key, made);
    return made;
  };
  const close = (): void => {
    for (const client of channels.values()) client.close();
    channels.clear();
  };
  return {
    hasHeartbeats: true,
    async call(call) {
      const target = await orAborted(guard.check(call.url), call.signal);
      return invoke(channel(target), call);
    },
    close,
  };
}
