/**
 * Typed references: what a definition says about values that exist only while a run runs. `scored.output.amount` is
 * not a
 * number but the CEL text `steps.score.output.amount`, with the type of the number it will be.
 */
import { celKey, celLiteral, celMember } from './cel-text.js';
import { DefinitionError } from './definition-error.js';
import type { Jsonify } from './jsonify.js';

/** Key under which a reference keeps its text; not a property anybody's data has. */
const REFERENCE = Symbol('ductor.reference');

/** What stands behind a reference. */
export interface ReferenceCore {
  /** The CEL expression. */
  readonly cel: string;
  /** Steps it reads, and what of them. */
  readonly reads: readonly StepRead[];
}

/** One step that an expression reads; `item` is the item or index that the step's body or function has. */
export interface StepRead {
  readonly ref: string;
  readonly what: 'output' | 'error' | 'item';
}

/** Carries the type of a reference; exists for the compiler only. */
declare const HOLDS: unique symbol;

/** Something that holds a T during a run. */
export interface Reference<T> {
  readonly [HOLDS]: T;
}

/** Carries the type of a value that is passed on whole; exists for the compiler only. */
declare const WHOLE: unique symbol;

/** Something that is passed on as it is. */
export interface Whole<T> {
  readonly [WHOLE]: T;
}

/**
 * The input of the run or the output of a step. Passed on by itself it arrives as what it was, a Date as a Date; its
 * fields, and templates it is part of, are JSON.
 */
export type WholeRef<T> = Ref<Jsonify<T>> & Whole<T>;

/** A value, or a reference to one. */
export type OrRef<T> = T | Reference<T>;

interface Comparable<T> {
  /** `this == other` */
  eq(other: OrRef<T>): Ref<boolean>;
  /** `this != other` */
  ne(other: OrRef<T>): Ref<boolean>;
}

interface Ordered<T> extends Comparable<T> {
  /** `this < other` */
  lt(other: OrRef<T>): Ref<boolean>;
  /** `this <= other` */
  lte(other: OrRef<T>): Ref<boolean>;
  /** `this > other` */
  gt(other: OrRef<T>): Ref<boolean>;
  /** `this >= other` */
  gte(other: OrRef<T>): Ref<boolean>;
}

/** What a reference to a number can do. */
export interface NumberOperations extends Ordered<number> {
  plus(other: OrRef<number>): Ref<number>;
  minus(other: OrRef<number>): Ref<number>;
  times(other: OrRef<number>): Ref<number>;
  dividedBy(other: OrRef<number>): Ref<number>;
}

/** What a reference to a string can do. */
export interface StringOperations extends Ordered<string> {
  startsWith(prefix: OrRef<string>): Ref<boolean>;
  endsWith(suffix: OrRef<string>): Ref<boolean>;
  contains(part: OrRef<string>): Ref<boolean>;
  /** RE2 pattern, at most 256 characters. */
  matches(pattern: string): Ref<boolean>;
  concat(other: OrRef<string>): Ref<string>;
}

/** What a reference to a boolean can do. */
export interface BooleanOperations extends Comparable<boolean> {
  and(other: OrRef<boolean>): Ref<boolean>;
  or(other: OrRef<boolean>): Ref<boolean>;
  not(): Ref<boolean>;
}

/** What a reference to a list can do. */
export interface ListOperations<E> {
  /** Element at an index from 0. */
  at(index: number): Ref<E>;
  /** Number of elements. */
  size(): Ref<number>;
  /** Whether the list holds the value. */
  includes(value: OrRef<E>): Ref<boolean>;
}

/** A reference to T: fields of objects are references again, everything else has the operations of its type. */
export type Ref<T> = Reference<T> &
  ([T] extends [number]
    ? NumberOperations
    : [T] extends [string]
      ? StringOperations
      : [T] extends [boolean]
        ? BooleanOperations
        : [T] extends [readonly (infer E)[]]
          ? ListOperations<E>
          : [T] extends [object]
            ? { readonly [K in keyof T]-?: Ref<Exclude<T[K], undefined>> }
            : unknown);

const infix = (left: ReferenceCore, operator: string, right: unknown): unknown => {
  const other = operand(right);
  return makeReference({ cel: `(${left.cel} ${operator} ${other.cel})`, reads: [...left.reads, ...other.reads] });
};
const method = (left: ReferenceCore, name: string, argument: unknown): unknown => {
  const other = operand(argument);
  return makeReference({ cel: `${left.cel}.${name}(${other.cel})`, reads: [...left.reads, ...other.reads] });
};
const derived = (from: ReferenceCore, cel: string): unknown => makeReference({ cel, reads: from.reads });

type Operation = (core: ReferenceCore, argument: unknown) => unknown;

/**
 * Operations by name. A field with such a name is no trouble: `output.size` is the field, `output.size()` the
 * operation.
 */
const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['eq', (core, x) => infix(core, '==', x)],
  ['ne', (core, x) => infix(core, '!=', x)],
  ['lt', (core, x) => infix(core, '<', x)],
  ['lte', (core, x) => infix(core, '<=', x)],
  ['gt', (core, x) => infix(core, '>', x)],
  ['gte', (core, x) => infix(core, '>=', x)],
  ['plus', (core, x) => infix(core, '+', x)],
  ['minus', (core, x) => infix(core, '-', x)],
  ['times', (core, x) => infix(core, '*', x)],
  ['dividedBy', (core, x) => infix(core, '/', x)],
  ['concat', (core, x) => infix(core, '+', x)],
  ['and', (core, x) => infix(core, '&&', x)],
  ['or', (core, x) => infix(core, '||', x)],
  ['not', (core) => derived(core, `!(${core.cel})`)],
  ['startsWith', (core, x) => method(core, 'startsWith', x)],
  ['endsWith', (core, x) => method(core, 'endsWith', x)],
  ['contains', (core, x) => method(core, 'contains', x)],
  ['matches', (core, x) => method(core, 'matches', x)],
  ['at', (core, x) => derived(core, `${core.cel}[${String(x)}]`)],
  ['size', (core) => derived(core, `size(${core.cel})`)],
  [
    'includes',
    (core, x) => {
      const other = operand(x);
      return makeReference({ cel: `(${other.cel} in ${core.cel})`, reads: [...core.reads, ...other.reads] });
    },
  ],
]);

/** What an accessed property may turn out to be an operation of. */
interface Access {
  readonly parent: ReferenceCore;
  readonly name: string;
}

const use = (what: string): never => {
  throw new DefinitionError(
    `a reference has no value while a workflow is being defined, so it cannot be ${what}`,
    'use its operations (.plus, .eq, .concat, ...) or pass it on whole',
  );
};

/** A reference with this text. Its type is the caller's to know. */
export function makeReference(core: ReferenceCore, access?: Access): unknown {
  return new Proxy(() => undefined, {
    get(_target, property) {
      if (property === REFERENCE) return core;
      // A thenable would be called by `await`; there is nothing to wait for.
      if (property === 'then') return undefined;
      if (property === Symbol.toPrimitive || property === 'toJSON') return use('computed with or turned into text');
      if (typeof property === 'symbol') return undefined;
      const key = celKey(property);
      return makeReference({ cel: celMember(core.cel, key), reads: core.reads }, { parent: core, name: property });
    },
    apply(_target, _self, args: readonly unknown[]) {
      const operation = access === undefined ? undefined : OPERATIONS.get(access.name);
      if (access === undefined || operation === undefined)
        return use(`called${access === undefined ? '' : `: there is no operation ${access.name}`}`);
      return operation(access.parent, args[0]);
    },
    has: () => use('searched with `in`'),
    ownKeys: () => use('spread or enumerated'),
    set: () => use('assigned to'),
  });
}

/** The text and reads behind a reference; undefined for anything else. */
export function referenceCore(value: unknown): ReferenceCore | undefined {
  if (typeof value !== 'function') return undefined;
  const core: unknown = Reflect.get(value, REFERENCE);
  return isCore(core) ? core : undefined;
}

const isCore = (value: unknown): value is ReferenceCore =>
  typeof value === 'object' && value !== null && 'cel' in value && 'reads' in value;

/** A reference as it is, a plain value as a CEL literal. */
function operand(value: unknown): ReferenceCore {
  return referenceCore(value) ?? { cel: celLiteral(value), reads: [] };
}

/**
 * A reference by CEL text, for what the operations cannot say: cel<number>`size(${order.output.items}) * 2`. References
 * in the template keep their reads; plain values become literals. The type is asserted by the caller, and the engine
 * checks the expression when the workflow is published.
 */
export function cel<T>(text: TemplateStringsArray, ...values: readonly unknown[]): Ref<T> {
  const parts = values.map(operand);
  const joined = text.reduce((all, piece, index) => all + (parts[index - 1]?.cel ?? '') + piece);
  return makeReference({ cel: joined, reads: parts.flatMap((part) => part.reads) }) as Ref<T>;
}
