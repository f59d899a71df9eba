/** Collects everything that is wrong with a definition, each with path, value, problem and remedy. */
import type { Problem } from '../../../kernel/index.js';

const VALUE_CHARACTERS = 200;
/** Path of what concerns the whole definition. */
const WHOLE = 'definition';

/** Where problems go. */
export interface ProblemSink {
  /**
   * @param path where, `steps[3].args.duration`
   * @param value what was found there; undefined when nothing was
   */
  add(path: string, value: unknown, problem: string, remedy: string): void;
}

/** A sink and what it collected. */
export interface ProblemCollector extends ProblemSink {
  /** What was found so far, in order. */
  found(): readonly Problem[];
}

/** A found value as text of at most 200 characters; a text is not quoted. */
function shortValue(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? typeof value);
  return text.length <= VALUE_CHARACTERS ? text : `${text.slice(0, VALUE_CHARACTERS - 1)}…`;
}

/** Path of a field or item: `a.b`, `a[3]`, `a["not a name"]`. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/**
 * A collector that keeps the first problems and counts the rest.
 *
 * @param limit problems to keep; one more says how many were left out
 */
export function collectProblems(limit: number): ProblemCollector {
  const problems: Problem[] = [];
  let leftOut = 0;
  return {
    add(path, value, problem, remedy) {
      if (problems.length >= limit) leftOut += 1;
      else problems.push({ path: path === '' ? WHOLE : path, value: shortValue(value), problem, remedy });
    },
    found() {
      if (leftOut === 0) return problems;
      const rest = {
        path: WHOLE,
        value: '',
        problem: `has ${leftOut} more problems`,
        remedy: 'Mend the listed ones first.',
      };
      return [...problems, rest];
    },
  };
}
