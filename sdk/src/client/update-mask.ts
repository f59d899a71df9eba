/** Partial updates: the fields that change are named by a mask, so that all others stay as they are. */

/** Fields of which each may be null, which clears it; undefined, or not there: it stays. */
export type Change<T> = T extends readonly unknown[]
  ? T
  : T extends Date
    ? T
    : T extends object
      ? { readonly [K in keyof T]?: Change<T[K]> | null | undefined }
      : T;

/** What is sent of a change. */
export interface Masked<Sent> {
  /** The change without what is cleared. */
  readonly sent: Sent;
  /** Names of the contract with dots between them; keys of maps that are no names stand in backquotes. */
  readonly updateMask: string[];
}

/** Fields whose values are replaced as a whole, whatever they hold. */
const WHOLE: ReadonlySet<string> = new Set([
  ...['fallback', 'strategyParams', 'recipe', 'strategyTree', 'tieBreak', 'shadow'],
]);
/** Fields with keys of the user's own: each key is replaced by itself. */
const MAPS: ReadonlySet<string> = new Set(['metadata', 'attributes', 'unitCosts']);
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/;

function contractName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? key : `\`${key.replaceAll('`', '``')}\``;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function collect(change: Readonly<Record<string, unknown>>, prefix: string, isMap: boolean, mask: string[]) {
  const sent: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue;
    const path = `${prefix}${isMap ? keyText(key) : contractName(key)}`;
    const isOpen = !isMap && !WHOLE.has(key) && isFields(value) && Object.keys(value).length > 0;
    if (isOpen) sent[key] = collect(value, `${path}.`, MAPS.has(key), mask);
    else {
      mask.push(path);
      if (value !== null) sent[key] = value;
    }
  }
  return sent;
}

/** The mask of a change, and what is sent with it: the fields that are left are those of what is changed. */
export function masked<Sent extends object>(change: Change<Sent>): Masked<Sent> {
  const updateMask: string[] = [];
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(change));
  return { sent: collect(fields, '', false, updateMask) as Sent, updateMask };
}
