/** Plans for tests, without definitions and CEL: templates are plain functions. */
import { impossible } from '../../kernel/index.js';
import type { Compensation, ExpressionScope, Join, Plan, PlanEdge, PlanStep } from '../machine/index.js';
import type { RetryPlan, Template, ValueSource } from '../machine/index.js';

/** A template from a function, or from where the value stands. */
export function template(evaluate: (scope: ExpressionScope) => unknown, source: ValueSource | null = null): Template {
  return { source, reads: [], evaluate };
}

/** Null, whatever there is. */
export const NULL_TEMPLATE: Template = template(() => null);

/** The run's input as it stands. */
export const RUN_INPUT: Template = template((scope) => scope.input(), { kind: 'runInput' });

/** The output of a step as it stands. */
export function outputOf(ref: string): Template {
  return template((scope) => scope.stepOutput(ref) ?? null, { kind: 'stepOutput', path: ref });
}

/** Three attempts, 1 s x 2 up to 60 s, no jitter. */
export const PLAIN_RETRY: RetryPlan = {
  maxAttempts: 3,
  initialIntervalMs: 1000,
  backoff: 2,
  maxIntervalMs: 60_000,
  jitter: 0,
  nonRetryable: [],
  totalTimeoutMs: null,
};

/** A step to be; what is absent takes defaults: input the run's, timeout 5 m, cancel timeout 30 s, PLAIN_RETRY. */
export type StepSpec =
  | {
      readonly type: 'CALLBACK';
      readonly input?: Template;
      readonly retry?: Partial<RetryPlan>;
      readonly timeoutMs?: number;
      readonly cancelTimeoutMs?: number;
      readonly queue?: string;
      readonly scheduleToStartTimeoutMs?: number | undefined;
      readonly heartbeatTimeoutMs?: number | undefined;
      readonly join?: Join | undefined;
      /** Makes it a compensation, which has no edges. */
      readonly compensates?: Compensation | undefined;
    }
  | {
      readonly type: 'DATAFLOW';
      readonly transform: (scope: ExpressionScope) => unknown;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'WAIT';
      readonly wakeAtUs: (scope: ExpressionScope, nowUs: number) => number;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'SWITCH';
      readonly choose: (scope: ExpressionScope) => string | null;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'FAIL';
      readonly code: string;
      readonly message: (scope: ExpressionScope) => string;
      readonly join?: Join | undefined;
    }
  | { readonly type: 'COMPLETE'; readonly output: Template; readonly join?: Join | undefined };

const ALL: Join = { mode: 'all' };

/** A join of one edge, or of so many. */
export function joinOf(count: number, cancelLosers = false): Join {
  return { mode: 'n_of', count, cancelLosers };
}

/** A plan to be: steps by ref in an order where every step comes after the steps before it. */
export interface PlanSpec {
  readonly steps: Readonly<Record<string, StepSpec>>;
  readonly edges?: readonly PlanEdge[];
  readonly output?: Template;
  readonly version?: number;
  readonly timeoutMs?: number;
  readonly onFailure?: Plan['onFailure'];
  readonly onExhausted?: Plan['onExhausted'];
  readonly receives?: boolean;
}

/** An edge; SUCCESS without condition unless told otherwise. */
export function edge(
  sourceRef: string,
  targetRef: string,
  type: PlanEdge['type'] = 'SUCCESS',
  condition: ((scope: ExpressionScope) => unknown) | null = null,
  chosen: string | null = null,
): PlanEdge {
  return { sourceRef, targetRef, type, condition: condition === null ? null : template(condition), case: chosen };
}

function stepOf(ref: string, spec: StepSpec, edges: readonly PlanEdge[]): PlanStep {
  const base = {
    ref,
    title: ref,
    incoming: edges.filter(({ targetRef }) => targetRef === ref),
    outgoing: edges.filter(({ sourceRef }) => sourceRef === ref),
    join: spec.join ?? ALL,
    compensates: 'compensates' in spec ? (spec.compensates ?? null) : null,
  };
  if (spec.type !== 'CALLBACK') return { ...spec, ...base };
  return {
    ...base,
    type: 'CALLBACK',
    handler: ref,
    queue: spec.queue ?? 'default',
    input: spec.input ?? RUN_INPUT,
    retry: { ...PLAIN_RETRY, ...spec.retry },
    timeoutMs: spec.timeoutMs ?? 300_000,
    cancelTimeoutMs: spec.cancelTimeoutMs ?? 30_000,
    scheduleToStartTimeoutMs: spec.scheduleToStartTimeoutMs ?? null,
    heartbeatTimeoutMs: spec.heartbeatTimeoutMs ?? null,
  };
}

/** Builds a plan. Throws internal for an edge that names no step. */
export function planOf(spec: PlanSpec): Plan {
  const edges = spec.edges ?? [];
  for (const { sourceRef, targetRef } of edges) {
    if (!(sourceRef in spec.steps && targetRef in spec.steps)) impossible('test-plan', `${sourceRef} -> ${targetRef}`);
  }
  const steps = Object.entries(spec.steps).map(([ref, step]) => stepOf(ref, step, edges));
  return {
    familySlug: 'test',
    version: spec.version ?? 1,
    digest: '00'.repeat(32),
    steps,
    stepByRef: new Map(steps.map((step) => [step.ref, step])),
    output: spec.output ?? null,
    timeoutMs: spec.timeoutMs ?? null,
    onFailure: spec.onFailure ?? 'drain',
    onExhausted: spec.onExhausted ?? 'fail',
    receives: spec.receives ?? false,
    checkInput: () => [],
  };
}

/** A plan of callbacks in a row. */
export function sequence(...refs: readonly string[]): Plan {
  const steps = Object.fromEntries(
    refs.map((ref, index): [string, StepSpec] => {
      const before = refs[index - 1];
      return [ref, { type: 'CALLBACK', ...(before === undefined ? {} : { input: outputOf(before) }) }];
    }),
  );
  const edges = refs.slice(1).map((ref, index) => edge(refs[index] ?? '', ref));
  return planOf({ steps, edges });
}
