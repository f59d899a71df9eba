/**
 * The text of an API key: `dk_`, 256 random bits in base62 (43 characters), 6 characters of checksum. The checksum, a
 * CRC-32 in base62 as GitHub's tokens carry one, lets a typing error or a guess be refused without a look at the
 * database, and lets scanners of public code recognise a key that leaked. It protects nothing: the 256 bits do.
 */
import type { Random } from '../kernel/index.js';

const PREFIX = 'dk_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
/** Fewest base62 digits that hold 256 bits. */
const SECRET_DIGITS = 43;
/** Fewest base62 digits that hold 32 bits. */
const CHECKSUM_DIGITS = 6;
const SHAPE = /^dk_[0-9A-Za-z]{49}$/;

/** CRC-32 of IEEE 802.3, one entry a byte. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  return crc;
});

/** CRC-32 of ASCII text as an unsigned number. */
function crc32(text: string): number {
  let crc = 0xffff_ffff;
  for (let at = 0; at < text.length; at += 1) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(at)) & 0xff] ?? 0);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

/** A number in base62, with leading zeros. */
function base62(value: bigint, digits: number): string {
  let rest = value;
  let text = '';
  for (let digit = 0; digit < digits; digit += 1) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

/** A new key. Whoever holds it is its principal: show it once and keep nothing but its hash. */
export function newApiKey(random: Random): string {
  const secret = BigInt(`0x${Buffer.from(random.bytes(SECRET_BYTES)).toString('hex')}`);
  const body = PREFIX + base62(secret, SECRET_DIGITS);
  return body + base62(BigInt(crc32(body)), CHECKSUM_DIGITS);
}

/** Whether the text has the shape of a key and its checksum fits. Says nothing about whether the key exists. */
export function isWellFormedKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_DIGITS);
  return base62(BigInt(crc32(body)), CHECKSUM_DIGITS) === text.slice(-CHECKSUM_DIGITS);
}
