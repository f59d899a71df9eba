/** Which pools may have work in their queues. */
import type { PoolView } from '../pipeline/view.js';
import type { CompiledRule } from '../rules/rule.js';

/** Those of the pools that decisions may queue work in: by a fallback, or by a rule that holds it there. */
export function queuesIn(views: readonly PoolView[], rules: readonly CompiledRule[]): readonly string[] {
  const holding = new Set(rules.flatMap(({ fields }) => (fields.action === 'hold' ? [fields.pool_id] : [])));
  return views
    .filter(({ id, settings }) => holding.has(id) || settings.fallbacks.some(({ kind }) => kind === 'queue'))
    .map(({ id }) => id);
}
