/** Turns what a gRPC call failed with into a DuctorError. */
import { type Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { Error as ErrorMessage } from '../gen/ductor/v1/common.js';
import { DuctorError } from '../errors.js';

/** Trailing metadata in which the engine says everything about an error. */
const ERROR_KEY = 'ductor-error-bin';

/** The error of a failed call: what the engine said, or what the transport did when no engine answered. */
export function callError(error: ServiceError): DuctorError {
  const told = toldBy(error.metadata);
  if (told !== undefined) {
    return new DuctorError(told.code, told.message, {
      details: told.details,
      retryable: told.retryable,
      remedy: told.remedy,
      ...(told.retryAfter !== '' && { retryAfterMs: retryAfterMs(told.retryAfter) }),
      cause: error,
    });
  }
  if (error.code === status.UNAVAILABLE) {
    return new DuctorError('engine_unreachable', `no engine answered: ${error.details}`, {
      retryable: true,
      remedy: 'check the address, and that the engine runs',
      cause: error,
    });
  }
  const name = status[error.code] ?? 'UNKNOWN';
  return new DuctorError(name.toLowerCase(), error.details, {
    retryable: error.code === status.DEADLINE_EXCEEDED,
    cause: error,
  });
}

function toldBy(metadata: Metadata | undefined): ErrorMessage | undefined {
  const [bytes] = metadata?.get(ERROR_KEY) ?? [];
  return Buffer.isBuffer(bytes) ? ErrorMessage.decode(bytes) : undefined;
}

/** "1500ms" and "2s" in ms; what is neither is 0. */
export function retryAfterMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text);
  return match === null ? 0 : Number(match[1]) * (match[2] === 's' ? 1000 : 1);
}
