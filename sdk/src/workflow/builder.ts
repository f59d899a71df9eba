/**
 * The builder that `build(w)` gets. It collects steps and edges; nothing here runs user logic. Edges follow from what a
 * step reads: reading `a.output` puts a SUCCESS edge from a before it, unless the step names another edge from a.
 */
import { DefinitionError } from './definition-error.js';
import type { DefinitionJson, EdgeJson, RetryJson, StepJson } from './definition-json.js';
import type { Jsonify, StepOutput } from './jsonify.js';
import { type Ref, type StepRead, makeReference, referenceCore } from './reference.js';
import type { StepBody } from './step-context.js';
import { type Resolved, compileTemplate } from './template.js';

/** How a failure looks to the steps that handle it. */
export interface StepFailureValue {
  readonly code: string;
  readonly message: string;
  readonly attempt: number;
}

/** A step that was declared; later steps read it. */
export interface StepHandle<Out> {
  readonly ref: string;
  /** What the step will have put out. */
  readonly output: Ref<Out>;
  /** Why it failed; for steps behind `onFailure` or `always`. */
  readonly error: Ref<StepFailureValue>;
}

/** Where a step stands. */
export interface Placement {
  /** Steps that must have completed before, beside those this step reads. */
  readonly after?: AnyStep | readonly AnyStep[];
  /** Runs only when this step failed for good; the run then goes on instead of failing. */
  readonly onFailure?: AnyStep;
  /** Runs when this step ended, completed or failed. */
  readonly always?: AnyStep;
  /** Runs only when this holds, else it is skipped. Needs at least one step before. */
  readonly when?: Ref<boolean>;
  /** For people; default: the name. */
  readonly title?: string;
}

/** Any declared step. */
export interface AnyStep {
  readonly ref: string;
}

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
}

/** A step whose body runs in the app. */
export interface StepOptions<In, Out> extends Placement {
  /** What the body receives. Default: the run's input. */
  readonly input?: In;
  readonly run: StepBody<Jsonify<Resolved<In>>, Out>;
  readonly retry?: RetryOptions;
  /** Longest time of one attempt. Default "5m". */
  readonly timeout?: string;
  /** Time the body may take to end after its signal aborted. Default "30s". */
  readonly cancelTimeout?: string;
  /** Queue that workers serve. Default "default". */
  readonly queue?: string;
}

/** A durable wait; exactly one of duration and until. */
export type WaitOptions = Placement &
  (
    | { readonly duration: string | Ref<string>; readonly until?: never }
    | { readonly until: Ref<string>; readonly duration?: never }
  );

/** Declares the steps of a workflow. */
export interface WorkflowBuilder<In> {
  /** The run's input. */
  readonly input: Ref<In>;
  /** A step whose body is code of this app. */
  step<X = Ref<In>, Out = unknown>(name: string, options: StepOptions<X, Out>): StepHandle<StepOutput<Awaited<Out>>>;
  /** Computes a value in the engine: an object of references, plain values and `cel` expressions. */
  project<X>(name: string, value: X, placement?: Placement): StepHandle<Resolved<X>>;
  /** Waits durably: no slot and no memory is held meanwhile. */
  wait(name: string, options: WaitOptions): StepHandle<unknown>;
}

/** A body by the handler's name. */
export type Handlers = ReadonlyMap<string, StepBody<never, unknown>>;

/** What a finished builder holds. */
export interface Built {
  readonly definition: DefinitionJson;
  readonly handlers: Handlers;
}

/** Collects a workflow. `finish` ends it. */
export class DefinitionCollector<In> implements WorkflowBuilder<In> {
  readonly input: Ref<In>;
  readonly #steps: StepJson[] = [];
  readonly #edges: EdgeJson[] = [];
  readonly #handlers = new Map<string, StepBody<never, unknown>>();

  constructor() {
    this.input = makeReference({ cel: 'input', reads: [] }) as Ref<In>;
  }

  step<X = Ref<In>, Out = unknown>(name: string, options: StepOptions<X, Out>): StepHandle<StepOutput<Awaited<Out>>> {
    const input = options.input === undefined ? undefined : compileTemplate(options.input, `step ${name}: input`);
    this.#handlers.set(name, options.run as StepBody<never, unknown>);
    return this.#add(name, options, input?.reads ?? [], {
      type: 'STEP_TYPE_CALLBACK',
      ...(input !== undefined && { input: input.json }),
      ...(options.retry !== undefined && { retry: retryJson(options.retry) }),
      ...(options.timeout !== undefined && { timeout: options.timeout }),
      ...(options.cancelTimeout !== undefined && { cancel_timeout: options.cancelTimeout }),
      ...(options.queue !== undefined && { queue: options.queue }),
    });
  }

  project<X>(name: string, value: X, placement: Placement = {}): StepHandle<Resolved<X>> {
    const template = compileTemplate(value, `step ${name}: value`);
    return this.#add(name, placement, template.reads, {
      type: 'STEP_TYPE_DATAFLOW',
      args: { operation: 'project', project: template.json },
    });
  }

  wait(name: string, options: WaitOptions): StepHandle<unknown> {
    const core = referenceCore(options.duration ?? options.until);
    return this.#add(name, options, core?.reads ?? [], {
      type: 'STEP_TYPE_WAIT',
      args: waitArgument(name, options, core?.cel),
    });
  }

  /** The definition, with its output template. */
  finish(
    slug: string,
    title: string | undefined,
    output: unknown,
    schema: { [key: string]: unknown } | undefined,
  ): Built {
    const definition: DefinitionJson = {
      family_slug: slug,
      ...(title !== undefined && { title }),
      steps: this.#steps,
      edges: this.#edges,
      ...(output !== undefined && { output: compileTemplate(output, 'output').json }),
      ...(schema !== undefined && { input_schema: schema }),
    };
    return { definition, handlers: this.#handlers };
  }

  #add<Out>(
    name: string,
    placement: Placement,
    reads: readonly StepRead[],
    step: Omit<StepJson, 'ref'>,
  ): StepHandle<Out> {
    if (this.#steps.some((known) => known.ref === name)) {
      throw new DefinitionError(
        `two steps are named ${JSON.stringify(name)}`,
        'give each step of a workflow its own name',
      );
    }
    this.#steps.push({ ref: name, ...(placement.title !== undefined && { title: placement.title }), ...step });
    this.#connect(name, placement, reads);
    const at = (what: 'output' | 'error'): unknown =>
      makeReference({ cel: stepText(name, what), reads: [{ ref: name, what }] });
    return { ref: name, output: at('output') as Ref<Out>, error: at('error') as Ref<StepFailureValue> };
  }

  #connect(name: string, placement: Placement, reads: readonly StepRead[]): void {
    const when = placement.when === undefined ? undefined : referenceCore(placement.when);
    const types = new Map<string, EdgeJson['type']>();
    if (placement.onFailure !== undefined) types.set(placement.onFailure.ref, 'EDGE_TYPE_FAILURE');
    if (placement.always !== undefined) types.set(placement.always.ref, 'EDGE_TYPE_ALWAYS');
    const before = [
      ...[placement.after ?? []].flat().map((step) => step.ref),
      ...[...reads, ...(when?.reads ?? [])].map((read) => read.ref),
    ];
    for (const ref of before) if (!types.has(ref)) types.set(ref, 'EDGE_TYPE_SUCCESS');
    if (when !== undefined && types.size === 0) {
      throw new DefinitionError(
        `step ${name} has a condition but no step before it`,
        'put it after a step, or decide inside its body',
      );
    }
    for (const [source, type] of types) {
      this.#edges.push({
        source_ref: source,
        target_ref: name,
        type,
        ...(when !== undefined && { condition: when.cel }),
      });
    }
  }
}

/** A duration is text, or an object with an expression; `until` always is an expression, and stands there bare. */
function waitArgument(
  name: string,
  { duration, until }: WaitOptions,
  cel: string | undefined,
): NonNullable<StepJson['args']> {
  if (typeof duration === 'string') return { duration };
  if (duration !== undefined && cel !== undefined) return { duration: { expr: cel } };
  if (until !== undefined && cel !== undefined) return { until: cel };
  throw new DefinitionError(`step ${name} waits for nothing`, 'give it a duration such as "30s", or until');
}

/** `steps.score.output`, with brackets where the name needs them. */
function stepText(name: string, what: 'output' | 'error'): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  return plain ? `steps.${name}.${what}` : `steps[${JSON.stringify(name)}].${what}`;
}

function retryJson(retry: RetryOptions): RetryJson {
  return {
    ...(retry.maxAttempts !== undefined && { max_attempts: retry.maxAttempts }),
    ...(retry.initialInterval !== undefined && { initial_interval: retry.initialInterval }),
    ...(retry.backoff !== undefined && { backoff: retry.backoff }),
    ...(retry.maxInterval !== undefined && { max_interval: retry.maxInterval }),
    ...(retry.jitter !== undefined && { jitter: retry.jitter }),
    ...(retry.nonRetryable !== undefined && { non_retryable: [...retry.nonRetryable] }),
  };
}
