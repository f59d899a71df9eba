/** Parts of timestamps and durations. With a time zone, parts of a timestamp are those of that zone. */
import { type Frame, spend } from '../evaluating/frame.js';
import { type Civil, civilFromSeconds, floorSeconds, nanosOf, toTimestampNs } from '../values/time.js';
import { CelDuration } from '../values/values.js';
import { offsetOf } from '../values/time-zone.js';
import { type CelFunction, define, textOf } from './define.js';

/** Steps of asking the runtime for the offset of a zone (10 us), and of breaking a timestamp into its parts. */
const ZONE_STEPS = 300;
const CIVIL_STEPS = 5;

function civilOf(frame: Frame, timestamp: unknown, zone: unknown): Civil {
  spend(frame, zone === undefined ? CIVIL_STEPS : ZONE_STEPS);
  const seconds = Number(floorSeconds(toTimestampNs(timestamp)));
  return civilFromSeconds(zone === undefined ? seconds : seconds + offsetOf(textOf(zone), seconds));
}

function ofTimestamp(name: string, read: (civil: Civil) => number): CelFunction {
  return define([`timestamp.${name}() -> int`, `timestamp.${name}(string) -> int`], (frame, [timestamp, zone]) =>
    BigInt(read(civilOf(frame, timestamp, zone))),
  );
}

/** A part that timestamps and durations have: of a duration the total, in whole units. */
function ofBoth(name: string, read: (civil: Civil) => number, nsPerUnit: bigint): CelFunction {
  return define(
    [`timestamp.${name}() -> int`, `timestamp.${name}(string) -> int`, `duration.${name}() -> int`],
    (frame, [value, zone]) =>
      value instanceof CelDuration ? value.ns / nsPerUnit : BigInt(read(civilOf(frame, value, zone))),
  );
}

/** getFullYear() and the like. */
export const timeFunctions: readonly CelFunction[] = [
  ofTimestamp('getFullYear', (civil) => civil.year),
  ofTimestamp('getMonth', (civil) => civil.month - 1),
  ofTimestamp('getDate', (civil) => civil.day),
  ofTimestamp('getDayOfMonth', (civil) => civil.day - 1),
  ofTimestamp('getDayOfWeek', (civil) => civil.weekday),
  ofTimestamp('getDayOfYear', (civil) => civil.dayOfYear),
  ofBoth('getHours', (civil) => civil.hour, 3_600_000_000_000n),
  ofBoth('getMinutes', (civil) => civil.minute, 60_000_000_000n),
  ofBoth('getSeconds', (civil) => civil.second, 1_000_000_000n),
  define(
    [
      'timestamp.getMilliseconds() -> int',
      'timestamp.getMilliseconds(string) -> int',
      'duration.getMilliseconds() -> int',
    ],
    (_frame, [value]) =>
      value instanceof CelDuration
        ? (value.ns / 1_000_000n) % 1_000n
        : BigInt(Math.floor(nanosOf(toTimestampNs(value)) / 1_000_000)),
  ),
];
