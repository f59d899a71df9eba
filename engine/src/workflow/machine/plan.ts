/** A compiled, immutable definition version: all the machine needs, nothing to parse. */
import type { Value, ValueSource } from './value.js';

/** What expressions may read at a tick. Steps are looked up only as far as the expression refers to them. */
export interface ExpressionScope {
  readonly input: () => unknown;
  /** Output of a completed step, undefined otherwise. */
  readonly stepOutput: (ref: string) => unknown;
  /** Failure of a failed step, undefined otherwise. */
  readonly stepError: (ref: string) => unknown;
  readonly run: Readonly<Record<string, unknown>>;
}

/** A compiled expression or a template of them. Throws DuctorError expression_failed. */
export interface Template {
  /** When the template is exactly `input` or `steps.X.output`: where the value already stands. */
  readonly source: ValueSource | null;
  /** Refs of steps it reads. */
  readonly reads: readonly string[];
  /** Evaluates to plain JSON. */
  evaluate(scope: ExpressionScope): unknown;
}

/** Retry policy with all defaults filled in. */
export interface RetryPlan {
  readonly maxAttempts: number;
  readonly initialIntervalMs: number;
  readonly backoff: number;
  readonly maxIntervalMs: number;
  /** Share of each wait that is random, 0 to 1. */
  readonly jitter: number;
  readonly nonRetryable: readonly string[];
}

/** An edge between two steps, by their refs. */
export interface PlanEdge {
  readonly sourceRef: string;
  readonly targetRef: string;
  readonly type: 'SUCCESS' | 'FAILURE' | 'ALWAYS';
  readonly condition: Template | null;
}

interface PlanStepBase {
  readonly ref: string;
  readonly title: string;
  readonly incoming: readonly PlanEdge[];
  readonly outgoing: readonly PlanEdge[];
}

/** A step. */
export type PlanStep =
  | (PlanStepBase & {
      readonly type: 'CALLBACK';
      readonly handler: string;
      readonly queue: string;
      readonly input: Template;
      readonly retry: RetryPlan;
      readonly timeoutMs: number;
      readonly cancelTimeoutMs: number;
    })
  | (PlanStepBase & {
      readonly type: 'DATAFLOW';
      /** The whole operation, compiled. Throws DuctorError expression_failed or expression_too_costly. */
      readonly transform: (scope: ExpressionScope) => unknown;
    })
  | (PlanStepBase & {
      readonly type: 'WAIT';
      /** When the wait ends, microseconds since 1970. */
      readonly wakeAtUs: (scope: ExpressionScope, nowUs: number) => number;
    });

/** A version of a workflow, ready to run. */
export interface Plan {
  readonly familySlug: string;
  readonly version: number;
  /** SHA-256 of the canonical definition, hex. */
  readonly digest: string;
  /** In an order where every step comes after the steps before it. */
  readonly steps: readonly PlanStep[];
  readonly stepByRef: ReadonlyMap<string, PlanStep>;
  /** Absent: an object of the outputs of completed steps without outgoing edges, by ref. */
  readonly output: Template | null;
  /** Problems of an input, empty when it is fine. */
  readonly checkInput: (input: Value) => readonly string[];
}
