/** Who makes a call, as its key says. */
import type { Scope } from './permissions.js';

/** The one a call is made for. Nothing else in a request names a tenant. */
export interface Principal {
  readonly tenantId: string;
  /** Id of the key: what logs and journals may show. */
  readonly principalId: string;
  readonly scopes: ReadonlySet<Scope>;
}
