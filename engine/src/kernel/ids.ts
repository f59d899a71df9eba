/** Ids as an argument. Run ids are UUIDs of version 7 whose last byte is the run's shard (docs/decisions/0002). */
import { DuctorError } from './errors/ductor-error.js';
import type { Random } from './random.js';

/** Number of shards that runs hash to; fixed for the life of a database. */
export const SHARD_COUNT = 256;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether the text is a UUID in lower case with hyphens. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Shard of a run id: its last byte. Throws invalid_argument when the id is not a UUID. */
export function shardOf(runId: string): number {
  if (!isUuid(runId)) throw new DuctorError('invalid_argument', `run id ${JSON.stringify(runId)} is not a UUID`);
  return Number.parseInt(runId.slice(34), 16);
}

/**
 * A UUID of version 7 (RFC 9562): 48 bits of milliseconds, then random bits.
 *
 * @param nowUs time the id begins with, microseconds since 1970
 * @param random source of the other bits
 * @param shard when given, the last byte: 0 to 255
 */
export function uuidV7(nowUs: number, random: Random, shard?: number): string {
  const bytes = random.bytes(16);
  const ms = Math.floor(nowUs / 1000);
  const hi = Math.floor(ms / 0x1_0000_0000);
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  view.setUint16(0, hi);
  view.setUint32(2, ms >>> 0);
  view.setUint8(6, 0x70 | (view.getUint8(6) & 0x0f));
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  if (shard !== undefined) view.setUint8(15, shard);
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
