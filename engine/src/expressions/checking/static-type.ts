/** What is known of a value before it is there. */
import type { CelType } from '../types.js';
import { describeKind } from '../values/values.js';

/** A CelType, or the type of a type (`type(x)`). */
export type StaticType = CelType | 'type';

/** The type of the elements of a list; undefined when it is no list. */
export function elementsOf(type: StaticType): CelType | undefined {
  return typeof type === 'object' && 'list' in type ? type.list : undefined;
}

/** The type of the values of a map or declared object; undefined when it is neither. */
export function valuesOf(type: StaticType): CelType | undefined {
  if (typeof type !== 'object') return undefined;
  if ('map' in type) return type.map;
  return 'object' in type ? 'dyn' : undefined;
}

/** Whether a type is one of the kinds of number. */
export function isNumeric(type: StaticType): boolean {
  return type === 'int' || type === 'uint' || type === 'double';
}

/** Whether two types are the same in all parts. */
export function sameType(a: StaticType, b: StaticType): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if ('list' in a) return 'list' in b && sameType(a.list, b.list);
  if ('map' in a) return 'map' in b && sameType(a.map, b.map);
  if (!('object' in b) || (a.open ?? false) !== (b.open ?? false)) return false;
  const names = Object.keys(a.object);
  if (names.length !== Object.keys(b.object).length) return false;
  return names.every((name) => sameType(fieldOf(a.object, name) ?? 'type', fieldOf(b.object, name) ?? 'type'));
}

/** The declared type of a field, undefined when it is not declared. */
export function fieldOf(fields: Readonly<Record<string, CelType>>, name: string): CelType | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/** Whether `a == b` can be true: the same kind, or two numbers, or null with anything, or one unknown. */
export function areComparable(a: StaticType, b: StaticType): boolean {
  if (a === 'dyn' || b === 'dyn' || a === 'null' || b === 'null') return true;
  if (isNumeric(a) && isNumeric(b)) return true;
  const [elementsA, elementsB] = [elementsOf(a), elementsOf(b)];
  if (elementsA !== undefined && elementsB !== undefined) return areComparable(elementsA, elementsB);
  const [valuesA, valuesB] = [valuesOf(a), valuesOf(b)];
  if (valuesA !== undefined && valuesB !== undefined) return areComparable(valuesA, valuesB);
  return a === b;
}

/** One type for two values that may stand in the same place; `dyn` when they have none in common. */
export function join(a: StaticType, b: StaticType): StaticType {
  if (sameType(a, b)) return a;
  const [elementsA, elementsB] = [elementsOf(a), elementsOf(b)];
  if (elementsA !== undefined && elementsB !== undefined) return { list: plain(join(elementsA, elementsB)) };
  const [valuesA, valuesB] = [valuesOf(a), valuesOf(b)];
  if (valuesA !== undefined && valuesB !== undefined) return { map: plain(join(valuesA, valuesB)) };
  return 'dyn';
}

/** The type as other rooms see it: a type's type is unknown to them. */
export function plain(type: StaticType): CelType {
  return type === 'type' ? 'dyn' : type;
}

/**
 * Whether a value of one type may be given where another is wanted. Numbers may, whatever their kind: JSON has one
 * kind, and the value itself is looked at when it is there.
 */
export function isAssignable(actual: StaticType, wanted: StaticType): boolean {
  if (actual === wanted || actual === 'dyn' || wanted === 'dyn') return true;
  if (isNumeric(actual) && isNumeric(wanted)) return true;
  if (typeof actual !== 'object' || typeof wanted !== 'object') return false;
  if ('list' in wanted) return 'list' in actual && isAssignable(actual.list, wanted.list);
  if ('map' in wanted) return isAssignableToMap(actual, wanted.map);
  if ('map' in actual) return Object.values(wanted.object).every((type) => isAssignable(actual.map, type));
  if (!('object' in actual)) return false;
  const { object, open } = actual;
  return Object.entries(wanted.object).every(([name, type]) => {
    const field = fieldOf(object, name);
    return field === undefined ? open === true : isAssignable(field, type);
  });
}

function isAssignableToMap(actual: Exclude<CelType, string>, values: CelType): boolean {
  if ('map' in actual) return isAssignable(actual.map, values);
  return 'object' in actual && Object.values(actual.object).every((type) => isAssignable(type, values));
}

/** The type in words an author knows. */
export function describe(type: StaticType): string {
  if (type === 'dyn') return 'a value of unknown type';
  if (typeof type === 'string') return describeKind(type);
  if ('list' in type) return type.list === 'dyn' ? 'a list' : `a list of ${describe(type.list).replace(/^an? /, '')}`;
  return 'map' in type ? 'a map' : 'an object';
}
