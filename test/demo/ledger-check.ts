/** Judges a ledger of effects: each expected effect once, each idempotency key once, nothing else. Pure. */
import { z } from 'zod';

/** A line of the ledger: what the outside world accepted. */
export const ledgerLine = z.object({ effect: z.string(), lead: z.string(), key: z.string() });

/** A line of the ledger: what the outside world accepted. */
export type LedgerLine = z.output<typeof ledgerLine>;

/** An effect that has to be there. */
export type Expected = Pick<LedgerLine, 'effect' | 'lead'>;

function counts(texts: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1);
  return found;
}

const named = ({ effect, lead }: Expected): string => `${effect} of ${lead}`;

/** Everything that is wrong with the ledger, one sentence each; empty when all is well. */
export function objections(lines: readonly LedgerLine[], expected: readonly Expected[]): readonly string[] {
  const wanted = new Set(expected.map(named));
  const effects = counts(lines.map(named));
  const found: string[] = [];
  for (const name of wanted) if (!effects.has(name)) found.push(`missing: ${name}`);
  for (const [name, times] of effects) {
    if (!wanted.has(name)) found.push(`unexpected: ${name}`);
    if (times > 1) found.push(`doubled: ${name} took effect ${times} times`);
  }
  for (const [key, times] of counts(lines.map((line) => line.key)))
    if (times > 1) found.push(`doubled: key ${key} took effect ${times} times`);
  return found;
}

/** The ledger with one effect twice, as it would be if a run had been given a second key. */
export function withDouble(lines: readonly LedgerLine[]): readonly LedgerLine[] {
  return [...lines, ...lines.slice(-1).map((line) => ({ ...line, key: `${line.key} again` }))];
}

/** The ledger with one key twice, as it would be if the outside world had not looked at keys. */
export function withRepeatedKey(lines: readonly LedgerLine[]): readonly LedgerLine[] {
  return [...lines, ...lines.slice(-1)];
}

/** The ledger without one effect. */
export function withoutOne(lines: readonly LedgerLine[]): readonly LedgerLine[] {
  const last = lines.at(-1);
  return lines.filter((line) => last === undefined || named(line) !== named(last));
}
