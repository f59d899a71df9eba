/** A workflow definition as users write it: plain JSON with the field names of the contract. */

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** How failed attempts are tried again; absent fields take the documented defaults. */
export interface RetryDefinition {
  readonly max_attempts?: number;
  readonly initial_interval?: string;
  readonly backoff?: number;
  readonly max_interval?: string;
  readonly jitter?: number;
  readonly non_retryable?: readonly string[];
  readonly total_timeout?: string;
}

/** When a step begins, by its edges; absent fields take the documented defaults. */
export interface JoinDefinition {
  /** all, any or n_of. */
  readonly mode?: string;
  readonly count?: number;
  readonly cancel_losers?: boolean;
}

/** At most so many holders of a key at a time. */
export interface ConcurrencyDefinition {
  /** CEL. */
  readonly key: string;
  readonly limit: number;
}

/** At most so many beginnings in each `per`, evenly spread. */
export interface RateLimitDefinition {
  /** CEL. */
  readonly key: string;
  readonly per: string;
  readonly limit: number;
}

/** One step. */
export interface StepDefinition {
  readonly ref: string;
  /** STEP_TYPE_CALLBACK and so on. */
  readonly type: string;
  readonly title?: string;
  readonly args?: { readonly [key: string]: Json };
  readonly input?: Json;
  readonly retry?: RetryDefinition;
  readonly timeout?: string;
  readonly cancel_timeout?: string;
  readonly queue?: string;
  readonly schedule_to_start_timeout?: string;
  readonly heartbeat_timeout?: string;
  readonly join?: JoinDefinition;
  readonly body?: BodyDefinition;
  /** 1 (first) to 5 (last). */
  readonly priority?: number;
  /** CEL. */
  readonly fairness_key?: string;
  /** Slots of a worker. */
  readonly cost?: number;
  /** CEL. */
  readonly idempotency_key?: string;
  readonly concurrency?: readonly ConcurrencyDefinition[];
  readonly rate_limit?: RateLimitDefinition;
}

/** Steps within a step. */
export interface BodyDefinition {
  readonly steps: readonly StepDefinition[];
  readonly edges?: readonly EdgeDefinition[];
  readonly output?: Json;
}

/** One edge. */
export interface EdgeDefinition {
  readonly source_ref: string;
  readonly target_ref: string;
  /** EDGE_TYPE_SUCCESS and so on. */
  readonly type: string;
  readonly condition?: string;
  readonly case?: string;
}

/** What callers may ask of an open run and have answered by one of its steps. */
export interface UpdateDefinition {
  readonly name: string;
  readonly input_schema?: { readonly [key: string]: Json };
  /** CEL: true or an empty text to accept, false or a reason to refuse. */
  readonly validate?: string;
  /** Ref of the step that takes it. */
  readonly handled_by: string;
  readonly output?: Json;
}

/** A whole definition. */
export interface Definition {
  readonly family_slug: string;
  readonly title?: string;
  readonly steps: readonly StepDefinition[];
  readonly edges?: readonly EdgeDefinition[];
  readonly output?: Json;
  readonly input_schema?: { readonly [key: string]: Json };
  readonly timeout?: string;
  /** drain or cancel. */
  readonly on_failure?: string;
  /** fail or park. */
  readonly on_exhausted?: string;
  readonly retention?: string;
  /** For steps that do not say their own. */
  readonly priority?: number;
  /** For steps that do not say their own. CEL. */
  readonly fairness_key?: string;
  readonly concurrency?: readonly ConcurrencyDefinition[];
  readonly rate_limit?: RateLimitDefinition;
  readonly updates?: readonly UpdateDefinition[];
  /** CEL by name. */
  readonly queries?: { readonly [name: string]: string };
  /** Limits of recipients when the version was published, units, by id; set by the publish, never by the author. */
  readonly pinned_limits?: { readonly [recipientId: string]: number };
}
