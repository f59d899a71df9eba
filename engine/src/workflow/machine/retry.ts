/** When a failed attempt is followed by another. */
import type { RetryPlan } from './plan.js';

/**
 * How long to wait after a failed attempt: initial interval times backoff to the power of the attempts before it, at
 * most the longest interval, of which the share `jitter` is random (never longer than without jitter).
 *
 * @param attempt the attempt that failed, from 1
 * @param drawn a number in [0, 1)
 * @returns microseconds
 */
export function retryWaitUs(retry: RetryPlan, attempt: number, drawn: number): number {
  if (retry.initialIntervalMs <= 0) return 0;
  const grown = Math.min(retry.maxIntervalMs, retry.initialIntervalMs * retry.backoff ** (attempt - 1));
  return Math.ceil(grown * (1 - retry.jitter * drawn) * 1000);
}

/** Whether the policy allows another attempt after this failure. */
export function mayRetry(
  retry: RetryPlan,
  failure: { readonly code: string; readonly nonRetryable: boolean },
): boolean {
  return !failure.nonRetryable && !retry.nonRetryable.includes(failure.code);
}
