/** How much of a limit is in use, as a bar. */
import type { Tone } from '../output/paint.js';

/**
 * A bar of full and empty parts. What is in use shows at least one full part; what has no limit shows nothing.
 *
 * @param limit 0: no limit
 */
export function loadBar(used: number, limit: number, chars: number, isUnicode: boolean): string {
  if (limit === 0) return '';
  const share = Math.min(1, used / limit);
  const full = used === 0 ? 0 : Math.max(1, Math.floor(share * chars));
  const [on, off] = isUnicode ? ['█', '░'] : ['#', '.'];
  return on.repeat(full) + off.repeat(chars - full);
}

/** "3 of 5"; "3" where there is no limit. */
export function loadText(used: number, limit: number): string {
  return limit === 0 ? String(used) : `${used} of ${limit}`;
}

/** Bad when nothing is left, a warning from four fifths on. */
export function loadTone(used: number, limit: number): Tone {
  if (limit === 0 || used * 5 < limit * 4) return 'plain';
  return used >= limit ? 'bad' : 'warning';
}
