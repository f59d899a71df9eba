/** Hashes that order recipients: short ones of ids under a seed, long ones of keys. */
import { sha256Hex } from '../../kernel/index.js';
import type { Seed } from './stream.js';

/** 128 bits that stand for a text. */
export type Words = readonly [number, number, number, number];

/** The words of an id, made once for each recipient of a pool's view. */
export function wordsOf(id: string): Words {
  const digest = Buffer.from(sha256Hex(id), 'hex');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4), digest.readUInt32LE(8), digest.readUInt32LE(12)];
}

/** The finishing steps of MurmurHash3: every bit of the input reaches every bit of the output. */
function mix(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The place of an id under a seed, 0 to 2^53 - 1: another order for each decision, the same one on each replay. */
export function hashRank(seed: Seed, words: Words): number {
  const high = mix(mix(seed[0] ^ words[0]) ^ mix(seed[1] + words[1]));
  const low = mix(mix(seed[2] ^ words[2] ^ high) ^ mix(seed[3] + words[3]));
  return (high >>> 5) * 0x400_0000 + (low >>> 6);
}

/** The first 64 bits of SHA-256 over texts with a zero byte between them; never 0. */
export function hash64(...parts: readonly string[]): bigint {
  const value = BigInt(`0x${sha256Hex(parts.join('\0')).slice(0, 16)}`);
  return value === 0n ? 1n : value;
}
