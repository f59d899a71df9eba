/** Plans for tests, without definitions and CEL: templates are plain functions. */
import { impossible } from '../../kernel/index.js';
import { DEFAULT_PRIORITY } from '../machine/plan.js';
import type { ClosePolicy, Compensation, ExpressionScope, FailedItems, Join } from '../machine/index.js';
import type { OpenApproval, Plan, PlanBody, PlanEdge, PlanSignal, PlanStep, PlanUpdate } from '../machine/index.js';
import type { RetryPlan, Template, ValueSource } from '../machine/index.js';
import type { SelectMode, SemaphorePlan } from '../machine/plan.js';
import { mayHoldBy } from '../machine/selecting.js';

/** A template from a function, or from where the value stands. */
export function template(evaluate: (scope: ExpressionScope) => unknown, source: ValueSource | null = null): Template {
  return { source, reads: [], evaluate };
}

/** Null, whatever there is. */
export const NULL_TEMPLATE: Template = template(() => null);

/** The run's input as it stands. */
export const RUN_INPUT: Template = template((scope) => scope.input(), { kind: 'runInput' });

/** The item of the scatter around it as it stands. */
export const ITEM: Template = template((scope) => scope.item?.(), { kind: 'item' });

/** What the loop around it carries as it stands. */
export const VARS: Template = template((scope) => scope.vars?.(), { kind: 'vars' });

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
      readonly priority?: number | undefined;
      readonly cost?: number | undefined;
      readonly fairnessKey?: Template | undefined;
      readonly idempotencyKey?: Template | undefined;
      readonly semaphores?: SemaphorePlan | undefined;
      /** Name of the update that it waits for. */
      readonly takes?: string | undefined;
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
  | { readonly type: 'COMPLETE'; readonly output: Template; readonly join?: Join | undefined }
  | {
      readonly type: 'CONTINUE_AS_NEW';
      readonly input?: Template;
      readonly isCurrent?: boolean;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'SUB_WORKFLOW';
      readonly familySlug: string;
      readonly version?: number;
      readonly input?: Template;
      readonly isDetached?: boolean;
      readonly closePolicy?: ClosePolicy;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'SCATTER';
      /** Default: the run's input. */
      readonly items?: Template;
      /** Default: 100. */
      readonly maxParallel?: number;
      /** How many items may fail. Default: 0. */
      readonly tolerated?: number;
      /** Default: true. */
      readonly keeps?: boolean;
      readonly body: BodySpec;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'GATHER';
      readonly of: string;
      /** Default: null. */
      readonly failed?: FailedItems;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'LOOP';
      /** Default: null. */
      readonly vars?: Template;
      readonly until: (scope: ExpressionScope) => boolean;
      readonly maxIterations: number;
      readonly body: BodySpec;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'SELECT';
      /** Default: none, the rules say which. */
      readonly pool?: string;
      /** Default: nothing is known of it. */
      readonly routable?: Template;
      readonly slateSize?: number;
      readonly atLeast?: number;
      /** Default: none. */
      readonly body?: BodySpec;
      /** Default: each. */
      readonly mode?: SelectMode;
      /** Default: 100. */
      readonly maxParallel?: number;
      /** For how many it may fail. Default: 0. */
      readonly tolerated?: number;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'CLAIM';
      readonly until: 'claimed' | 'completed';
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
      readonly endsWithRun?: boolean;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'ROUTE';
      readonly pool?: string;
      readonly routable?: Template;
      readonly exclude?: Template;
      readonly endsWithRun?: boolean;
      readonly isSeatOfFamily?: boolean;
      /** Default: never. */
      readonly deadlineUs?: (scope: ExpressionScope, nowUs: number) => number | null;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'SIGNAL';
      readonly signal: string;
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
      readonly join?: Join | undefined;
    }
  | {
      readonly type: 'APPROVAL';
      readonly signal: string;
      readonly deadlineUs: (scope: ExpressionScope, nowUs: number) => number | null;
      readonly open: (scope: ExpressionScope, nowUs: number) => OpenApproval;
      readonly join?: Join | undefined;
    };

/** A body to be. */
export interface BodySpec {
  readonly steps: Readonly<Record<string, StepSpec>>;
  readonly edges?: readonly PlanEdge[];
  readonly output?: Template;
}

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
  readonly retentionMs?: number;
  readonly receives?: boolean;
  readonly semaphores?: SemaphorePlan | undefined;
  /** What updates come to and what they refuse, by name; those that no step takes have no effect. */
  readonly updates?: Readonly<Record<string, Partial<Pick<PlanUpdate, 'refusal' | 'output'>>>>;
  readonly queries?: Readonly<Record<string, Template>>;
  /** Limits of recipients. */
  readonly pinned?: ReadonlyMap<string, number>;
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
  switch (spec.type) {
    case 'CALLBACK':
      return { ...base, ...callbackOf(ref, spec) };
    case 'SCATTER': {
      const { items = RUN_INPUT, maxParallel = 100, tolerated = 0, keeps = true } = spec;
      return {
        ...base,
        type: 'SCATTER',
        items,
        maxParallel,
        tolerated: () => tolerated,
        keeps,
        body: bodyOf(spec.body),
      };
    }
    case 'LOOP':
      return { ...spec, ...base, vars: spec.vars ?? NULL_TEMPLATE, body: bodyOf(spec.body) };
    case 'GATHER':
      return { ...spec, ...base, failed: spec.failed ?? 'null' };
    case 'CONTINUE_AS_NEW':
      return { input: RUN_INPUT, isCurrent: false, ...spec, ...base };
    case 'SELECT': {
      const { pool = '', routable = template(() => ({})), slateSize = null, atLeast = 1 } = spec;
      const { mode = 'each', maxParallel = 100, tolerated = 0, body } = spec;
      const run = { mode, maxParallel, tolerated: () => tolerated, ...(body && { body: bodyOf(body) }) };
      return { ...base, type: 'SELECT', pool, routable, slateSize, atLeast, ...run };
    }
    case 'CLAIM': {
      const { until, deadlineUs, endsWithRun = false } = spec;
      const work = { endsWithRun, pool: 'pond', routable: NULL_TEMPLATE, exclude: template(() => []) };
      return { ...base, type: 'CLAIM', ...work, until, deadlineUs };
    }
    case 'ROUTE': {
      const { pool = '', routable = template(() => ({})), exclude = template(() => []) } = spec;
      const { endsWithRun = false, isSeatOfFamily = false, deadlineUs = () => null } = spec;
      const ends = { endsWithRun, isSeatOfFamily, deadlineUs };
      return { ...base, type: 'ROUTE', pool, routable, exclude, ...ends };
    }
    case 'SUB_WORKFLOW': {
      const child = { version: 0, input: RUN_INPUT, isDetached: false, closePolicy: 'cancel' as const };
      return { ...child, ...spec, ...base };
    }
    default:
      return { ...spec, ...base };
  }
}

type Callback = Omit<PlanStep & { readonly type: 'CALLBACK' }, 'incoming' | 'outgoing' | 'join' | 'compensates'>;

function callbackOf(ref: string, spec: StepSpec & { readonly type: 'CALLBACK' }): Callback {
  return {
    ref,
    title: ref,
    type: 'CALLBACK',
    handler: ref,
    queue: spec.queue ?? 'default',
    input: spec.input ?? RUN_INPUT,
    retry: { ...PLAIN_RETRY, ...spec.retry },
    timeoutMs: spec.timeoutMs ?? 300_000,
    cancelTimeoutMs: spec.cancelTimeoutMs ?? 30_000,
    scheduleToStartTimeoutMs: spec.scheduleToStartTimeoutMs ?? null,
    heartbeatTimeoutMs: spec.heartbeatTimeoutMs ?? null,
    priority: spec.priority ?? null,
    cost: spec.cost ?? 1,
    fairnessKey: spec.fairnessKey ?? null,
    idempotencyKey: spec.idempotencyKey ?? null,
    semaphores: spec.semaphores ?? null,
    takes: spec.takes === undefined ? null : { name: spec.takes, isInput: spec.input === undefined },
  };
}

function bodyOf({ steps, edges = [], output }: BodySpec): PlanBody {
  for (const { sourceRef, targetRef } of edges) {
    if (!(sourceRef in steps && targetRef in steps)) impossible('test-plan', `${sourceRef} -> ${targetRef}`);
  }
  return { steps: Object.entries(steps).map(([ref, step]) => stepOf(ref, step, edges)), output: output ?? null };
}

/** The steps of a body and of the bodies in it. */
function allSteps({ steps }: PlanBody): readonly PlanStep[] {
  return steps.flatMap((step) => ('body' in step && step.body ? [step, ...allSteps(step.body)] : [step]));
}

function signalOf(step: PlanStep): PlanSignal | undefined {
  if (step.type !== 'SIGNAL' && step.type !== 'APPROVAL') return undefined;
  return { name: step.signal, options: step.type === 'SIGNAL' ? null : ['yes', 'no'], check: () => [] };
}

/** Updates by name: CALLBACK steps say which they take, SIGNAL steps take those of the plan that have their name. */
function updatesOf(steps: readonly PlanStep[], { updates = {} }: PlanSpec): ReadonlyMap<string, PlanUpdate> {
  const found = new Map<string, PlanUpdate>();
  for (const step of steps) {
    const name = step.type === 'CALLBACK' ? (step.takes?.name ?? '') : step.type === 'SIGNAL' ? step.signal : '';
    const given = updates[name];
    if (step.type !== 'CALLBACK' && given === undefined) continue;
    if (name === '' || found.has(name)) continue;
    found.set(name, { name, handledBy: step.ref, check: () => [], refusal: null, output: null, ...given });
  }
  return found;
}

/** Builds a plan. Throws internal for an edge that names no step. */
export function planOf(spec: PlanSpec): Plan {
  const body = bodyOf(spec);
  const steps = allSteps(body);
  const updates = updatesOf(steps, spec);
  const signals = new Map(
    steps
      .flatMap((step) => signalOf(step) ?? [])
      .flatMap((one) => (updates.has(one.name) ? [] : [[one.name, one] as const])),
  );
  return {
    familySlug: 'test',
    version: spec.version ?? 1,
    digest: '00'.repeat(32),
    ...body,
    stepByRef: new Map(steps.map((step) => [step.ref, step])),
    timeoutMs: spec.timeoutMs ?? null,
    onFailure: spec.onFailure ?? 'drain',
    onExhausted: spec.onExhausted ?? 'fail',
    retentionMs: spec.retentionMs ?? null,
    priority: DEFAULT_PRIORITY,
    fairnessKey: null,
    receives: spec.receives ?? signals.size + updates.size > 0,
    semaphores: spec.semaphores ?? null,
    ...{ signals, updates, queries: new Map(Object.entries(spec.queries ?? {})) },
    selects: allSteps(body).some(mayHoldBy),
    pinned: spec.pinned ?? new Map(),
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
