/** Defaults of retries and timeouts (docs/workflows.md), and a retry policy with all of them filled in. */
import { parseDurationMs } from '../../kernel/index.js';
import type { RetryPlan } from '../machine/plan.js';
import type { RetryDefinition } from './definition.js';

/** What a step that says nothing gets. */
export const STEP_DEFAULTS = {
  maxAttempts: 3,
  initialIntervalMs: 1000,
  backoff: 2,
  maxIntervalMs: 60_000,
  jitter: 0.2,
  timeoutMs: 300_000,
  cancelTimeoutMs: 30_000,
  queue: 'default',
} as const;

/** A validated duration in ms, or the default when there is none. */
export function durationOr(text: string | undefined, defaultMs: number): number {
  return text === undefined || text === '' ? defaultMs : (parseDurationMs(text) ?? defaultMs);
}

/** A validated duration in ms; null when there is none. */
export function durationOrNull(text: string | undefined): number | null {
  return text === undefined || text === '' ? null : (parseDurationMs(text) ?? null);
}

/** The whole policy. A long initial interval raises the default of max_interval to itself. */
export function retryPlan(retry: RetryDefinition = {}): RetryPlan {
  const initialIntervalMs = durationOr(retry.initial_interval, STEP_DEFAULTS.initialIntervalMs);
  return {
    maxAttempts: retry.max_attempts ?? STEP_DEFAULTS.maxAttempts,
    initialIntervalMs,
    backoff: retry.backoff ?? STEP_DEFAULTS.backoff,
    maxIntervalMs: durationOr(retry.max_interval, Math.max(initialIntervalMs, STEP_DEFAULTS.maxIntervalMs)),
    jitter: retry.jitter ?? STEP_DEFAULTS.jitter,
    nonRetryable: retry.non_retryable ?? [],
    totalTimeoutMs: durationOrNull(retry.total_timeout),
  };
}
