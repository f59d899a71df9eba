/** Paths into values: what expressions read is kept by path, and nothing else is. */
import type { CelExpression } from '../../expressions/index.js';

/** Names from the outside in. */
export type Path = readonly string[];

function startsWith(path: Path, prefix: Path): boolean {
  return prefix.length <= path.length && prefix.every((part, index) => path[index] === part);
}

/** The paths below a name that expressions read, and some more: sorted, each once, none within another. */
export function pathsBelow(
  name: string,
  expressions: readonly CelExpression[],
  more: readonly Path[] = [],
): readonly Path[] {
  const found = expressions.flatMap(({ references }) =>
    references.filter(([first]) => first === name).map((reference) => reference.slice(1)),
  );
  const unique = new Map([...found, ...more].map((path) => [JSON.stringify(path), path]));
  const paths = [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path);
  return paths.filter((path) => !paths.some((other) => other !== path && startsWith(path, other)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at a path; undefined when nothing does, or when the way leads through something that has no names. */
export function valueAt(value: unknown, path: Path): unknown {
  let found = value;
  for (const part of path) {
    if (!isObject(found) || !Object.hasOwn(found, part)) return undefined;
    found = found[part];
  }
  return found;
}

/** The value with another one at a path; objects on the way are copied or made. */
export function withValueAt(value: unknown, path: Path, inner: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return inner;
  const fields = new Map<string, unknown>(isObject(value) ? Object.entries(value) : []);
  fields.set(first, withValueAt(fields.get(first), rest, inner));
  return Object.fromEntries(fields);
}

/** As much of a value as the paths lead to. A way that ends early keeps what it ends at, since that is what is met. */
export function projectionOf(value: unknown, paths: readonly Path[]): unknown {
  let projected: unknown = {};
  for (const path of paths) {
    for (let length = path.length; length >= 0; length -= 1) {
      const way = path.slice(0, length);
      const found = valueAt(value, way);
      if (found === undefined) continue;
      const projectedThere = valueAt(projected, way);
      // Above the end only what is no object is met as a value; an object without the name is met as "no such name".
      const kept = length === path.length || !isObject(found) ? found : (projectedThere ?? {});
      // Several expressions often read the same: what is there already is not copied once more.
      if (projectedThere !== kept) projected = withValueAt(projected, way, kept);
      break;
    }
  }
  return projected;
}
