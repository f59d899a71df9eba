/** Who makes a call, as its key says. */
import type { Scope } from './permissions.js';

/** The one a call is made for. Nothing else in a request names a tenant. */
export interface Principal {
  readonly tenantId: string;
  /** Id of the key. */
  readonly principalId: string;
  /** Name of the key: with its id, what journals and the audit trail show. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

/** How texts name who did something: the name of the key, and its id in brackets. */
export function actorText({ name, principalId }: Pick<Principal, 'name' | 'principalId'>): string {
  return `${name} (${principalId})`;
}
