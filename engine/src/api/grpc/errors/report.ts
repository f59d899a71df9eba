/**
 * What a caller may know of a failure. Faults of the engine and of its database may tell of addresses, statements and
 * other tenants: they go to the log with a tag, the caller gets the tag.
 */
import { DuctorError, ERROR_CATALOGUE, type ErrorCode, type Random } from '../../../kernel/index.js';
import type { Log } from '../../../telemetry/index.js';

/** Turns anything caught into what the caller of the method may see. */
export type Report = (caught: unknown, method: string) => DuctorError;

/** Codes whose message stays inside. */
const INSIDE: ReadonlySet<ErrorCode> = new Set(['internal', 'database_unavailable', 'database_version_unsupported']);
const TAG_BYTES = 6;

/** A report that writes to this log. */
export function reporter(log: Log, random: Random): Report {
  return (caught, method) => {
    const error = DuctorError.from(caught);
    if (!INSIDE.has(error.code)) return error;
    const tag = Buffer.from(random.bytes(TAG_BYTES)).toString('hex');
    log.error({ err: caught instanceof Error ? caught : error, method, tag }, 'a call failed');
    const { retryAfterMs } = error;
    const message = `${ERROR_CATALOGUE[error.code].meaning} [${tag}]`;
    return new DuctorError(error.code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
  };
}
