/**
 * Time that counts only while it is open: how much of it lies between two instants, and when so much has passed.
 *
 * Local time is a straight line between changes of the zone's offset. So a stretch of time is cut where the offset
 * changes (found by halving, to the second), and within each part windows are intervals of local minutes: minutes of a
 * gap do not exist, those of an overlap count twice, as isOpen says of every instant.
 */
import { windowsOf, type Opening } from './opening.js';
import { localTime } from './zone-offset.js';

const US_PER_SECOND = 1_000_000;
const US_PER_MINUTE = 60 * US_PER_SECOND;
const MINUTES_PER_DAY = 1440;
/** No zone changes its offset twice within so long. */
const STEP_US = 12 * 60 * US_PER_MINUTE;
/** How far ahead an end is looked for: three years. */
const HORIZON_US = 3 * 366 * MINUTES_PER_DAY * US_PER_MINUTE;

/** Time from one instant to another, half open, microseconds since 1970. */
export interface Interval {
  readonly fromUs: number;
  readonly toUs: number;
}

/** Seconds by which local time is ahead of UTC. */
function offsetAt(zone: string, us: number): number {
  const seconds = Math.floor(us / US_PER_SECOND);
  const { day, minute, second } = localTime(zone, us);
  return day * 86_400 + minute * 60 + second - seconds;
}

/** The first second of an interval at which the offset is another one than at its start. */
function changeIn(zone: string, { fromUs, toUs }: Interval, offset: number): number {
  let [same, other] = [Math.floor(fromUs / US_PER_SECOND), Math.ceil(toUs / US_PER_SECOND)];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(zone, middle * US_PER_SECOND) === offset) same = middle;
    else other = middle;
  }
  return other * US_PER_SECOND;
}

/** Parts of a short interval, with the offset of each in seconds. */
function parts(zone: string, whole: Interval): readonly (Interval & { readonly offset: number })[] {
  const offset = offsetAt(zone, whole.fromUs);
  const last = offsetAt(zone, whole.toUs - 1);
  if (offset === last) return [{ ...whole, offset }];
  const changeUs = changeIn(zone, whole, offset);
  return [
    { fromUs: whole.fromUs, toUs: changeUs, offset },
    { fromUs: changeUs, toUs: whole.toUs, offset: last },
  ];
}

/** Intervals in their order, those that touch made one. */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const found: Interval[] = [];
  for (const each of intervals.toSorted((a, b) => a.fromUs - b.fromUs)) {
    const last = found.at(-1);
    if (last === undefined || last.toUs < each.fromUs) found.push(each);
    else found.splice(-1, 1, { fromUs: last.fromUs, toUs: Math.max(last.toUs, each.toUs) });
  }
  return found;
}

/** When it is open within an interval of one offset. */
function openWithin(
  opening: Opening,
  { fromUs, toUs, offset }: Interval & { readonly offset: number },
): readonly Interval[] {
  const offsetUs = offset * US_PER_SECOND;
  const dayOf = (us: number): number => Math.floor((us + offsetUs) / (MINUTES_PER_DAY * US_PER_MINUTE));
  const open: Interval[] = [];
  // Windows of the day before may reach into this one.
  for (let day = dayOf(fromUs) - 1; day <= dayOf(toUs - 1); day += 1) {
    for (const window of windowsOf(opening, day)) {
      const at = (minute: number): number => (day * MINUTES_PER_DAY + minute) * US_PER_MINUTE - offsetUs;
      const [start, end] = [Math.max(fromUs, at(window.open)), Math.min(toUs, at(window.close))];
      if (start < end) open.push({ fromUs: start, toUs: end });
    }
  }
  return joined(open);
}

/** When it is open from one instant to another; the intervals come in their order and do not overlap. */
export function* openIntervals(opening: Opening, { fromUs, toUs }: Interval): Generator<Interval> {
  for (let us = fromUs; us < toUs;) {
    // Outside its effective time a schedule closes nothing.
    const isEffective = us >= opening.fromUs && us < opening.toUs;
    const edge = [opening.fromUs, opening.toUs].filter((each) => each > us);
    const end = Math.min(toUs, isEffective ? us + STEP_US : toUs, ...edge);
    if (!isEffective) yield { fromUs: us, toUs: end };
    else for (const part of parts(opening.zone, { fromUs: us, toUs: end })) yield* openWithin(opening, part);
    us = end;
  }
}

/**
 * How long it is open from one instant to another, microseconds. Undefined is always open.
 *
 * @param fromUs included
 * @param toUs excluded; before fromUs it is 0
 */
export function openUsBetween(opening: Opening | undefined, fromUs: number, toUs: number): number {
  if (toUs <= fromUs) return 0;
  if (opening === undefined) return toUs - fromUs;
  let sum = 0;
  for (const each of openIntervals(opening, { fromUs, toUs })) sum += each.toUs - each.fromUs;
  return sum;
}

/**
 * The first instant at which it has been open for so long since another one; undefined when that does not come within
 * three years.
 *
 * @param openUs microseconds, 0 or more; 0 is fromUs itself
 */
export function afterOpenUs(opening: Opening | undefined, fromUs: number, openUs: number): number | undefined {
  if (opening === undefined || openUs <= 0) return fromUs + openUs;
  let left = openUs;
  for (const each of openIntervals(opening, { fromUs, toUs: fromUs + openUs + HORIZON_US })) {
    const length = each.toUs - each.fromUs;
    if (left <= length) return each.fromUs + left;
    left -= length;
  }
  return undefined;
}
