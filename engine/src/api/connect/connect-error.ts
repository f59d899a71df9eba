/** Errors as Connect clients read them. */
import { Error as WireError } from '../../gen/ductor/v1/common.js';
import type { DuctorError, GrpcStatusName } from '../../kernel/index.js';
import { wireError } from '../grpc/errors/wire-error.js';
import { errorJson } from '../http/respond.js';

/** HTTP statuses of Connect, which differ from REST's: clients read the code, proxies the status. */
const CONNECT_STATUS: Readonly<Record<GrpcStatusName, number>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  FAILED_PRECONDITION: 400,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
  CANCELLED: 499,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
};

/** The HTTP status of an error of a call that has one answer. */
export function connectStatus(error: DuctorError): number {
  return CONNECT_STATUS[error.kind.grpc];
}

/** Name of the code in Connect's spelling, which has one l less. */
function connectCode(status: GrpcStatusName): string {
  return status.toLowerCase().replace('elled', 'eled');
}

/** The error object: Connect's code, and everything else in the detail ductor.v1.Error. */
export function connectError(error: DuctorError): { readonly [key: string]: unknown } {
  const value = Buffer.from(WireError.encode(wireError(error)).finish())
    .toString('base64')
    .replace(/=+$/, '');
  return {
    code: connectCode(error.kind.grpc),
    message: error.message,
    details: [{ type: 'ductor.v1.Error', value, debug: errorJson(error) }],
  };
}
