/**
 * The doors of a node on one port: gRPC, REST, Connect, gRPC-Web, and pages for people. All of them lead to the same
 * guarded methods.
 *
 *   built -> bound -> draining -> closed
 */
import type { Clock, DuctorError } from '../kernel/index.js';
import { COMMENTS } from '../gen/comments.js';
import { FILE_DESCRIPTOR_SET_BASE64 } from '../gen/descriptors.js';
import { createConnectDoor } from './connect/connect-door.js';
import { readContract } from './contract/contract.js';
import { createGrpcServer, type GrpcServerOptions } from './grpc/index.js';
import { HTTP_LIMITS, type HttpLimits } from './http/limits.js';
import { OpenStreams } from './http/open-streams.js';
import type { MetricsAccess } from './http/pages/metrics-access.js';
import { createPages, type PagesOptions } from './http/pages/pages.js';
import { createPort } from './port/port.js';
import type { TlsFiles } from './port/tls.js';
import { createRestDoor } from './rest/rest-door.js';

/** What the doors need. */
export interface DoorsOptions extends GrpcServerOptions {
  readonly clock: Clock;
  /** A registry of prom-client. */
  readonly metrics: PagesOptions['metrics'];
  readonly metricsAccess: MetricsAccess;
  /** Default: HTTP_LIMITS. */
  readonly limits?: Partial<HttpLimits>;
  /** Default: null, everything in clear. */
  readonly tls?: TlsFiles | null;
}

/** The doors. */
export interface Doors {
  /** Listens. Returns the port. Throws address_unavailable. */
  bind(host: string, port: number): Promise<number>;
  /** Says that the node does not serve, so that load balancers stop sending; calls are still answered. */
  drain(): void;
  /** Ends streams, lets calls finish, closes connections; those that do not end in time are cut. */
  close(): Promise<void>;
}

/**
 * Builds the doors. Throws internal when a method of the contract cannot be served as it says, invalid_argument when
 * the files of TLS cannot be used.
 */
export function createDoors(options: DoorsOptions): Doors {
  const { clock, log, metrics, metricsAccess } = options;
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const grpc = createGrpcServer(options);
  const contract = readContract(Buffer.from(FILE_DESCRIPTOR_SET_BASE64, 'base64'));
  const report = (caught: unknown): DuctorError => grpc.report(caught, 'http');
  const { methods } = grpc;
  const streams = new OpenStreams();
  const rest = createRestDoor({ contract, methods, report, clock, streams, keepAliveMs: limits.keepAliveMs });
  const connect = createConnectDoor({ contract, methods, clock, streams });
  const isReady = (): boolean => grpc.isServing();
  const pages = createPages({ contract, comments: COMMENTS, isReady, metrics, metricsAccess, report });
  const port = createPort({
    ...{ clock, limits },
    http2: (socket) => grpc.accept(socket),
    handler(request, response) {
      if (!rest(request, response) && !connect(request, response)) pages(request, response);
    },
    tls: options.tls ?? null,
    onUnusableTls: (err) => log.warn({ err }, 'a new certificate cannot be used, the one before it stays'),
    onTooMany: () => log.warn({ connections: limits.connections }, 'too many connections: one was closed'),
  });
  return {
    async bind(host, number) {
      const bound = await port.bind(host, number);
      grpc.start();
      return bound;
    },
    drain() {
      grpc.drain();
      port.drain();
    },
    async close() {
      streams.endAll();
      await Promise.all([grpc.close(), port.close()]);
    },
  };
}
