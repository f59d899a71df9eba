/**
 * Which protocol a request speaks, by its content type: Connect (one answer or a stream) or gRPC-Web, each with JSON or
 * protobuf messages.
 */
import type { DescMessage, Registry } from '@bufbuild/protobuf';
import { decodeMessage, encodeMessage } from '../json/codec.js';
import { parseJson } from '../json/parse.js';

/** How messages are written. */
export interface Codec {
  /** The message of a request as protobuf. Throws invalid_argument, message_too_large. */
  read(desc: DescMessage, bytes: Uint8Array): Uint8Array;
  /** The bytes of an answer that is protobuf. */
  write(desc: DescMessage, bytes: Uint8Array): Uint8Array;
}

/** A protocol with the content type of its answers. */
export interface Protocol {
  readonly name: 'connect-unary' | 'connect-stream' | 'grpc-web';
  /** gRPC-Web in base64, for browsers that cannot read bytes. */
  readonly isText: boolean;
  readonly codec: Codec;
  readonly contentType: string;
}

/** Content types that are served. */
export const CONTENT_TYPES = [
  ...['application/json', 'application/proto', 'application/connect+json', 'application/connect+proto'],
  ...['application/grpc-web', 'application/grpc-web+proto', 'application/grpc-web+json'],
  ...['application/grpc-web-text', 'application/grpc-web-text+proto', 'application/grpc-web-text+json'],
] as const;

const PROTO: Codec = { read: (_, bytes) => bytes, write: (_, bytes) => bytes };

function jsonCodec(registry: Registry): Codec {
  return {
    read: (desc, bytes) => encodeMessage(registry, desc, parseJson(bytes)),
    write: (desc, bytes) => Buffer.from(decodeMessage(registry, desc, bytes)),
  };
}

/** Finds the protocol of a content type; undefined when it is none of CONTENT_TYPES. */
export function protocols(registry: Registry): (contentType: string) => Protocol | undefined {
  const json = jsonCodec(registry);
  const known = new Map(
    CONTENT_TYPES.map((contentType): [string, Protocol] => {
      const isUnary = contentType === 'application/json' || contentType === 'application/proto';
      const isWeb = contentType.startsWith('application/grpc-web');
      const name = isWeb ? 'grpc-web' : isUnary ? 'connect-unary' : 'connect-stream';
      const codec = contentType.endsWith('json') ? json : PROTO;
      return [contentType, { name, codec, contentType, isText: contentType.includes('-text') }];
    }),
  );
  return (contentType) => known.get(contentType);
}
