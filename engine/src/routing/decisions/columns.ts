/** Columns: one value per recipient, written as shortly as JSON allows, and read back as they were. */

type Scalar = number | string | boolean;

/** Left out: all are the default. One scalar: all are it. A list: one for each, null where there is none. */
export type Column = Scalar | readonly (Scalar | null)[];

/**
 * Writes a column: one value of each item. `byDefault` undefined stands for "not there".
 *
 * @param valueOf what is written of an item; asked once or twice for each
 */
export function columnOf<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => Scalar | undefined,
  byDefault?: Scalar,
): Column | undefined {
  const [head] = items;
  if (head === undefined) return undefined;
  const first = valueOf(head);
  // Nearly always all are the same, and then no list is made.
  const isSame = items.every((item) => valueOf(item) === first);
  if (isSame && first === byDefault) return undefined;
  return isSame && first !== undefined ? first : items.map((item) => valueOf(item) ?? null);
}

function scalarOf(value: unknown): Scalar | undefined {
  return typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean' ? value : undefined;
}

/** Reads a column of so many values. */
export function readColumn(written: unknown, count: number, byDefault?: Scalar): readonly (Scalar | undefined)[] {
  if (Array.isArray(written)) return Array.from({ length: count }, (_, index) => scalarOf(written[index]));
  const all = written === undefined ? byDefault : scalarOf(written);
  return new Array<Scalar | undefined>(count).fill(all);
}

/** Reads a column of numbers. */
export function readNumbers(written: unknown, count: number, byDefault?: number): readonly (number | undefined)[] {
  return readColumn(written, count, byDefault).map((value) => (typeof value === 'number' ? value : undefined));
}

/** Ids as 16 bytes each, in base64url. */
export function packIds(ids: readonly string[]): string {
  return Buffer.from(ids.map((id) => id.replaceAll('-', '')).join(''), 'hex').toString('base64url');
}

/** The ids that packIds wrote. */
export function unpackIds(packed: string): readonly string[] {
  const hex = Buffer.from(packed, 'base64url').toString('hex');
  return (hex.match(/.{32}/g) ?? []).map((id) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
}
