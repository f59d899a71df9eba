/** base64. */
import { spend, spendOnText } from '../evaluating/frame.js';
import { CelFailure } from '../values/failure.js';
import { define, mismatch, textOf } from './define.js';

/** Steps of a call, whatever the length: about 0.5 us. */
const CALL_STEPS = 10;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Bytes as base64, padded. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** base64.encode(), base64.decode(). */
export const encodingFunctions = [
  define(['base64.encode(bytes) -> string'], (frame, [value]) => {
    if (!(value instanceof Uint8Array)) throw mismatch('bytes');
    spend(frame, CALL_STEPS);
    spendOnText(frame, value.length);
    return toBase64(value);
  }),
  define(['base64.decode(string) -> bytes'], (frame, [value]) => {
    const text = textOf(value);
    spend(frame, CALL_STEPS);
    spendOnText(frame, text.length);
    const isWhole = text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
    if (!isWhole || !BASE64.test(text)) throw new CelFailure('a text is not base64');
    return new Uint8Array(Buffer.from(text, 'base64'));
  }),
];
