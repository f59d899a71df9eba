/** A failure as a gRPC status with its trailing metadata. */
import { Metadata, status } from '@grpc/grpc-js';
import { Error as WireError } from '../../../gen/ductor/v1/common.js';
import type { DuctorError } from '../../../kernel/index.js';
import { googleStatus } from './google-status.js';
import { wireError } from './wire-error.js';

/** Metadata with the serialized ductor.v1.Error. */
export const ERROR_KEY = 'ductor-error-bin';
/** Metadata with the serialized google.rpc.Status. */
export const STATUS_DETAILS_KEY = 'grpc-status-details-bin';

/** What grpc-js sends. */
export interface CallStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** Peers refuse large headers (8 KiB is common); with base64 and two copies this keeps below it. */
const MAX_MESSAGE_CHARS = 512;
const MAX_ERROR_BYTES = 2_400;

const shortened = (text: string): string =>
  text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS - 1)}…`;

/** The error in at most MAX_ERROR_BYTES: the last details go first, and are counted in the message. */
function boundedError(error: DuctorError): Buffer {
  const whole = { ...wireError(error), message: shortened(error.message) };
  for (let kept = whole.details.length; ; kept -= 1) {
    const left = whole.details.length - kept;
    const message = left === 0 ? whole.message : `${whole.message} (${left} more problems are not listed)`;
    const bytes = Buffer.from(WireError.encode({ ...whole, message, details: whole.details.slice(0, kept) }).finish());
    if (bytes.length <= MAX_ERROR_BYTES || kept === 0) return bytes;
  }
}

/** The status of a failure. What it says is for the caller: see report.ts for what is kept from one. */
export function toStatus(error: DuctorError): CallStatus {
  const code = status[error.kind.grpc];
  const metadata = new Metadata();
  metadata.set(ERROR_KEY, boundedError(error));
  const details = Buffer.from(googleStatus(error, code));
  if (details.length <= MAX_ERROR_BYTES) metadata.set(STATUS_DETAILS_KEY, details);
  return { code, details: shortened(error.message), metadata };
}
