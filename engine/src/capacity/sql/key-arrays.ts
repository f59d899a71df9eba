/** Arrays of names and texts as parameters. */
import { uuidArray } from '../../store/index.js';
import type { SemaphoreKey } from '../semaphore/usage.js';

/** Texts as the literal of an array. */
export function texts(items: readonly string[]): string {
  const quoted = items.map((item) => `"${item.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return `{${quoted.join(',')}}`;
}

/** Tenants and keys. */
export function keyArrays(keys: readonly SemaphoreKey[]): readonly [tenants: string, keys: string] {
  return [uuidArray(keys.map(({ tenantId }) => tenantId)), texts(keys.map(({ key }) => key))];
}
