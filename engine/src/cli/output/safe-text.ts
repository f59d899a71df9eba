/** Texts of others on a terminal: what they hold must neither move the cursor nor hide anything. */

// C0 and C1 controls, and the marks that turn the direction of writing.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The characters of a text, each a column wide on most terminals. */
export function characters(text: string): string[] {
  return Array.from(text);
}

/** The text on one line, controls shown as U+FFFD; line breaks and tabs become spaces. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\t]+/g, ' ').replaceAll(UNSAFE, '\ufffd');
}

/** At most so many characters: the middle of a longer text is left out, because both ends of names tell them apart. */
export function shorten(text: string, maxChars: number, ellipsis = '…'): string {
  const chars = characters(text);
  if (chars.length <= maxChars) return text;
  const kept = Math.max(0, maxChars - ellipsis.length);
  const head = Math.ceil(kept / 2);
  return `${chars.slice(0, head).join('')}${ellipsis}${kept === head ? '' : chars.slice(head - kept).join('')}`;
}

/** At most so many characters, the end left out. */
export function cut(text: string, maxChars: number, ellipsis = '…'): string {
  const chars = characters(text);
  if (chars.length <= maxChars) return text;
  return `${chars.slice(0, Math.max(0, maxChars - ellipsis.length)).join('')}${ellipsis}`;
}
