/** A definition as the engine takes it: plain JSON with the contract's field names. */
import type { TemplateJson } from './template.js';

/** How failed attempts are tried again. */
export interface RetryJson {
  max_attempts?: number;
  initial_interval?: string;
  backoff?: number;
  max_interval?: string;
  jitter?: number;
  non_retryable?: string[];
  total_timeout?: string;
}

/** When a step begins, by its edges. */
export interface JoinJson {
  mode?: 'all' | 'any' | 'n_of';
  count?: number;
  cancel_losers?: boolean;
}

/** At most so many holders of a key at a time. */
export interface ConcurrencyJson {
  key: string;
  limit: number;
}

/** At most so many beginnings in each `per`. */
export interface RateLimitJson {
  key: string;
  per: string;
  limit: number;
}

/** One step. */
export interface StepJson {
  ref: string;
  type:
    | 'STEP_TYPE_CALLBACK'
    | 'STEP_TYPE_DATAFLOW'
    | 'STEP_TYPE_WAIT'
    | 'STEP_TYPE_SWITCH'
    | 'STEP_TYPE_SIGNAL'
    | 'STEP_TYPE_APPROVAL'
    | 'STEP_TYPE_FAIL'
    | 'STEP_TYPE_COMPLETE'
    | 'STEP_TYPE_HTTP'
    | 'STEP_TYPE_SUB_WORKFLOW'
    | 'STEP_TYPE_SELECT'
    | 'STEP_TYPE_ROUTE'
    | 'STEP_TYPE_CLAIM'
    | 'STEP_TYPE_SCATTER'
    | 'STEP_TYPE_GATHER'
    | 'STEP_TYPE_LOOP'
    | 'STEP_TYPE_CONTINUE_AS_NEW';
  title?: string;
  args?: { [key: string]: TemplateJson };
  input?: TemplateJson;
  retry?: RetryJson;
  timeout?: string;
  cancel_timeout?: string;
  queue?: string;
  schedule_to_start_timeout?: string;
  heartbeat_timeout?: string;
  join?: JoinJson;
  body?: BodyJson;
  priority?: number;
  fairness_key?: string;
  cost?: number;
  idempotency_key?: string;
  concurrency?: ConcurrencyJson[];
  rate_limit?: RateLimitJson;
}

/** Steps within a step. */
export interface BodyJson {
  steps: StepJson[];
  edges: EdgeJson[];
  output?: TemplateJson;
}

/** One edge. */
export interface EdgeJson {
  source_ref: string;
  target_ref: string;
  type: 'EDGE_TYPE_SUCCESS' | 'EDGE_TYPE_FAILURE' | 'EDGE_TYPE_ALWAYS' | 'EDGE_TYPE_TIMEOUT' | 'EDGE_TYPE_COMPENSATE';
  condition?: string;
  case?: string;
}

/** What callers may ask of a run. */
export interface UpdateJson {
  name: string;
  input_schema?: { [key: string]: unknown };
  validate?: string;
  handled_by: string;
  output?: TemplateJson;
}

/** A whole definition. */
export interface DefinitionJson {
  family_slug: string;
  title?: string;
  steps: StepJson[];
  edges: EdgeJson[];
  output?: TemplateJson;
  input_schema?: { [key: string]: unknown };
  timeout?: string;
  on_failure?: 'drain' | 'cancel';
  on_exhausted?: 'fail' | 'park';
  retention?: string;
  priority?: number;
  fairness_key?: string;
  concurrency?: ConcurrencyJson[];
  rate_limit?: RateLimitJson;
  updates?: UpdateJson[];
  queries?: { [name: string]: string };
}
