import { describe, expect, it } from 'vitest';
import { boundStatement, FrontendMessages } from './frontend-messages.js';

/** A message of this type and body; without type, a first one. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const startup = message('', Buffer.from('\0\u0003\0\0user\0ductor\0\0'));
const bind = message('B', Buffer.from('portal\0commit_jo\0rest'));
const sync = message('S', Buffer.alloc(0));

describe('FrontendMessages', () => {
  it('finds the same messages however the bytes are cut', () => {
    const all = Buffer.concat([startup, bind, sync]);
    for (let size = 1; size <= all.length; size += 1) {
      const messages = new FrontendMessages();
      const found = [];
      for (let at = 0; at < all.length; at += size) found.push(...messages.push(all.subarray(at, at + size)));
      expect(found.map(({ type }) => type)).toEqual(['', 'B', 'S']);
      expect(Buffer.concat(found.map(({ bytes }) => bytes)).equals(all)).toBe(true);
    }
  });

  it('names the statement of a Bind', () => {
    const messages = new FrontendMessages();
    expect(messages.push(Buffer.concat([startup, bind, sync])).map(boundStatement)).toEqual([
      undefined,
      'commit_jo',
      undefined,
    ]);
  });
});
