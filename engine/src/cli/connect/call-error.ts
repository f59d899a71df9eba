/** What a gRPC call failed with, as a DuctorError. */
import { type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Error as ErrorMessage } from '../../gen/ductor/v1/common.js';
import { DuctorError, ERROR_CATALOGUE, type ErrorCode } from '../../kernel/index.js';
import type { Endpoint } from './endpoint.js';

/** Trailing metadata in which an engine says everything about an error. */
const ERROR_KEY = 'ductor-error-bin';

const BY_STATUS: ReadonlyMap<status, ErrorCode> = new Map([
  [status.UNAUTHENTICATED, 'unauthenticated'],
  [status.PERMISSION_DENIED, 'permission_denied'],
  [status.NOT_FOUND, 'not_found'],
  [status.UNIMPLEMENTED, 'unimplemented'],
  [status.DEADLINE_EXCEEDED, 'deadline_exceeded'],
  [status.INVALID_ARGUMENT, 'invalid_argument'],
  [status.RESOURCE_EXHAUSTED, 'limit_exceeded'],
]);

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERROR_CATALOGUE, text);

function toldBy(metadata: Metadata | undefined): ErrorMessage | undefined {
  const [bytes] = metadata?.get(ERROR_KEY) ?? [];
  return Buffer.isBuffer(bytes) ? ErrorMessage.decode(bytes) : undefined;
}

/** The error of a failed call: what the engine said, or that none answered. */
export function callError(error: ServiceError, { address, source }: Endpoint): DuctorError {
  const told = toldBy(error.metadata);
  if (told !== undefined) {
    // A newer engine may know codes that this command does not: then the text says which.
    const [code, note] = isCode(told.code) ? [told.code, ''] : (['internal', ` [${told.code}]`] as const);
    return new DuctorError(code, `${told.message}${note}`, {
      details: told.details,
      remedy: told.remedy,
      cause: error,
    });
  }
  if (error.code === status.UNAVAILABLE) {
    return new DuctorError('engine_unreachable', `no engine answers at ${address} (named by ${source})`, {
      cause: error,
    });
  }
  return new DuctorError(BY_STATUS.get(error.code) ?? 'internal', error.details, { cause: error });
}
