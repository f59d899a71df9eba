/** SHA-256 as hexadecimal text, for names and fingerprints. */
import { createHash } from 'node:crypto';

/** 64 lower-case hexadecimal digits; text is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
