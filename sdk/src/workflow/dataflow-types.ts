/** What the operations over lists and objects are written with, and the types that come out of them. */
import type { Placement } from './step-options.js';
import type { Jsonify } from './jsonify.js';
import type { OrRef, Ref, Reference } from './reference.js';
import type { Resolved } from './template.js';

/** A reference to a list. */
export type ListRef<E> = Ref<E[]> | Reference<readonly E[]>;

/** Says something of one item; called once, while the workflow is defined, with references to an item and its place. */
export type OfItem<E, X> = (item: Ref<E>, index: Ref<number>) => X;

/** The type of what a function of an item says, as JSON. */
export type Made<X> = Jsonify<Resolved<X>>;

/** The items of a template that gives a list. */
export type ItemsOf<X> = Made<X> extends readonly (infer E)[] ? E : never;

/** Values that have an order: null, false, true, numbers, texts. */
type Sortable = string | number | boolean | null;

/** What to sort by. */
export interface SortKey {
  readonly by: Reference<Sortable>;
  /** Default "asc". */
  readonly order?: OrRef<'asc' | 'desc'>;
}

/** One key, or several: the first decides, the next one where it is equal. */
export type SortKeys = Reference<Sortable> | SortKey | readonly (Reference<Sortable> | SortKey)[];

/** Which item of a key stays. */
export interface DedupeOptions extends Placement {
  /** Default "first". */
  readonly keep?: OrRef<'first' | 'last'>;
}

/** What has to hold. */
export interface Assertion {
  readonly that: Ref<boolean>;
  /** Of 1 to 1000 characters. Default: the condition itself. */
  readonly message?: OrRef<string>;
}

/** One value of each item. */
type Scalar = Reference<unknown> | Sortable;

/** The functions of an aggregate, and what they take of an item. */
interface Functions {
  /** How many items it holds for; `true` counts all. */
  readonly count: OrRef<boolean>;
  readonly any: OrRef<boolean>;
  readonly all: OrRef<boolean>;
  /** null does not count, here and in the next three. */
  readonly sum: OrRef<number | null>;
  readonly avg: OrRef<number | null>;
  readonly min: OrRef<Sortable>;
  readonly max: OrRef<Sortable>;
  readonly first: Scalar;
  readonly last: Scalar;
  readonly collect: Scalar;
}

/** One result: exactly one function, and what it takes of an item. */
export type Aggregation = {
  [F in keyof Functions]: { readonly [K in F]: Functions[F] } & {
    readonly [K in Exclude<keyof Functions, F>]?: never;
  };
}[keyof Functions];

/** Results by name. */
export type Aggregations = Readonly<Record<string, Aggregation>>;

/** How items are summed up. */
export interface AggregateOptions<E, Key> extends Placement {
  /** One object of results for each key, instead of one for all. */
  readonly groupBy?: OfItem<E, Key>;
}

/** The type of one result. A group has at least one item; without groups there may be none, hence `None`. */
type ResultOf<A, None> = A extends { readonly count: unknown }
  ? number
  : A extends { readonly any: unknown } | { readonly all: unknown }
    ? boolean
    : A extends { readonly sum: unknown }
      ? number
      : A extends { readonly avg: infer V }
        ? number | (null extends Made<V> ? null : None)
        : A extends
              | { readonly min: infer V }
              | { readonly max: infer V }
              | { readonly first: infer V }
              | { readonly last: infer V }
          ? Made<V> | None
          : A extends { readonly collect: infer V }
            ? Made<V>[]
            : never;

/** What an aggregate puts out: an object of results, or a list with one such object per key, the key as `group`. */
export type Aggregated<X, Key> = [Key] extends [never]
  ? { -readonly [K in keyof X]: ResultOf<X[K], null> }
  : { -readonly [K in keyof X | 'group']: K extends keyof X ? ResultOf<X[K], never> : Made<Key> }[];

/** How values become one: objects with later fields winning, the same within objects, or lists one after the other. */
export type MergeMode = 'shallow' | 'deep' | 'concat';

interface JsonFields {
  readonly [key: string]: unknown;
}

/** What may be merged in a mode; parts that are null are left out. */
export type MergePart<Mode extends MergeMode> = Mode extends 'concat'
  ? Reference<readonly unknown[] | null> | readonly unknown[]
  : Reference<JsonFields | null> | JsonFields;

/** How parts are merged. */
export interface MergeOptions<Mode extends MergeMode> extends Placement {
  /** Default "shallow". */
  readonly mode?: Mode;
}

/** What parts are once they are one. */
export type Merged<Parts extends readonly unknown[], Mode extends MergeMode> = Mode extends 'concat'
  ? Exclude<Made<Parts[number]>, null> extends readonly (infer E)[]
    ? E[]
    : never
  : MergedObjects<Parts, Mode>;

type MergedObjects<Parts extends readonly unknown[], Mode extends MergeMode, Base = object> = Parts extends readonly [
  infer Part,
  ...infer Rest,
]
  ? MergedObjects<Rest, Mode, Over<Base, Fields<Made<Part>>, Mode>>
  : Base;

/** The fields of a part; of one that may be null none of them is sure. */
type Fields<T> = null extends T ? Partial<Exclude<T, null>> : T;

/** Whether an object has the field in any case. */
type IsSure<T, K extends keyof T> = string extends keyof T ? false : object extends Pick<T, K> ? false : true;

type Flat<T> = { [K in keyof T]: T[K] };

/** Two objects as one: what the second has for sure replaces what the first has. */
type Over<A, B, Mode extends MergeMode> = Flat<
  { [K in keyof A as K extends keyof B ? never : K]: A[K] } & {
    [K in keyof A as K extends keyof B ? (IsSure<B, K> extends true ? never : K) : never]:
      A[K] | (K extends keyof B ? Inner<A[K], Exclude<B[K], undefined>, Mode> : never);
  } & {
    [K in keyof B as K extends keyof A ? (IsSure<B, K> extends true ? K : never) : K]: K extends keyof A
      ? Inner<A[K], B[K], Mode>
      : B[K];
  }
>;

/** A field that both have. */
type Inner<A, B, Mode extends MergeMode> = Mode extends 'deep'
  ? B extends JsonFields
    ? A extends JsonFields
      ? Over<A, B, Mode>
      : B
    : B
  : B;
