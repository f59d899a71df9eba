/**
 * Hints as payloads of NOTIFY. A payload must be shorter than 8,000 bytes, so a batch of hints is one text cut into
 * pieces that are sent in one transaction: all of them arrive, in order, or none.
 *
 * A piece: origin:number:index:count:text, where origin is the sender's session and number counts its batches.
 */

/** A hint. */
export type Hint = readonly [topic: string, body: string];

/** Longest text of a piece; what stands before it is far shorter than the rest of 8,000 bytes. */
const PIECE = 7_800;

/** Everything outside ASCII escaped: a character is a byte, and may be cut anywhere. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Packs a batch of hints. */
export function packHints(origin: number, batch: number, hints: readonly Hint[]): readonly string[] {
  const text = asciiJson(hints);
  const count = Math.ceil(text.length / PIECE);
  return Array.from(
    { length: count },
    (_, index) => `${origin}:${batch}:${index}:${count}:${text.slice(index * PIECE, (index + 1) * PIECE)}`,
  );
}

/** Puts pieces together again. */
export interface Unpacker {
  /** Takes a piece. Returns the batch when it was the last one; undefined for the others, and for what is not ours. */
  take(payload: string): { readonly origin: number; readonly hints: readonly Hint[] } | undefined;
}

/** Whether the value is a list of hints. */
function isHints(value: unknown): value is readonly Hint[] {
  return (
    Array.isArray(value) &&
    value.every(
      (hint: unknown) =>
        Array.isArray(hint) && hint.length === 2 && typeof hint[0] === 'string' && typeof hint[1] === 'string',
    )
  );
}

/** The hints in a text; none when it is not ours. */
export function parseHints(text: string): readonly Hint[] {
  try {
    const value: unknown = JSON.parse(text);
    return isHints(value) ? value : [];
  } catch {
    return [];
  }
}

/** An unpacker for one session of listening. */
export function newUnpacker(): Unpacker {
  const begun = new Map<number, { readonly batch: number; text: string; pieces: number }>();
  return {
    take(payload) {
      const match = /^(\d+):(\d+):(\d+):(\d+):([\x20-\x7e]*)$/.exec(payload);
      if (match === null) return undefined;
      const [origin = 0, batch = 0, index = 0, count = 0] = match.slice(1, 5).map(Number);
      const text = match[5] ?? '';
      const before = begun.get(origin);
      begun.delete(origin);
      const isNext = index === 0 || (before?.batch === batch && before.pieces === index);
      if (!isNext) return undefined;
      const whole = index === 0 ? text : `${before?.text ?? ''}${text}`;
      if (index + 1 < count) {
        begun.set(origin, { batch, text: whole, pieces: index + 1 });
        return undefined;
      }
      return { origin, hints: parseHints(whole) };
    },
  };
}
