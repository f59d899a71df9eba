/** Reading variables, fields and elements. Only own keys of plain data can be read. */
import type { HasExpr, IndexExpr, SelectExpr } from '../syntax/expr.js';
import { readKey, readOwn } from '../values/compare.js';
import { CelFailure, located } from '../values/failure.js';
import { admit, CelMap, describeKind, isPlainObject, kindOf } from '../values/values.js';
import type { Evaluator } from './frame.js';

/** A variable of the scope. */
export function buildVariable(name: string, at: number): Evaluator {
  return (frame) => {
    const value = frame.scope[name];
    if (value === undefined) throw failAt(at, `"${name}" has no value here`, `Guard it, or pass ${name} in.`);
    return admitAt(value, at);
  };
}

/** A variable of a macro. What is in it was admitted where it came from, elements of lists excepted. */
export function buildLocal(slot: number): Evaluator {
  return (frame) => admit(frame.locals[slot]);
}

/** `operand.field` */
export function buildSelect(expr: SelectExpr, operand: Evaluator): Evaluator {
  const { field, at } = expr;
  return (frame) => {
    const value = readField(operand(frame), field, at);
    if (value === undefined) throw missing(field, at);
    return admitAt(value, at);
  };
}

/** `has(operand.field)` */
export function buildHas(expr: HasExpr, operand: Evaluator): Evaluator {
  const { field, at } = expr;
  return (frame) => readField(operand(frame), field, at) !== undefined;
}

/** `operand[key]` */
export function buildIndex(expr: IndexExpr, operand: Evaluator, key: Evaluator): Evaluator {
  const { at } = expr;
  const literal = expr.key.kind === 'literal' && typeof expr.key.value === 'string' ? expr.key.value : undefined;
  return (frame) => {
    const owner = operand(frame);
    const wanted = key(frame);
    if (Array.isArray(owner)) return admitAt(elementAt(owner, wanted, at), at);
    if (!isPlainObject(owner) && !(owner instanceof CelMap)) {
      throw failAt(at, `${nameOf(owner, at)} cannot be indexed`, 'Index a list with an int, a map with a key.');
    }
    const value = readKey(owner, wanted);
    if (value === undefined) throw missing(literal, at);
    return admitAt(value, at);
  };
}

function elementAt(list: readonly unknown[], index: unknown, at: number): unknown {
  const position = positionOf(index);
  if (position === undefined) throw failAt(at, 'a list is indexed by what is no whole number', 'Use an int, from 0.');
  if (position < 0 || position >= list.length) {
    throw failAt(at, 'an index is outside the list', 'Guard it: size(list) > 0 && list[0] == 1.');
  }
  return list[position];
}

function positionOf(index: unknown): number | undefined {
  if (typeof index === 'bigint') return Number(index);
  if (typeof index === 'number') return Number.isInteger(index) ? index : undefined;
  return typeof index === 'object' && index !== null && 'value' in index && typeof index.value === 'bigint'
    ? Number(index.value)
    : undefined;
}

function readField(owner: unknown, field: string, at: number): unknown {
  if (isPlainObject(owner)) return readOwn(owner, field);
  if (owner instanceof CelMap) return owner.get(field);
  throw failAt(
    at,
    `${nameOf(owner, at)} has no field "${field}"`,
    'Guard it with has(), or look at what is before the dot.',
  );
}

function nameOf(value: unknown, at: number): string {
  try {
    return describeKind(kindOf(value));
  } catch (caught) {
    throw located(caught, at);
  }
}

function admitAt(value: unknown, at: number): unknown {
  try {
    return admit(value);
  } catch (caught) {
    throw located(caught, at);
  }
}

function missing(field: string | undefined, at: number): CelFailure {
  const problem = field === undefined ? 'there is no such key' : `there is no "${field}"`;
  const guard = field === undefined ? 'Guard it: key in map && map[key] == 1.' : `Guard it: has(x.${field}).`;
  return failAt(at, problem, guard);
}

function failAt(at: number, problem: string, remedy: string): CelFailure {
  const failure = new CelFailure(problem, remedy);
  failure.at = at;
  return failure;
}
