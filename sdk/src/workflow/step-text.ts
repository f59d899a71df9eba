/** How definitions name what a step puts out, and when it begins. */
import type { JoinJson } from './definition-json.js';
import type { Placement } from './step-options.js';

/** `steps.score.output`, with brackets where the name needs them. */
export function stepText(name: string, what: 'output' | 'error'): string {
  const plain = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  return plain ? `steps.${name}.${what}` : `steps[${JSON.stringify(name)}].${what}`;
}

/** The first of these that is there, the last one in any case. */
export function firstText(texts: readonly string[]): string {
  const last = texts.at(-1) ?? '';
  return texts.slice(0, -1).reduceRight((rest, text) => `(has(${text}) ? ${text} : ${rest})`, last);
}

/** When a step begins, as a definition says it; undefined: once all its edges are resolved. */
export function joinJson({ join, cancelLosers }: Placement): JoinJson | undefined {
  if (join === undefined || join === 'all') return undefined;
  const mode = join === 'any' ? { mode: 'any' as const } : { mode: 'n_of' as const, count: join.nOf };
  return { ...mode, ...(cancelLosers === true && { cancel_losers: true }) };
}
