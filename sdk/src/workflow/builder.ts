/**
 * The builder that `build(w)` gets. It collects steps and edges; nothing here runs user logic. Edges follow from what a
 * step reads: reading `a.output` puts a SUCCESS edge from a before it, unless the step names another edge from a.
 */
import { type ChildOptions, type ChildWorkflow, childJson } from './child.js';
import { type CallbackOptions, callbackJson } from './callback-options.js';
import { type CompensateOptions, type CompensationOptions, type NamedUndo, namedUndo } from './compensation.js';
import { DefinitionError } from './definition-error.js';
import type { DefinitionJson, EdgeJson, JoinJson, StepJson } from './definition-json.js';
import type { Jsonify, StepOutput } from './jsonify.js';
import { type Ref, type StepRead, type WholeRef, makeReference, referenceCore } from './reference.js';
import type { StepBody } from './step-context.js';
import { type Arrives, type Resolved, compileTemplate } from './template.js';

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
  readonly output: WholeRef<Out>;
  /** Why it failed; for steps behind `onFailure` or `always`. */
  readonly error: Ref<StepFailureValue>;
}

/** Where a step stands. */
export interface Placement {
  /** Steps that must have completed before, beside those this step reads; of a switch also one of its cases. */
  readonly after?: AnyStep | readonly AnyStep[];
  /** Runs only when this step failed for good; the run then goes on instead of failing. */
  readonly onFailure?: AnyStep;
  /** Runs only when this step failed by a timeout, instead of its `onFailure`. */
  readonly onTimeout?: AnyStep;
  /** Runs when this step ended, completed or failed. */
  readonly always?: AnyStep;
  /** Runs only when this holds, else it is skipped. Needs at least one step before. */
  readonly when?: Ref<boolean>;
  /**
   * When it begins: "all" (default) once all steps before it have ended as wanted, "any" once one has, `{ nOf: 2 }`
   * once two have. What it reads of the others may be absent: see `firstOf`.
   */
  readonly join?: 'all' | 'any' | { readonly nOf: number };
  /** With a join of any or nOf: stops steps that lead to nothing else once this one begins. */
  readonly cancelLosers?: boolean;
  /** For people; default: the name. */
  readonly title?: string;
}

/** Any declared step, or a case of a switch. */
export interface AnyStep {
  readonly ref: string;
  /** The case of a switch that is meant. */
  readonly case?: string;
}

/** A switch that was declared. */
export interface SwitchHandle<Case extends string> extends Omit<StepHandle<unknown>, 'output'> {
  /** The case that was chosen. */
  readonly output: Ref<{ case: Case | null }>;
  /** One way on: for `after` of the steps that lie on it. */
  on(name: Case): AnyStep;
}

/** Chooses one way on. */
export interface SwitchOptions<Case extends string, Default extends string> extends Placement {
  /** The first that holds is chosen, in this order. */
  readonly cases: Readonly<Record<Case, Ref<boolean>>>;
  /** Chosen when none holds; default: no way. */
  readonly default?: Default;
}

/** Ends the run as FAILED. */
export interface FailOptions extends Placement {
  /** Code of the error. */
  readonly code: string;
  readonly message?: string | Ref<string>;
}

/** Ends the run as COMPLETED. */
export interface CompleteOptions<X> extends Placement {
  /** What the run answers, instead of what `build` returns. Default: null. */
  readonly output?: X;
}

/** A step whose body runs in the app. */
export interface StepOptions<In, Out> extends Placement, CallbackOptions {
  /** What the body receives. Default: the run's input. */
  readonly input?: In;
  readonly run: StepBody<Arrives<In>, Out>;
  /**
   * Undoes what this step did once it has completed and the run ends in any other way than completing. Receives the
   * step's output.
   */
  readonly compensate?:
    StepBody<StepOutput<Awaited<NoInfer<Out>>>, unknown> | CompensateOptions<StepOutput<Awaited<NoInfer<Out>>>>;
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
  readonly input: WholeRef<In>;
  /** A step whose body is code of this app. */
  step<X = WholeRef<In>, Out = unknown>(
    name: string,
    options: StepOptions<X, Out>,
  ): StepHandle<StepOutput<Awaited<Out>>>;
  /** A step that undoes another once the run does not complete; in full what `compensate` of a step says in short. */
  compensation<X = never, Out = unknown>(
    name: string,
    of: StepHandle<Out>,
    options: CompensationOptions<[X] extends [never] ? WholeRef<Out> : X>,
  ): AnyStep;
  /** Starts a run of another workflow and puts out what that answers; with `detach` the `run_id` of the child. */
  child<X, Out, const Detach extends boolean = false>(
    name: string,
    workflow: ChildWorkflow<X, Out> | string,
    options?: Placement & ChildOptions<X> & { readonly detach?: Detach },
  ): StepHandle<Detach extends true ? { run_id: string } : Out>;
  /** Computes a value in the engine: an object of references, plain values and `cel` expressions. */
  project<X>(name: string, value: X, placement?: Placement): StepHandle<Resolved<X>>;
  /** Waits durably: no slot and no memory is held meanwhile. */
  wait(name: string, options: WaitOptions): StepHandle<unknown>;
  /** Chooses one way on by the first condition that holds. */
  switch<Case extends string, Default extends string = never>(
    name: string,
    options: SwitchOptions<Case, Default>,
  ): SwitchHandle<Case | Default>;
  /** Ends the run as FAILED; what runs besides is stopped. */
  fail(name: string, options: FailOptions): AnyStep;
  /** Ends the run as COMPLETED; what runs besides is stopped. */
  complete<X>(name: string, options?: CompleteOptions<X>): AnyStep;
  /** The output of the first of these steps that has one: for what begins when any of them has ended. */
  firstOf<Out>(first: StepHandle<Out>, ...others: readonly StepHandle<Out>[]): Ref<Jsonify<Out>>;
}

/** What a definition says of its runs as a whole. */
export interface DefinitionOptions {
  /** For people. */
  readonly title?: string | undefined;
  /** Longest time of a run; then it ends as TIMED_OUT. Default: no limit. */
  readonly timeout?: string | undefined;
  /** Running steps once a failure is not handled: "drain" (default) lets them end, "cancel" tells them to stop. */
  readonly onFailure?: 'drain' | 'cancel' | undefined;
  /** What becomes of a run whose step has no attempts left: "fail" (default), or "park" to hold it for people. */
  readonly onExhausted?: 'fail' | 'park' | undefined;
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
  readonly input: WholeRef<In>;
  readonly #steps: StepJson[] = [];
  readonly #edges: EdgeJson[] = [];
  readonly #handlers = new Map<string, StepBody<never, unknown>>();

  constructor() {
    this.input = makeReference({ cel: 'input', reads: [] }) as WholeRef<In>;
  }

  step<X = WholeRef<In>, Out = unknown>(
    name: string,
    options: StepOptions<X, Out>,
  ): StepHandle<StepOutput<Awaited<Out>>> {
    const input = options.input === undefined ? undefined : compileTemplate(options.input, `step ${name}: input`);
    this.#handlers.set(name, options.run as StepBody<never, unknown>);
    const json = { ...(input !== undefined && { input: input.json }), ...callbackJson(options) };
    const step = this.#add<StepOutput<Awaited<Out>>>(name, options, input?.reads ?? [], json);
    const { compensate } = options;
    if (compensate !== undefined) this.#undo(step, step.output, namedUndo(name, compensate));
    return step;
  }

  compensation<X, Out>(name: string, of: StepHandle<Out>, options: CompensationOptions<X>): AnyStep {
    return this.#undo(of, options.input ?? of.output, { ...options, name });
  }

  #undo(of: AnyStep, given: unknown, { name, ...options }: NamedUndo): AnyStep {
    const input = compileTemplate(given, `step ${name}: input`);
    this.#handlers.set(name, options.run as StepBody<never, unknown>);
    const placement = { ...(options.title !== undefined && { title: options.title }) };
    this.#add(name, placement, [], { input: input.json, ...callbackJson(options) });
    const condition = options.when === undefined ? undefined : referenceCore(options.when)?.cel;
    this.#edges.push({
      source_ref: of.ref,
      target_ref: name,
      type: 'EDGE_TYPE_COMPENSATE',
      ...(condition !== undefined && { condition }),
    });
    return { ref: name };
  }

  child<X, Out>(
    name: string,
    workflow: ChildWorkflow<X, unknown> | string,
    options: Placement & ChildOptions<X> = {},
  ): StepHandle<Out> {
    const slug = typeof workflow === 'string' ? workflow : workflow.slug;
    const { json, reads } = childJson(name, slug, options);
    return this.#add(name, options, reads, json);
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

  switch<Case extends string, Default extends string = never>(
    name: string,
    options: SwitchOptions<Case, Default>,
  ): SwitchHandle<Case | Default> {
    const cases = Object.entries<Ref<boolean>>(options.cases).map(([label, when]) => {
      const core = referenceCore(when);
      if (core !== undefined) return { label, core };
      throw new DefinitionError(`case ${label} of switch ${name} is no condition`, 'compare something: input.a.gt(5)');
    });
    const handle = this.#add(
      name,
      options,
      cases.flatMap(({ core }) => core.reads),
      {
        type: 'STEP_TYPE_SWITCH',
        args: {
          cases: cases.map(({ label, core }) => ({ name: label, when: core.cel })),
          ...(options.default !== undefined && { default: options.default }),
        },
      },
    );
    const read = { cel: stepText(name, 'output'), reads: [{ ref: name, what: 'output' as const }] };
    const output = makeReference(read) as Ref<{ case: Case | Default | null }>;
    return { ...handle, output, on: (label) => ({ ref: name, case: label }) };
  }

  fail(name: string, options: FailOptions): AnyStep {
    const message =
      options.message === undefined ? undefined : compileTemplate(options.message, `step ${name}: message`);
    const { ref } = this.#add(name, options, message?.reads ?? [], {
      type: 'STEP_TYPE_FAIL',
      args: { code: options.code, ...(message !== undefined && { message: message.json }) },
    });
    return { ref };
  }

  complete<X>(name: string, options: CompleteOptions<X> = {}): AnyStep {
    const output = options.output === undefined ? undefined : compileTemplate(options.output, `step ${name}: output`);
    const { ref } = this.#add(name, options, output?.reads ?? [], {
      type: 'STEP_TYPE_COMPLETE',
      ...(output !== undefined && { args: { output: output.json } }),
    });
    return { ref };
  }

  firstOf<Out>(first: StepHandle<Out>, ...others: readonly StepHandle<Out>[]): Ref<Jsonify<Out>> {
    const texts = [first, ...others].map(({ ref }) => stepText(ref, 'output'));
    const last = texts.pop() ?? '';
    const cel = texts.reduceRight((rest, text) => `(has(${text}) ? ${text} : ${rest})`, last);
    const reads = [first, ...others].map(({ ref }) => ({ ref, what: 'output' as const }));
    return makeReference({ cel, reads }) as Ref<Jsonify<Out>>;
  }

  /** The definition, with its output template. */
  finish(
    slug: string,
    options: DefinitionOptions,
    output: unknown,
    schema: { [key: string]: unknown } | undefined,
  ): Built {
    const { title, timeout, onFailure, onExhausted } = options;
    const definition: DefinitionJson = {
      family_slug: slug,
      ...(title !== undefined && { title }),
      ...(timeout !== undefined && { timeout }),
      ...(onFailure !== undefined && { on_failure: onFailure }),
      ...(onExhausted !== undefined && { on_exhausted: onExhausted }),
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
    const join = joinJson(placement);
    this.#steps.push({
      ref: name,
      ...(placement.title !== undefined && { title: placement.title }),
      ...step,
      ...(join !== undefined && { join }),
    });
    this.#connect(name, placement, reads);
    const at = (what: 'output' | 'error'): unknown =>
      makeReference({ cel: stepText(name, what), reads: [{ ref: name, what }] });
    return { ref: name, output: at('output') as WholeRef<Out>, error: at('error') as Ref<StepFailureValue> };
  }

  #connect(name: string, placement: Placement, reads: readonly StepRead[]): void {
    const when = placement.when === undefined ? undefined : referenceCore(placement.when);
    const { onFailure, onTimeout, always } = placement;
    const edges: Pick<EdgeJson, 'source_ref' | 'type' | 'case'>[] = [];
    const add = (step: AnyStep, type: EdgeJson['type']): void => {
      const edge = { source_ref: step.ref, type, ...(step.case !== undefined && { case: step.case }) };
      if (!edges.some((known) => known.source_ref === step.ref && known.type === type && known.case === step.case))
        edges.push(edge);
    };
    if (onFailure !== undefined) add(onFailure, 'EDGE_TYPE_FAILURE');
    if (onTimeout !== undefined) add(onTimeout, 'EDGE_TYPE_TIMEOUT');
    if (always !== undefined) add(always, 'EDGE_TYPE_ALWAYS');
    const named = new Set(edges.map((edge) => edge.source_ref));
    for (const step of [placement.after ?? []].flat()) if (!named.has(step.ref)) add(step, 'EDGE_TYPE_SUCCESS');
    // What is read must have completed, unless an edge from it stands here already.
    const all = new Set(edges.map((edge) => edge.source_ref));
    for (const { ref } of [...reads, ...(when?.reads ?? [])]) if (!all.has(ref)) add({ ref }, 'EDGE_TYPE_SUCCESS');
    if (when !== undefined && edges.length === 0) {
      throw new DefinitionError(
        `step ${name} has a condition but no step before it`,
        'put it after a step, or decide inside its body',
      );
    }
    for (const { source_ref, ...edge } of edges) {
      const condition = when === undefined ? {} : { condition: when.cel };
      this.#edges.push({ source_ref, target_ref: name, ...edge, ...condition });
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

function joinJson({ join, cancelLosers }: Placement): JoinJson | undefined {
  if (join === undefined || join === 'all') return undefined;
  const mode = join === 'any' ? { mode: 'any' as const } : { mode: 'n_of' as const, count: join.nOf };
  return { ...mode, ...(cancelLosers === true && { cancel_losers: true }) };
}
