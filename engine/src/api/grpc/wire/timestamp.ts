import type { Timestamp } from '../../../gen/google/protobuf/timestamp.js';

/** Microseconds since 1970 as a Timestamp. */
export function timestampOf(us: number): Timestamp {
  const seconds = Math.floor(us / 1_000_000);
  return { seconds: BigInt(seconds), nanos: (us - seconds * 1_000_000) * 1_000 };
}

/** Microseconds since 1970 of a Timestamp, rounded down. */
export function usOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000_000 + Math.floor(nanos / 1_000);
}
