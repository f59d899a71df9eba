/** How long runs are kept after their end, as a request says it. */
import { formatDurationMs, parseDurationMs } from '../../../kernel/index.js';
import { RETENTION_MS } from '../ports.js';
import type { FieldChecks } from './field-checks.js';

/** Notes what is wrong with a retention; an empty one says nothing. */
export function checkRetention(checks: FieldChecks, text: string): void {
  if (text === '') return;
  const ms = parseDurationMs(text);
  const { min, max } = RETENTION_MS;
  const remedy = `send a duration from "${formatDurationMs(min)}" to "${formatDurationMs(max)}", such as "30d"`;
  if (ms === undefined) checks.note('retention', text, 'is no duration', remedy);
  else if (ms < min || ms > max) checks.note('retention', text, 'is too short or too long', remedy);
}
