/** Says everything that is wrong with what a schedule is to be, by the names of the contract. */
import { DuctorError, formatDurationMs, type Problem } from '../kernel/index.js';
import type { ScheduleContent } from './schedule.js';
import { specProblems } from './slots/check-spec.js';

/** Bounds of schedules. */
export const SCHEDULE_LIMITS = {
  /** Of a tenant. */
  schedules: 10_000,
  slugChars: 128,
  titleChars: 256,
  /** Bytes of an input: each slot stores it again. */
  inputBytes: 256 * 1024,
  jitterMs: 86_400_000,
  catchUpWindowMs: 366 * 86_400_000,
  /** Slots of one backfill. */
  backfillSlots: 1_000,
} as const;

/** What a catch-up window is where nobody says: one day, ms. */
export const DEFAULT_CATCH_UP_WINDOW_MS = 86_400_000;

const SLUG = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** Whether a text can be the name of a schedule. */
export function isScheduleSlug(text: string): boolean {
  return text.length <= SCHEDULE_LIMITS.slugChars && SLUG.test(text);
}

function outOf(path: string, ms: number, maxMs: number): readonly Problem[] {
  if (Number.isInteger(ms) && ms >= 0 && ms <= maxMs) return [];
  const problem = `must be 0s to ${formatDurationMs(maxMs)}`;
  return [{ path, value: `${ms}ms`, problem, remedy: 'Stay within the bounds.' }];
}

function contentProblems(content: ScheduleContent, fromUs: number): readonly Problem[] {
  const { startsAtUs, endsAtUs, input, title } = content;
  const problems: Problem[] = [...specProblems(content.spec, Math.max(fromUs, (startsAtUs ?? 0) - 1))];
  if (title.length > SCHEDULE_LIMITS.titleChars) {
    const problem = `is longer than ${SCHEDULE_LIMITS.titleChars} characters`;
    problems.push({ path: 'title', value: title.slice(0, 200), problem, remedy: 'Shorten it.' });
  }
  if (startsAtUs !== null && endsAtUs !== null && endsAtUs < startsAtUs) {
    problems.push({ path: 'ends_at', value: '', problem: 'is before starts_at', remedy: 'Let it end later.' });
  }
  if (input.data.byteLength > SCHEDULE_LIMITS.inputBytes) {
    const problem = `has ${input.data.byteLength} bytes, at most ${SCHEDULE_LIMITS.inputBytes} are allowed`;
    problems.push({ path: 'input', value: '', problem, remedy: 'Store it elsewhere and pass a reference.' });
  }
  problems.push(...outOf('catch_up.window', content.catchUpWindowMs, SCHEDULE_LIMITS.catchUpWindowMs));
  problems.push(...outOf('jitter', content.jitterMs, SCHEDULE_LIMITS.jitterMs));
  return problems;
}

/** Throws invalid_argument with everything that is wrong. */
export function refuseProblems(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` and ${problems.length - 1} more problems` : '';
  throw new DuctorError('invalid_argument', `${first.path}: ${first.problem}${more}`, {
    details: problems,
    remedy: first.remedy,
  });
}

/**
 * Throws invalid_argument unless a schedule can be so.
 *
 * @param fromUs there must be a slot after this instant
 */
export function checkContent(content: ScheduleContent, fromUs: number): void {
  refuseProblems(contentProblems(content, fromUs));
}
