/** Calls that are answered once. */
import type { ClientUnaryCall, ServiceError } from '@grpc/grpc-js';
import { DuctorError } from '../errors.js';
import { callError } from './call-error.js';

/** Calls a unary method and turns its error. */
export function unary<T>(
  call: (done: (error: ServiceError | null, response: T) => void) => ClientUnaryCall,
): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, response) => (error === null ? resolve(response) : reject(callError(error))));
  });
}

/** What an answer must carry. Throws DuctorError internal when it does not. */
export function present<T>(data: T | undefined): T {
  if (data === undefined) throw new DuctorError('internal', 'the engine answered without a run');
  return data;
}
