/** Calls that do something to items of claim queues. */
import type { ClaimItem, ClaimVerb } from '../../claims/index.js';
import type { DuctorError } from '../../kernel/index.js';
import type { Principal } from '../../tenancy/index.js';

/** Who does what to which item, for whom. */
export interface ClaimCall {
  readonly by: Principal;
  /** Full name, for the audit trail. */
  readonly method: string;
  readonly itemId: string;
  /** The recipient that claims, releases, completes or declines. */
  readonly recipientId: string;
  readonly verb: ClaimVerb;
  /** For the audit trail. */
  readonly reason: string;
}

/** What came of it: the item as it is then, or why nothing did. */
export type ClaimResult = ClaimItem | DuctorError;
