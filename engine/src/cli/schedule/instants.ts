/** Instants as options say them. */
import type { Timestamp } from '../../gen/google/protobuf/timestamp.js';
import { DuctorError, parseTimestampUs } from '../../kernel/index.js';

/** An instant of RFC 3339. Throws invalid_argument naming the option. */
export function instant(option: string, text: string): Timestamp {
  const us = parseTimestampUs(text);
  if (us === undefined) {
    throw new DuctorError('invalid_argument', `${option} ${text} is no instant`, {
      remedy: 'Write it with its zone: 2026-03-01T09:00:00Z or 2026-03-01T09:00:00+01:00.',
    });
  }
  const seconds = Math.floor(us / 1_000_000);
  return { seconds: BigInt(seconds), nanos: (us - seconds * 1_000_000) * 1_000 };
}
