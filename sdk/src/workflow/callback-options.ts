/** What every step may say whose body runs in the app, and how it stands in a definition. */
import type { RetryJson, StepJson } from './definition-json.js';
import type { TurnOptions } from './turn-options.js';

/** How failed attempts are tried again. Durations: "500ms", "30s", "5m", "2h", "1d". */
export interface RetryOptions {
  /** Attempts in all, 1 to 1000. Default 3. */
  readonly maxAttempts?: number;
  /** Wait before the second attempt. Default "1s". */
  readonly initialInterval?: string;
  /** Factor from one wait to the next. Default 2. */
  readonly backoff?: number;
  /** Longest wait. Default "60s". */
  readonly maxInterval?: string;
  /** Random share of each wait, 0 to 1. Default 0.2. */
  readonly jitter?: number;
  /** Names of errors after which another attempt is useless. */
  readonly nonRetryable?: readonly string[];
  /** Longest time from the first attempt's scheduling to the end of the last. Default: no limit. */
  readonly totalTimeout?: string;
}

/** How attempts of a step are made. */
export interface CallbackOptions extends TurnOptions {
  readonly retry?: RetryOptions;
  /** Longest time of one attempt. Default "5m". */
  readonly timeout?: string;
  /** Time the body may take to end after its signal aborted. Default "30s". */
  readonly cancelTimeout?: string;
  /** Longest time an attempt may wait for a worker. Default: no limit. */
  readonly scheduleToStartTimeout?: string;
  /** Longest time between two calls of `ctx.heartbeat`, at least "500ms". Default: none are asked for. */
  readonly heartbeatTimeout?: string;
  /** Queue that workers serve. Default "default". */
  readonly queue?: string;
}

/** The step of a definition, but for its name, place and input. */
export function callbackJson(options: CallbackOptions): Omit<StepJson, 'ref'> {
  const { retry, timeout, cancelTimeout, scheduleToStartTimeout, heartbeatTimeout, queue } = options;
  return {
    type: 'STEP_TYPE_CALLBACK',
    ...(retry !== undefined && { retry: retryJson(retry) }),
    ...(timeout !== undefined && { timeout }),
    ...(cancelTimeout !== undefined && { cancel_timeout: cancelTimeout }),
    ...(scheduleToStartTimeout !== undefined && { schedule_to_start_timeout: scheduleToStartTimeout }),
    ...(heartbeatTimeout !== undefined && { heartbeat_timeout: heartbeatTimeout }),
    ...(queue !== undefined && { queue }),
  };
}

function retryJson(retry: RetryOptions): RetryJson {
  return {
    ...(retry.maxAttempts !== undefined && { max_attempts: retry.maxAttempts }),
    ...(retry.initialInterval !== undefined && { initial_interval: retry.initialInterval }),
    ...(retry.backoff !== undefined && { backoff: retry.backoff }),
    ...(retry.maxInterval !== undefined && { max_interval: retry.maxInterval }),
    ...(retry.jitter !== undefined && { jitter: retry.jitter }),
    ...(retry.nonRetryable !== undefined && { non_retryable: [...retry.nonRetryable] }),
    ...(retry.totalTimeout !== undefined && { total_timeout: retry.totalTimeout }),
  };
}
