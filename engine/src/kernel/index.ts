/** The kernel: time, randomness, ids, durations, errors. No domain. */
export { canonicalDigest, canonicalJson } from './canonical-json.js';
export { type Clock, type Timer } from './clock.js';
export { formatDurationMs, parseDurationMs } from './duration.js';
export { ERROR_CATALOGUE, RETIRED_CODES, type ErrorCode } from './errors/catalogue.js';
export { DuctorError, impossible, type DuctorErrorOptions, type Problem } from './errors/ductor-error.js';
export type { ErrorKind, GrpcStatusName } from './errors/error-kind.js';
export { SHARD_COUNT, isUuid, shardOf, uuidV7 } from './ids.js';
export { checkJson, fieldPath, MAX_JSON_DEPTH, MAX_JSON_KEYS, MAX_JSON_STRING_BYTES } from './json-limits.js';
export { jsonTextProblems } from './json-text.js';
export { type Random, seededRandom, unitInterval } from './random.js';
export { parseTimestampUs } from './rfc3339.js';
export { clusterSecret, equalBytes, hmacSha256, type ClusterSecret, type PurposeKeys } from './secret.js';
export { Secret } from './secret-value.js';
export { sha256Hex } from './sha256.js';
export { repeating, type Repeating } from './repeating.js';
export {
  backgroundTimer,
  learningClock,
  sleep,
  systemClock,
  type ClockParts,
  type SystemClock,
  type SystemClockOptions,
} from './system-clock.js';
export { systemRandom } from './system-random.js';
export { ENGINE_VERSION } from './engine-version.js';
export type { Writable } from './writable.js';
