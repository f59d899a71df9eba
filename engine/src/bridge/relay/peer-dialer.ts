/**
 * Dials RelayService of other nodes: a stream for each worker that is lent, one connection for all streams to a node,
 * which ends with the last of them.
 */
import { credentials, Metadata, type ChannelCredentials, type ClientOptions } from '@grpc/grpc-js';
import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import { DuctorError, type Clock } from '../../kernel/index.js';
import { RelayRequest, RelayServiceClient, type RelayResponse } from '../../gen/ductor/relay/v1/relay.js';
import type { WorkRequest } from '../../gen/ductor/v1/bridge.js';
import type { PeerNode, RelayDialer, RelayLine, RelayLineEvents, RelayOpening } from './ports.js';

/** The key of the metadata that holds the pass. */
export const PASS_KEY = 'ductor-relay-pass';

/** Certificates of connections to other nodes, as PEM bytes. */
export interface PeerTls {
  /** Authorities of the nodes' certificates; null: those that Node.js trusts. */
  readonly ca: Buffer | null;
  /** What this node shows of itself, where it has it. */
  readonly own: { readonly cert: Buffer; readonly key: Buffer } | null;
}

/** What the dialer needs. */
export interface PeerDialerOptions {
  readonly clock: Clock;
  /** Makes a pass to the node for the tenant. */
  readonly pass: (node: PeerNode, tenantId: string) => string;
  /** Reads the certificates, for each connection anew; null: connections are in clear. */
  readonly tls: () => PeerTls | null;
  /** Told of lines that ended with an error. */
  readonly log: (line: string, error: unknown) => void;
}

const MESSAGE_BYTES = 8 * 1024 * 1024;
const CHANNEL_OPTIONS: ClientOptions = {
  'grpc.max_receive_message_length': MESSAGE_BYTES,
  'grpc.max_send_message_length': MESSAGE_BYTES,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 500,
};
/** A stream on which nothing came by then is given up. */
const WELCOME_MS = 5_000;

/** A connection to a node. */
interface Peer {
  readonly client: RelayServiceClient;
  lines: number;
}

function credentialsOf(tls: PeerTls | null): ChannelCredentials {
  if (tls === null) return credentials.createInsecure();
  return credentials.createSsl(tls.ca, tls.own?.key ?? null, tls.own?.cert ?? null);
}

/** Connections, each for as long as somebody has a line on it. */
class Peers {
  readonly #byNode = new Map<string, Peer>();
  readonly #tls: PeerDialerOptions['tls'];

  constructor({ tls }: PeerDialerOptions) {
    this.#tls = tls;
  }

  /** The connection to the node, for one more line. */
  take({ nodeId, address }: PeerNode): Peer {
    let peer = this.#byNode.get(nodeId);
    if (peer === undefined) {
      peer = { client: new RelayServiceClient(address, credentialsOf(this.#tls()), CHANNEL_OPTIONS), lines: 0 };
      this.#byNode.set(nodeId, peer);
    }
    peer.lines += 1;
    return peer;
  }

  /** A line on it has ended. */
  release({ nodeId }: PeerNode, peer: Peer): void {
    peer.lines -= 1;
    if (peer.lines > 0) return;
    if (this.#byNode.get(nodeId) === peer) this.#byNode.delete(nodeId);
    peer.client.close();
  }
}

/**
 * Makes a line of a call.
 *
 * @param over told once when it has ended, before anybody else
 */
function lineOn(
  call: ClientDuplexStream<RelayRequest, RelayResponse>,
  { clock, log }: PeerDialerOptions,
  events: RelayLineEvents,
  over: (line: RelayLine) => void,
): RelayLine {
  let isOver = false;
  const limit = clock.setTimer(WELCOME_MS, () => call.cancel());
  const end = (tell: () => void): void => {
    if (isOver) return;
    isOver = true;
    limit.cancel();
    over(line);
    tell();
  };
  call.on('data', ({ work }: RelayResponse) => {
    limit.cancel();
    if (!isOver && work !== undefined) events.received(work);
  });
  call.on('error', (error: ServiceError) =>
    end(() => {
      log(`a relay to the node at ${call.getPeer()} ended`, error);
      events.ended(new DuctorError('host_unreachable', error.details || error.message));
    }),
  );
  call.on('end', () => end(() => events.ended(null)));
  const line: RelayLine = {
    send: (work: WorkRequest) => void (isOver || call.write(RelayRequest.fromPartial({ work }))),
    finish: () => void (isOver || call.end()),
    cancel: () => end(() => call.cancel()),
  };
  return line;
}

/** A dialer. */
export function peerDialer(options: PeerDialerOptions): RelayDialer {
  const peers = new Peers(options);
  const lines = new Set<RelayLine>();
  const open = (node: PeerNode, { tenantId, workflows, work }: RelayOpening, events: RelayLineEvents): RelayLine => {
    const metadata = new Metadata();
    metadata.set(PASS_KEY, options.pass(node, tenantId));
    const peer = peers.take(node);
    const call = peer.client.relay(metadata);
    const line = lineOn(call, options, events, (ended) => {
      lines.delete(ended);
      peers.release(node, peer);
    });
    lines.add(line);
    call.write(RelayRequest.fromPartial({ hello: { workflows: [...workflows] }, work }));
    return line;
  };
  return {
    dial(node, opening, events) {
      try {
        return open(node, opening, events);
      } catch (error) {
        options.log(`a relay to node ${node.nodeId} at ${node.address} cannot be opened`, error);
        options.clock.defer(() => events.ended(DuctorError.from(error)));
        return { send: () => undefined, finish: () => undefined, cancel: () => undefined };
      }
    },
    close() {
      for (const line of [...lines]) line.cancel();
    },
  };
}
