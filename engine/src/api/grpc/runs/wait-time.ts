/** How long a call waits for what it asks for. */
import { formatDurationMs, parseDurationMs } from '../../../kernel/index.js';
import { FieldChecks } from '../checks/field-checks.js';

/** When the request does not say, ms. */
const DEFAULT_WAIT_MS = 30_000;
/** At most, ms: proxies cut calls that are silent for longer. */
const MAX_WAIT_MS = 60_000;

/** The field `wait` of a request in ms; default 30 s. Throws invalid_argument. */
export function waitMsOf(wait: string): number {
  if (wait === '') return DEFAULT_WAIT_MS;
  const ms = parseDurationMs(wait);
  if (ms !== undefined && ms >= 0 && ms <= MAX_WAIT_MS) return ms;
  const checks = new FieldChecks();
  checks.note('wait', wait, `is no duration up to ${formatDurationMs(MAX_WAIT_MS)}`, 'send one such as "10s"');
  checks.done();
  return DEFAULT_WAIT_MS;
}
