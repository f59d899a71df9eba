/**
 * The builder that `build(w)` gets. It collects steps and edges; nothing here runs user logic. Edges follow from what a
 * step reads: reading `a.output` puts a SUCCESS edge from a before it, unless the step names another edge from a.
 */
import type * as z from 'zod';
import { type ChildOptions, type ChildWorkflow, childJson } from './child.js';
import type { BodyOutput, FailedItems, ForEachHandle, ForEachOptions, ItemCounts } from './bodies.js';
import type { ItemOutput, ItemRef, Level, LoopBody, LoopOptions, LoopVars } from './bodies.js';
import { bodyJson, bodyVariable, emptyLevel, itemOf, untilText } from './bodies.js';
import { connectionsOf } from './edges.js';
import { callbackJson } from './callback-options.js';
import { type ContinueOptions, continueJson } from './continuing.js';
import { type CompensationOptions, type NamedUndo, namedUndo } from './compensation.js';
import type { Aggregated, AggregateOptions, Aggregations, Assertion, DedupeOptions } from './dataflow-types.js';
import type { ItemsOf } from './dataflow-types.js';
import type { ListRef, Made, Merged, MergeMode, MergeOptions, MergePart, OfItem, SortKeys } from './dataflow-types.js';
import { aggregateJson, assertJson, type DataflowJson, dedupeJson, filterJson } from './dataflow.js';
import { mapJson, mergeJson, sortJson } from './dataflow.js';
import { DefinitionError } from './definition-error.js';
import { type DefinitionOptions, optionsJson } from './definition-options.js';
import { type HttpAnswer, type HttpOptions, httpJson } from './http-step.js';
import type { BodyJson, DefinitionJson, StepJson } from './definition-json.js';
import type { Jsonify, StepOutput } from './jsonify.js';
import { type Ref, type Reference, type StepRead, type WholeRef, makeReference, referenceCore } from './reference.js';
import { approvalArgs, signalArgs } from './signal-steps.js';
import type { ApprovalOptions, ApprovalOutput, SignalOptions } from './signal-steps.js';
import type { AnySelectBody, AnySelectOptions, SelectHandle } from './select-step.js';
import { type ClaimStepOptions, type ClaimOutput, claimJson } from './claim-step.js';
import { type RouteStepOptions, type RouteOutput, routeJson } from './route-step.js';
import { selectHandle, selectJson } from './select-step.js';
import type { StepBody } from './step-context.js';
import { switchJson } from './switch-step.js';
import { firstText, stepText } from './step-text.js';
import type { AnyStep, CompleteOptions, FailOptions, Placement, StepFailureValue, StepHandle } from './step-options.js';
import type { StepOptions, SwitchHandle, SwitchOptions, WaitOptions } from './step-options.js';
import { waitArgument } from './step-options.js';
import { type Resolved, compileTemplate } from './template.js';
import { runTurnsOf, turnsOf } from './turn-options.js';
import { type AnyUpdateOptions, Questions } from './updates.js';
import type { WorkflowBuilder } from './workflow-builder.js';

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
  /** The workflow, and the bodies that are being declared in it. */
  #level: Level = emptyLevel();
  readonly #names = new Set<string>();
  readonly #handlers = new Map<string, StepBody<never, unknown>>();
  readonly #questions = new Questions();

  constructor() {
    this.input = makeReference({ cel: 'input', reads: [] }) as WholeRef<In>;
  }

  step<X = WholeRef<In>, Out = unknown>(
    name: string,
    options: StepOptions<X, Out>,
  ): StepHandle<StepOutput<Awaited<Out>>> {
    const input = options.input === undefined ? undefined : compileTemplate(options.input, `step ${name}: input`);
    this.#handlers.set(name, options.run as StepBody<never, unknown>);
    const turns = turnsOf(`step ${name}`, options);
    const json = { ...(input !== undefined && { input: input.json }), ...callbackJson(options), ...turns.json };
    const reads = [...(input?.reads ?? []), ...turns.reads];
    const step = this.#add<StepOutput<Awaited<Out>>>(name, options, reads, json);
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
    const { json } = turnsOf(`step ${name}`, options);
    this.#add(name, placement, [], { input: input.json, ...callbackJson(options), ...json });
    const condition = options.when === undefined ? undefined : referenceCore(options.when)?.cel;
    this.#level.edges.push({
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

  http<Body = unknown>(name: string, options: HttpOptions & Placement): StepHandle<HttpAnswer<Body>> {
    const { json, reads } = httpJson(name, options);
    return this.#add(name, options, reads, json);
  }

  readonly select = ((name: string, options: AnySelectOptions = {}, body?: AnySelectBody): SelectHandle => {
    const run = body && this.#body(name, () => body(itemOf(name), bodyVariable('index', name)));
    const { json, reads } = selectJson(name, options, run);
    return selectHandle(this.#add(name, options, reads, json));
  }) as WorkflowBuilder<In>['select'];

  route(name: string, options: RouteStepOptions & Placement = {}): StepHandle<RouteOutput> {
    const { json, reads } = routeJson(name, options);
    return this.#add(name, options, reads, json);
  }

  claim(name: string, options: ClaimStepOptions & Placement = {}): StepHandle<ClaimOutput> {
    const { json, reads } = claimJson(name, options);
    return this.#add(name, options, reads, json);
  }

  project<X>(name: string, value: X, placement: Placement = {}): StepHandle<Resolved<X>> {
    const template = compileTemplate(value, `step ${name}: value`);
    return this.#add(name, placement, template.reads, {
      type: 'STEP_TYPE_DATAFLOW',
      args: { operation: 'project', project: template.json },
    });
  }

  filter<E>(name: string, items: ListRef<E>, keep: OfItem<E, Ref<boolean>>, at: Placement = {}): StepHandle<E[]> {
    return this.#dataflow(name, at, () => filterJson(name, items, keep));
  }

  map<E, X>(name: string, items: ListRef<E>, make: OfItem<E, X>, at: Placement = {}): StepHandle<Made<X>[]> {
    return this.#dataflow(name, at, () => mapJson(name, 'map', items, make));
  }

  flatMap<E, X>(name: string, items: ListRef<E>, make: OfItem<E, X>, at: Placement = {}): StepHandle<ItemsOf<X>[]> {
    return this.#dataflow(name, at, () => mapJson(name, 'flat_map', items, make));
  }

  sort<E>(name: string, items: ListRef<E>, by: OfItem<E, SortKeys>, at: Placement = {}): StepHandle<E[]> {
    return this.#dataflow(name, at, () => sortJson(name, items, by));
  }

  dedupe<E>(name: string, items: ListRef<E>, by: OfItem<E, unknown>, options: DedupeOptions = {}): StepHandle<E[]> {
    return this.#dataflow(name, options, () => dedupeJson(name, items, by, options.keep));
  }

  aggregate<E, X extends Aggregations, Key = never>(
    name: string,
    items: ListRef<E>,
    results: OfItem<E, X>,
    options: AggregateOptions<E, Key> = {},
  ): StepHandle<Aggregated<X, Key>> {
    return this.#dataflow(name, options, () => aggregateJson(name, items, results, options.groupBy));
  }

  merge<Parts extends readonly MergePart<Mode>[], Mode extends MergeMode = 'shallow'>(
    name: string,
    parts: readonly [...Parts],
    options: MergeOptions<Mode> = {},
  ): StepHandle<Merged<Parts, Mode>> {
    return this.#dataflow(name, options, () => mergeJson(name, parts, options.mode));
  }

  assert(name: string, assertions: readonly Assertion[], at: Placement = {}): StepHandle<true> {
    return this.#dataflow(name, at, () => assertJson(name, assertions));
  }

  /** A step of an operation. Throws DefinitionError when its functions declare steps: they run for no item. */
  #dataflow<Out>(name: string, placement: Placement, compile: () => DataflowJson): StepHandle<Out> {
    const around = this.#level;
    const within = emptyLevel();
    this.#level = within;
    try {
      const { args, reads } = compile();
      this.#level = around;
      const [step] = within.steps;
      if (step === undefined) return this.#add(name, placement, reads, { type: 'STEP_TYPE_DATAFLOW', args });
      throw new DefinitionError(`step ${step.ref} is declared in a function of ${name}`, 'use w.forEach for steps');
    } finally {
      this.#level = around;
    }
  }

  wait(name: string, options: WaitOptions): StepHandle<unknown> {
    const core = referenceCore(options.duration ?? options.until);
    return this.#add(name, options, core?.reads ?? [], {
      type: 'STEP_TYPE_WAIT',
      args: waitArgument(name, options, core?.cel),
    });
  }

  signal<S extends z.ZodType = z.ZodUnknown>(
    name: string,
    options: SignalOptions<S> & Placement = {},
  ): StepHandle<Jsonify<z.output<S>>> {
    const { args, reads } = signalArgs(name, options);
    return this.#add(name, options, reads, { type: 'STEP_TYPE_SIGNAL', args });
  }

  readonly update = ((name: string, given?: AnyUpdateOptions): AnyStep => {
    const options = given ?? {};
    const step = this.#taking(name, options);
    this.#questions.update(name, options, step);
    return step;
  }) as WorkflowBuilder<In>['update'];

  #taking(name: string, options: AnyUpdateOptions): StepHandle<unknown> {
    const { run } = options;
    if (run === undefined) return this.#add(name, options, [], { type: 'STEP_TYPE_SIGNAL' });
    this.#handlers.set(name, run);
    const turns = turnsOf(`step ${name}`, options);
    return this.#add(name, options, turns.reads, { ...callbackJson(options), ...turns.json });
  }

  query(name: string, value: Reference<unknown>): void {
    this.#questions.query(name, value);
  }

  approval<Option extends string = 'approve' | 'reject', S extends z.ZodType = z.ZodUnknown>(
    name: string,
    options: ApprovalOptions<Option, S> & Placement = {},
  ): StepHandle<ApprovalOutput<Option, Jsonify<z.output<S>>>> {
    const { args, reads } = approvalArgs(name, options);
    return this.#add(name, options, reads, { type: 'STEP_TYPE_APPROVAL', args });
  }

  switch<Case extends string, Default extends string = never>(
    name: string,
    options: SwitchOptions<Case, Default>,
  ): SwitchHandle<Case | Default> {
    const { json, reads } = switchJson(name, options);
    const handle = this.#add(name, options, reads, json);
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

  continueAsNew(name: string, options: Placement & ContinueOptions<unknown> = {}): AnyStep {
    const { json, reads } = continueJson(name, options);
    const { ref } = this.#add(name, options, reads, json);
    return { ref };
  }

  forEach<L extends Reference<readonly unknown[]>, X, F extends FailedItems = 'skip'>(
    name: string,
    items: L,
    body: (item: ItemRef<L>, index: Ref<number>) => X,
    options: ForEachOptions<F> = {},
  ): ForEachHandle<ItemOutput<BodyOutput<X>, F>> {
    const list = referenceCore(items);
    if (list === undefined) throw new DefinitionError(`${name} goes over no list`, 'pass a reference: w.input.leads');
    const { json, outer } = this.#body(name, () => body(itemOf<L>(name), bodyVariable('index', name)));
    const { maxParallel, tolerate } = options;
    const scatter = this.#add<ItemCounts>(name, options, [...list.reads, ...outer], {
      type: 'STEP_TYPE_SCATTER',
      args: {
        items: list.cel,
        ...(maxParallel !== undefined && { max_parallel: maxParallel }),
        ...(tolerate !== undefined && { tolerate }),
      },
      body: json,
    });
    return this.#collected(scatter, this.#level, options.failed ?? 'skip');
  }

  /** What the items came to is collected once somebody reads it. */
  #collected<T>(scatter: StepHandle<ItemCounts>, level: Level, failed: FailedItems): ForEachHandle<T> {
    let all: StepHandle<T[]> | undefined;
    const collect = (): StepHandle<T[]> => {
      const now = this.#level;
      this.#level = level;
      const args = { of: scatter.ref, failed };
      const reads = [{ ref: scatter.ref, what: 'output' as const }];
      const step = this.#add<T[]>(`${scatter.ref}-all`, {}, reads, { type: 'STEP_TYPE_GATHER', args });
      this.#level = now;
      return step;
    };
    return {
      ref: scatter.ref,
      error: scatter.error,
      counts: scatter.output,
      get output() {
        return (all ??= collect()).output;
      },
    };
  }

  loop<V>(name: string, options: LoopOptions & { readonly vars: V }, body: LoopBody<V>): StepHandle<LoopVars<V>> {
    let until: unknown;
    const { json, outer } = this.#body(name, () => {
      const iteration = body(bodyVariable('vars', name), bodyVariable('index', name));
      ({ until } = iteration);
      return iteration.output;
    });
    const vars = compileTemplate(options.vars, `step ${name}: vars`);
    return this.#add(name, options, [...vars.reads, ...outer], {
      type: 'STEP_TYPE_LOOP',
      args: { vars: vars.json, until: untilText(name, until), max_iterations: options.maxIterations },
      body: json,
    });
  }

  /** Declares the steps of a body; says what they read outside of it. */
  #body(name: string, declare: () => unknown): { readonly json: BodyJson; readonly outer: readonly StepRead[] } {
    const around = this.#level;
    const level = emptyLevel();
    this.#level = level;
    try {
      const returned = declare();
      return { json: bodyJson(name, level, returned), outer: level.outer };
    } finally {
      this.#level = around;
    }
  }

  firstOf<Out>(first: StepHandle<Out>, ...others: readonly StepHandle<Out>[]): Ref<Jsonify<Out>> {
    const cel = firstText([first, ...others].map(({ ref }) => stepText(ref, 'output')));
    const reads = [first, ...others].map(({ ref }) => ({ ref, what: 'output' as const }));
    return makeReference({ cel, reads }) as Ref<Jsonify<Out>>;
  }

  /** The definition, with its output template. */
  finish(
    slug: string,
    options: DefinitionOptions<WholeRef<In>>,
    output: unknown,
    schema: { [key: string]: unknown } | undefined,
  ): Built {
    const definition: DefinitionJson = {
      family_slug: slug,
      ...optionsJson(options),
      ...runTurnsOf(`workflow ${slug}`, options, this.input),
      steps: this.#level.steps,
      edges: this.#level.edges,
      ...(output !== undefined && { output: compileTemplate(output, 'output').json }),
      ...(schema !== undefined && { input_schema: schema }),
      ...this.#questions.json(),
    };
    return { definition, handlers: this.#handlers };
  }

  #add<Out>(
    name: string,
    placement: Placement,
    reads: readonly StepRead[],
    step: Omit<StepJson, 'ref'>,
  ): StepHandle<Out> {
    if (this.#names.has(name)) {
      throw new DefinitionError(
        `two steps are named ${JSON.stringify(name)}`,
        'give each step of a workflow its own name',
      );
    }
    this.#names.add(name);
    const { edges, outer, join } = connectionsOf(this.#level, name, placement, reads);
    this.#level.steps.push({
      ref: name,
      ...(placement.title !== undefined && { title: placement.title }),
      ...step,
      ...(join !== undefined && { join }),
    });
    this.#level.edges.push(...edges);
    this.#level.outer.push(...outer);
    const at = (what: 'output' | 'error'): unknown =>
      makeReference({ cel: stepText(name, what), reads: [{ ref: name, what }] });
    return { ref: name, output: at('output') as WholeRef<Out>, error: at('error') as Ref<StepFailureValue> };
  }
}
