/** Short names of texts. */
import { sha256Hex } from '../../kernel/index.js';

/** The first 16 bytes of SHA-256, as 22 characters of base64url: names documents within a tenant. */
export function digestText(text: string): string {
  return Buffer.from(sha256Hex(text).slice(0, 32), 'hex').toString('base64url');
}
