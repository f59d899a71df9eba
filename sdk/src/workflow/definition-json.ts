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
}

/** One step. */
export interface StepJson {
  ref: string;
  type: 'STEP_TYPE_CALLBACK' | 'STEP_TYPE_DATAFLOW' | 'STEP_TYPE_WAIT';
  title?: string;
  args?: { [key: string]: TemplateJson };
  input?: TemplateJson;
  retry?: RetryJson;
  timeout?: string;
  cancel_timeout?: string;
  queue?: string;
}

/** One edge. */
export interface EdgeJson {
  source_ref: string;
  target_ref: string;
  type: 'EDGE_TYPE_SUCCESS' | 'EDGE_TYPE_FAILURE' | 'EDGE_TYPE_ALWAYS';
  condition?: string;
}

/** A whole definition. */
export interface DefinitionJson {
  family_slug: string;
  title?: string;
  steps: StepJson[];
  edges: EdgeJson[];
  output?: TemplateJson;
  input_schema?: { [key: string]: unknown };
}
