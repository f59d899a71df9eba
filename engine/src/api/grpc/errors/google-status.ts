/**
 * google.rpc.Status with the details ErrorInfo, BadRequest and RetryInfo, as bytes: what tools that know nothing of
 * Ductor read from the trailing metadata grpc-status-details-bin. Written by hand; the field numbers are those of
 * google/rpc/status.proto and google/rpc/error_details.proto.
 */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { DuctorError } from '../../../kernel/index.js';

const DOMAIN = 'ductor';
const TYPE_PREFIX = 'type.googleapis.com/google.rpc.';
/** Headers are bounded: with more violations than this the rest is only in ductor-error-bin's first ones, too. */
const MAX_VIOLATIONS = 20;

/** Tag of a field whose value has a length. */
const lengthDelimited = (field: number): number => (field << 3) | 2;
const varint = (field: number): number => field << 3;

function text(writer: BinaryWriter, field: number, value: string): BinaryWriter {
  return value === '' ? writer : writer.uint32(lengthDelimited(field)).string(value);
}

/** ErrorInfo { reason = 1; domain = 2 } */
function errorInfo({ code }: DuctorError): Uint8Array {
  return text(text(new BinaryWriter(), 1, code), 2, DOMAIN).finish();
}

/** BadRequest { repeated FieldViolation { field = 1; description = 2 } field_violations = 1 } */
function badRequest({ details }: DuctorError): Uint8Array {
  const writer = new BinaryWriter();
  for (const { path, problem, remedy } of details.slice(0, MAX_VIOLATIONS)) {
    writer.uint32(lengthDelimited(1)).fork();
    text(text(writer, 1, path), 2, `${problem}; ${remedy}`).join();
  }
  return writer.finish();
}

/** RetryInfo { Duration { seconds = 1; nanos = 2 } retry_delay = 1 } */
function retryInfo(delayMs: number): Uint8Array {
  const writer = new BinaryWriter().uint32(lengthDelimited(1)).fork();
  writer.uint32(varint(1)).int64(Math.floor(delayMs / 1000));
  writer.uint32(varint(2)).int32(Math.round(delayMs % 1000) * 1_000_000);
  return writer.join().finish();
}

/**
 * The bytes of Status { code = 1; message = 2; repeated Any { type_url = 1; value = 2 } details = 3 }.
 *
 * @param status number of the gRPC status
 */
export function googleStatus(error: DuctorError, status: number): Uint8Array {
  const details: [string, Uint8Array][] = [['ErrorInfo', errorInfo(error)]];
  if (error.details.length > 0) details.push(['BadRequest', badRequest(error)]);
  if (error.retryAfterMs !== undefined) details.push(['RetryInfo', retryInfo(error.retryAfterMs)]);
  const writer = new BinaryWriter().uint32(varint(1)).int32(status);
  text(writer, 2, error.message);
  for (const [type, value] of details) {
    writer.uint32(lengthDelimited(3)).fork();
    text(writer, 1, TYPE_PREFIX + type)
      .uint32(lengthDelimited(2))
      .bytes(value)
      .join();
  }
  return writer.finish();
}
