/** How a new key is shown: the key alone on the standard output, so that a script can take it; the rest beside it. */
import type { NewApiKey } from '../../gen/ductor/v1/tenancy.js';
import type { Terminal } from '../output/terminal.js';
import { momentText, usOf } from '../output/times.js';

/** What is told of a key. */
interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Microseconds since 1970; null: never. */
  readonly expiresAtUs: number | null;
}

/** Prints a key, once. */
export function printKey(terminal: Terminal, { id, name, scopes, expiresAtUs }: ShownKey, secret: string): void {
  const end = expiresAtUs === null ? 'until it is revoked' : `until ${momentText(expiresAtUs)}`;
  terminal.err(`key ${name} (${id}) may ${scopes.join(', ')}, ${end}\n`);
  terminal.err('Keep it now: it is shown this once and stored nowhere.\n');
  terminal.out(`${secret}\n`);
}

/** Prints the key of an answer. */
export function showNewKey(terminal: Terminal, data: NewApiKey | undefined): void {
  const { key, secret = '' } = data ?? {};
  const { id = '', name = '', scopes = [], expiresAt } = key ?? {};
  printKey(terminal, { id, name, scopes, expiresAtUs: usOf(expiresAt) }, secret);
}
