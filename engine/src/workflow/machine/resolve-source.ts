/** Finds the value that a source names. */
import { impossible } from '../../kernel/index.js';
import { itemAt } from './list.js';
import { indexOfScope, ownerOfScope, scopeOfPath } from './path.js';
import { recipientsIn } from './selection.js';
import type { StepState } from './state.js';
import type { Value, ValueSource } from './value.js';

/** Where values stand: a run, or one in the making. */
export interface Values {
  readonly input: Value;
  readonly steps: { get(path: string): StepState | undefined };
}

/** A body around a step, and which of its items or iterations. */
export interface Around {
  /** The step that runs it. */
  readonly owner: StepState;
  readonly index: number;
}

/** The innermost body around a scope, or the innermost that has an item or vars; undefined when there is none. */
export function bodyAround({ steps }: Values, scope: string, has?: 'item' | 'vars'): Around | undefined {
  for (let at = scope; at !== ''; at = scopeOfPath(ownerOfScope(at))) {
    const owner = steps.get(ownerOfScope(at));
    const had = owner?.body?.kind === 'loop' ? 'vars' : 'item';
    if (owner?.body && (has === undefined || had === has)) return { owner, index: indexOfScope(at) };
  }
  return undefined;
}

/** The item of the innermost body around a scope that has items. */
export function itemOf(values: Values, scope: string): Value | undefined {
  const around = bodyAround(values, scope, 'item');
  if (!around?.owner.body) return undefined;
  const { body, path } = around.owner;
  const source = valueOf(values, body.source, path);
  if (body.kind === 'slate') return source;
  return itemAt(body.kind === 'select' ? recipientsIn(source) : source, around.index);
}

/** What the innermost loop around a scope carries. */
export function varsOf(values: Values, scope: string): Value | undefined {
  const around = bodyAround(values, scope, 'vars');
  return around?.owner.body ? valueOf(values, around.owner.body.source, around.owner.path) : undefined;
}

/**
 * The value a source names.
 *
 * @param path of the step that receives it: says whose item is meant
 * @throws DuctorError internal when there is no such value: sources are recorded after the values they name
 */
export function valueOf(values: Values, source: ValueSource, path: string): Value {
  switch (source.kind) {
    case 'value':
      return source.value;
    case 'runInput':
      return values.input;
    case 'item':
      return itemOf(values, scopeOfPath(path)) ?? impossible('value-item', `step ${path} has no item`);
    case 'vars':
      return varsOf(values, scopeOfPath(path)) ?? impossible('value-vars', `step ${path} has no vars`);
    case 'stepOutput':
      return values.steps.get(source.path)?.output ?? impossible('value-source', `step ${source.path} has no output`);
  }
}

/**
 * Whether a source is cut out of a value beyond so many bytes: an item of a list.
 *
 * @param path of the step that receives it
 */
export function isCutOfLarge(values: Values, source: ValueSource, path: string, bytes: number): boolean {
  if (source.kind !== 'item' && source.kind !== 'vars') return false;
  const around = bodyAround(values, scopeOfPath(path), source.kind);
  if (!around?.owner.body) return false;
  const { body, path: owner } = around.owner;
  const isCut = source.kind === 'item' && valueOf(values, body.source, owner).data.byteLength > bytes;
  return isCut || isCutOfLarge(values, body.source, owner, bytes);
}
