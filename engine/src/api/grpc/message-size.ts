/** How large a request may be, the same at every door. */
import { DuctorError } from '../../kernel/index.js';

/** Most bytes of a request: of the message, and of the body that carries it. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Up to so many bytes more grpc-js lets through, so that the refusal can say a code. Beyond, it refuses by itself when
 * it reads the length: RESOURCE_EXHAUSTED without details.
 */
export const MESSAGE_MARGIN_BYTES = 64 * 1024;

/** The refusal. */
export function messageTooLarge(bytes: number): DuctorError {
  const problem = `has ${bytes} bytes, more than ${MAX_MESSAGE_BYTES}`;
  const remedy = 'Send less: store large values elsewhere and pass references, or split the batch.';
  return new DuctorError('message_too_large', `the request ${problem}`, {
    details: [{ path: '', value: `${bytes} bytes`, problem, remedy }],
    remedy,
  });
}
