/** Bodies in code: steps that run for each item of a list, or again and again. */
import type { Placement, StepHandle } from './step-options.js';
import { DefinitionError } from './definition-error.js';
import type { BodyJson, EdgeJson, StepJson } from './definition-json.js';
import type { Jsonify } from './jsonify.js';
import { makeReference, referenceCore } from './reference.js';
import type { Ref, Reference, StepRead, Whole, WholeRef } from './reference.js';
import { type Arrives, compileTemplate, type Resolved, type Template } from './template.js';

/** What stands in the list for an item that failed, where some may. */
export type FailedItems = 'null' | 'skip' | 'error';

/** How a list is worked on. */
export interface ForEachOptions<F extends FailedItems = 'skip'> extends Placement {
  /** Items under way at a time, 1 to 1000. Default 100. */
  readonly maxParallel?: number;
  /** How many items may fail: a number, or a share such as "5%". Default 0. */
  readonly tolerate?: number | `${number}%`;
  /** What stands in the output for an item that failed. Default "skip": nothing. */
  readonly failed?: F;
}

/** A step that puts something out, as a body may return it. */
interface WithOutput<O> {
  readonly ref: string;
  readonly output: O;
  readonly error: Reference<unknown>;
}

/**
 * What a body came to: of a step what that puts out, else what it returned with its references filled in. A whole
 * value, such as the output of a step, is what it was; anything else JSON.
 */
export type BodyOutput<X> =
  X extends Reference<unknown> ? Arrives<X> : X extends WithOutput<infer O> ? Arrives<O> : Arrives<X>;

/** An item of a list: of a list that is passed on whole what it was, of any other JSON. */
export type ItemRef<L> =
  L extends Whole<readonly (infer E)[]>
    ? WholeRef<E>
    : L extends Whole<ReadonlySet<infer E>>
      ? WholeRef<E>
      : L extends Reference<readonly (infer E)[]>
        ? Ref<E>
        : never;

/** An item of the output. */
export type ItemOutput<T, F extends FailedItems> =
  | T
  | (F extends 'null'
      ? null
      : F extends 'error'
        ? { readonly error: { readonly code: string; readonly message: string } }
        : never);

/** How the items of a list ended. */
export interface ItemCounts {
  readonly count: number;
  readonly completed: number;
  readonly failed: number;
  /** The first 20 failures. */
  readonly failures: readonly { readonly index: number; readonly code: string; readonly message: string }[];
}

/** A list that is worked on. */
export interface ForEachHandle<T> extends StepHandle<T[]> {
  /** What the items came to, in their order. Reading it adds the step `<name>-all` that collects them. */
  readonly output: WholeRef<T[]>;
  readonly counts: Ref<ItemCounts>;
}

/** How often a body runs. */
export interface LoopOptions extends Placement {
  /** 1 to 10,000; the step fails when the condition still does not hold then. */
  readonly maxIterations: number;
}

/** How an iteration ends. */
export interface Iteration<X> {
  /** Whether this was the last one; reads the steps of the body. */
  readonly until: Ref<boolean>;
  /** What the next iteration gets, and what the loop puts out in the end. */
  readonly output: X;
}

/** Steps that are being declared: those of the workflow, or of a body. */
export interface Level {
  readonly steps: StepJson[];
  readonly edges: EdgeJson[];
  /** Steps outside that steps of this level read: they stand before the step that runs the body. */
  readonly outer: StepRead[];
}

/** A level without steps. */
export function emptyLevel(): Level {
  return { steps: [], edges: [], outer: [] };
}

/**
 * A variable of a body, or of a function of items.
 *
 * @param of the step whose body or function it is
 */
export function bodyVariable<T>(name: 'item' | 'index' | 'vars', of: string): Ref<T> {
  // Numbers of the SDK are doubles, as all numbers of JSON. Functions of items have no vars, so nothing hides those.
  const reads = name === 'vars' ? [] : [{ ref: of, what: 'item' as const }];
  return makeReference({ cel: name === 'index' ? 'double(index)' : name, reads }) as Ref<T>;
}

/**
 * The item of a body that runs for each item of a list.
 *
 * @param of the step whose body it is
 */
export function itemOf<L>(of: string): ItemRef<L> {
  return makeReference({ cel: 'item', reads: [{ ref: of, what: 'item' }] }) as ItemRef<L>;
}

function isHandle(value: unknown): value is StepHandle<unknown> {
  return typeof value === 'object' && value !== null && 'ref' in value && 'output' in value && 'error' in value;
}

/** A body of these steps. Throws DefinitionError when it has none or returns what JSON cannot hold. */
export function bodyJson(name: string, { steps, edges, outer }: Level, returned: unknown): BodyJson {
  if (steps.length === 0) throw new DefinitionError(`the body of ${name} has no steps`, 'declare one in it');
  const value = isHandle(returned) ? returned.output : returned;
  const output = value === undefined ? undefined : compileTemplate(value, `step ${name}: output of the body`);
  const own = new Set(steps.map(({ ref }) => ref));
  outer.push(...(output?.reads ?? []).filter(({ ref }) => !own.has(ref)));
  return { steps, edges, ...(output !== undefined && { output: output.json }) };
}

/** The condition of a loop as text. Throws DefinitionError when it is none. */
export function untilText(name: string, until: unknown): string {
  const core = referenceCore(until);
  if (core !== undefined) return core.cel;
  throw new DefinitionError(
    `the loop ${name} has no condition`,
    'return { until: check.output.done.eq(true), output }',
  );
}

/** What a loop carries, as JSON. */
export type LoopVars<V> = Jsonify<Resolved<V>>;

/** Types a loop whose iterations pass something on. */
export type LoopBody<V> = (vars: Ref<LoopVars<V>>, index: Ref<number>) => Iteration<Template<LoopVars<V>>>;
