/** What an audit row says. */
import type { Principal } from '../principal.js';
import type { ObjectKind } from './audited-methods.js';

/** Who does something by which method, and why. */
export interface Deed {
  /** Id of the key. */
  readonly actorId: string;
  /** Name of the key. */
  readonly actor: string;
  /** Full name of the method. */
  readonly method: string;
  /** What the caller says about why; may be empty. */
  readonly reason: string;
}

/** A row to add. Its time is the database's. */
export interface AuditEntry extends Deed {
  readonly tenantId: string;
  readonly objectKind: ObjectKind;
  readonly objectId: string;
  /** "ok", "existing", or the code of an error. */
  readonly outcome: string;
}

/** The deed of a caller. */
export function deedOf({ principalId, name }: Principal, method: string, reason = ''): Deed {
  return { actorId: principalId, actor: name, method, reason };
}
