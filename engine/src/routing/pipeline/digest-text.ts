/** Short names of texts. */
import { createHash } from 'node:crypto';

/** The first 16 bytes of SHA-256, as 22 characters of base64url: names documents within a tenant. */
export function digestText(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');
}
