/** Checks keys with limits, of a step or of a definition. */
import { DEFINITION_LIMITS } from '../limits.js';
import { checkDuration } from './check-retry.js';
import { checkExpression, type ExpressionChecks } from './expressions.js';
import { childPath } from './problems.js';
import { field, optionalList, optionalNumber, readObject, refuseUnknown, requireField, requireSaid } from './shape.js';
import type { ObjectReader } from './shape.js';
import type { Json } from '../definition.js';

/** The key and the limit of one; both must be there. */
function checkLimited(checks: ExpressionChecks, reader: ObjectReader, fields: readonly string[]): void {
  refuseUnknown(reader, fields, 'it');
  const key = requireSaid(reader, 'key', '"input.customer"');
  if (key !== undefined) checkExpression(checks, childPath(reader.path, 'key'), key, 'step');
  if (requireField(reader, 'limit', '10') === undefined) return;
  optionalNumber(reader, 'limit', { min: 1, max: DEFINITION_LIMITS.semaphoreLimit, isWhole: true });
}

function checkConcurrency(checks: ExpressionChecks, owner: ObjectReader): void {
  const list: readonly Json[] = optionalList(owner, 'concurrency') ?? [];
  const path = childPath(owner.path, 'concurrency');
  if (list.length > DEFINITION_LIMITS.concurrencyKeys) {
    const problem = `has more than ${DEFINITION_LIMITS.concurrencyKeys} keys`;
    owner.problems.add(path, list.length, problem, 'Name fewer keys.');
  }
  for (const [index, value] of list.entries()) {
    const reader = readObject(owner.problems, childPath(path, index), value);
    if (reader !== undefined) checkLimited(checks, reader, ['key', 'limit']);
  }
}

/** Checks `concurrency` and `rate_limit`. */
export function checkSemaphores(checks: ExpressionChecks, owner: ObjectReader): void {
  checkConcurrency(checks, owner);
  const value = field(owner.object, 'rate_limit');
  if (value === undefined) return;
  const reader = readObject(owner.problems, childPath(owner.path, 'rate_limit'), value);
  if (reader === undefined) return;
  checkLimited(checks, reader, ['key', 'per', 'limit']);
  if (requireSaid(reader, 'per', '"1m"') !== undefined) checkDuration(reader, 'per', 1, DEFINITION_LIMITS.intervalMs);
}
