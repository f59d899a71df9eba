/** Keys with limits, as the machine takes them. */
import type { CelCompiler } from '../../../expressions/index.js';
import { parseDurationMs } from '../../../kernel/index.js';
import type { SemaphorePlan } from '../../machine/plan.js';
import type { StepDefinition } from '../definition.js';
import { compileKey } from './template.js';

/** What a step or run has to be granted; null: nothing. Throws expression_invalid, expression_too_costly. */
export function compileSemaphores(
  cel: CelCompiler,
  { concurrency = [], rate_limit: rate }: Pick<StepDefinition, 'concurrency' | 'rate_limit'>,
): SemaphorePlan | null {
  const keys = concurrency.flatMap(({ key, limit }, index) => {
    const compiled = compileKey(cel, key, `concurrency[${index}].key`);
    return compiled === null ? [] : [{ key: compiled, limit }];
  });
  const rateKey = rate === undefined ? null : compileKey(cel, rate.key, 'rate_limit.key');
  if (keys.length === 0 && rateKey === null) return null;
  const perUs = (parseDurationMs(rate?.per ?? '') ?? 1000) * 1000;
  return { concurrency: keys, rate: rateKey === null ? null : { key: rateKey, limit: rate?.limit ?? 1, perUs } };
}
