import { DuctorError } from '../kernel/index.js';

/**
 * The promise, or the abort if that comes first; what the promise does goes on.
 *
 * Throws what the promise throws, and the reason of the signal; request_cancelled where that is no DuctorError.
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      const { reason } = signal;
      reject(reason instanceof DuctorError ? reason : new DuctorError('request_cancelled', 'the call was given up'));
    };
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
