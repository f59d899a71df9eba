/** What `build(w)` gets: one method for each way to declare a step. */
import type * as z from 'zod';
import type { BodyOutput, FailedItems, ForEachHandle, ForEachOptions } from './bodies.js';
import type { ItemOutput, ItemRef, LoopBody, LoopOptions, LoopVars } from './bodies.js';
import type { ChildOptions, ChildWorkflow } from './child.js';
import type { CompensationOptions } from './compensation.js';
import type { ContinueOptions } from './continuing.js';
import type {
  Aggregated,
  AggregateOptions,
  Aggregations,
  Assertion,
  DedupeOptions,
  ItemsOf,
} from './dataflow-types.js';
import type { ListRef, Made, Merged, MergeMode, MergeOptions, MergePart, OfItem, SortKeys } from './dataflow-types.js';
import type { HttpAnswer, HttpOptions } from './http-step.js';
import type { ClaimStepOptions, ClaimOutput } from './claim-step.js';
import type { RouteStepOptions, RouteOutput } from './route-step.js';
import type { Jsonify, StepOutput } from './jsonify.js';
import type { Ref, Reference, WholeRef } from './reference.js';
import type {
  SelectEachOptions,
  SelectEachOutput,
  SelectedRecipient,
  SelectHandle,
  SelectOptions,
  SelectOutput,
  SelectRankedOptions,
  SelectRankedOutput,
  SelectSlateOptions,
  SelectSlateOutput,
} from './select-step.js';
import type { ApprovalOptions, ApprovalOutput, SignalOptions } from './signal-steps.js';
import type {
  AnyStep,
  CompleteOptions,
  FailOptions,
  Placement,
  StepHandle,
  StepOptions,
  SwitchHandle,
  SwitchOptions,
  WaitOptions,
} from './step-options.js';
import type { Resolved } from './template.js';
import type { HandledUpdateOptions, UpdateOptions } from './updates.js';

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
  /**
   * An HTTP call that the engine makes, through its egress guard: no worker is needed. `Body` is what the body of the
   * answer is taken for. Attempts carry the same `idempotency-key`.
   */
  http<Body = unknown>(name: string, options: HttpOptions & Placement): StepHandle<HttpAnswer<Body>>;
  /**
   * Chooses recipients of a pool and holds them until this run, and all that descends from it, has ended. Fails with
   * `recipient_capacity_exhausted`, `no_eligible_recipient` or `capacity_authority_unavailable`. A body runs for each
   * of them, for one after the other until it completes (`mode: 'ranked'`), or once for all (`mode: 'slate'`).
   */
  select(name: string, options?: SelectOptions & Placement): SelectHandle;
  select<X>(
    name: string,
    options: SelectEachOptions & Placement,
    body: (recipient: Ref<SelectedRecipient>, index: Ref<number>) => X,
  ): SelectHandle<SelectEachOutput<BodyOutput<X>>>;
  select<X>(
    name: string,
    options: SelectRankedOptions & Placement,
    body: (recipient: Ref<SelectedRecipient>, index: Ref<number>) => X,
  ): SelectHandle<SelectRankedOutput<BodyOutput<X>>>;
  select<X>(
    name: string,
    options: SelectSlateOptions & Placement,
    body: (selection: Ref<SelectOutput>) => X,
  ): SelectHandle<SelectSlateOutput<BodyOutput<X>>>;
  /**
   * Routes a unit of work and assigns it: all stages of routing, in the commit of the step. The assignments are the
   * run's, and stay when it ends: complete or release them. Fails with the outcome of the decision as its code, see
   * `RouteErrorCode`.
   */
  route(name: string, options?: RouteStepOptions & Placement): StepHandle<RouteOutput>;
  /**
   * Puts a unit of work in the claim queue of a pool, and waits until a recipient has claimed it, or with
   * `until: 'completed'` has done it. Nobody claims it any more once the step has ended without that. Fails with the
   * codes of `ClaimErrorCode`.
   */
  claim(name: string, options?: ClaimStepOptions & Placement): StepHandle<ClaimOutput>;
  /** Computes a value in the engine: an object of references, plain values and `cel` expressions. */
  project<X>(name: string, value: X, placement?: Placement): StepHandle<Resolved<X>>;
  /** Keeps the items that a condition holds for. */
  filter<E>(name: string, items: ListRef<E>, keep: OfItem<E, Ref<boolean>>, placement?: Placement): StepHandle<E[]>;
  /** Makes one value of each item: references, plain values, objects and lists of both. */
  map<E, X>(name: string, items: ListRef<E>, make: OfItem<E, X>, placement?: Placement): StepHandle<Made<X>[]>;
  /** Makes a list of each item and joins the lists. */
  flatMap<E, X extends Reference<readonly unknown[]> | readonly unknown[]>(
    name: string,
    items: ListRef<E>,
    make: OfItem<E, X>,
    placement?: Placement,
  ): StepHandle<ItemsOf<X>[]>;
  /** Orders items by one or more keys; equal ones keep their order. */
  sort<E>(name: string, items: ListRef<E>, by: OfItem<E, SortKeys>, placement?: Placement): StepHandle<E[]>;
  /** Keeps one item per key. */
  dedupe<E>(name: string, items: ListRef<E>, by: OfItem<E, unknown>, options?: DedupeOptions): StepHandle<E[]>;
  /** Sums items up, as a whole or by group: `(sale) => ({ total: { sum: sale.amount } })`. */
  aggregate<E, X extends Aggregations, Key = never>(
    name: string,
    items: ListRef<E>,
    results: OfItem<E, X>,
    options?: AggregateOptions<E, Key>,
  ): StepHandle<Aggregated<X, Key>>;
  /** Joins objects, later fields winning, or lists; parts that are null are left out. */
  merge<Parts extends readonly MergePart<Mode>[], Mode extends MergeMode = 'shallow'>(
    name: string,
    parts: readonly [...Parts],
    options?: MergeOptions<Mode>,
  ): StepHandle<Merged<Parts, Mode>>;
  /** Fails with `assertion_failed` at the first condition that does not hold. */
  assert(name: string, assertions: readonly Assertion[], placement?: Placement): StepHandle<true>;
  /** Waits durably: no slot and no memory is held meanwhile. */
  wait(name: string, options: WaitOptions): StepHandle<unknown>;
  /** Waits for a signal to the run; its payload is the output. Signals that come early are kept. */
  signal<S extends z.ZodType = z.ZodUnknown>(
    name: string,
    options?: SignalOptions<S> & Placement,
  ): StepHandle<Jsonify<z.output<S>>>;
  /**
   * Waits for an update of its name, whose caller waits for the answer. With `run` a body of this app takes it, and its
   * output is the answer; without, what was sent is the output.
   */
  update<S extends z.ZodType = z.ZodUnknown, Out = unknown>(
    name: string,
    options: HandledUpdateOptions<S, Out>,
  ): StepHandle<StepOutput<Awaited<Out>>>;
  update<S extends z.ZodType = z.ZodUnknown>(
    name: string,
    options?: UpdateOptions<S>,
  ): StepHandle<Jsonify<z.output<S>>>;
  /** What a run tells of itself under a name, as it stands: a reference or `cel` expression over all of its steps. */
  query(name: string, value: Reference<unknown>): void;
  /** Waits until somebody decides. */
  approval<Option extends string = 'approve' | 'reject', S extends z.ZodType = z.ZodUnknown>(
    name: string,
    options?: ApprovalOptions<Option, S> & Placement,
  ): StepHandle<ApprovalOutput<Option, Jsonify<z.output<S>>>>;
  /** Chooses one way on by the first condition that holds. */
  switch<Case extends string, Default extends string = never>(
    name: string,
    options: SwitchOptions<Case, Default>,
  ): SwitchHandle<Case | Default>;
  /** Ends the run as FAILED; what runs besides is stopped. */
  fail(name: string, options: FailOptions): AnyStep;
  /** Ends the run as COMPLETED; what runs besides is stopped. */
  complete<X>(name: string, options?: CompleteOptions<X>): AnyStep;
  /**
   * Ends the run, and begins its successor with an input of its own: a run that never ends, in pieces that stay small.
   * What runs besides is stopped.
   */
  continueAsNew(name: string, options?: Placement & ContinueOptions<In>): AnyStep;
  /**
   * Runs the steps that `body` declares for each item of a list, so many at a time. What `body` returns, a step or
   * references, is what an item comes to; `output` has them in the order of the items.
   */
  forEach<L extends Reference<readonly unknown[]>, X, F extends FailedItems = 'skip'>(
    name: string,
    items: L,
    body: (item: ItemRef<L>, index: Ref<number>) => X,
    options?: ForEachOptions<F>,
  ): ForEachHandle<ItemOutput<BodyOutput<X>, F>>;
  /**
   * Runs the steps that `body` declares until its condition holds. `vars` is what the first iteration gets; what an
   * iteration puts out, the next one gets, and in the end the loop puts it out.
   */
  loop<V>(name: string, options: LoopOptions & { readonly vars: V }, body: LoopBody<V>): StepHandle<LoopVars<V>>;
  /** The output of the first of these steps that has one: for what begins when any of them has ended. */
  firstOf<Out>(first: StepHandle<Out>, ...others: readonly StepHandle<Out>[]): Ref<Jsonify<Out>>;
}
